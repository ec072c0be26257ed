use std::process::{Command, Stdio};

use ha_services::{Error, ErrorKind, Result};

use crate::arguments::Place;

/// Runs another workload of this program in a process of its own, on the cluster that this one has made. It prints
/// its lines itself.
pub(super) async fn run(
    workload: &str,
    place: &Place,
    cluster: &str,
    options: &[(&str, String)],
) -> Result<()> {
    let failed = |error: std::io::Error| {
        Error::new(ErrorKind::Internal, "the fresh process cannot be run").caused_by(error)
    };
    let program = std::env::current_exe().map_err(failed)?;
    let mut command = Command::new(program);
    command
        .arg(workload)
        .args(["--zk", &place.zk, "--cluster", cluster, "--dir"])
        .arg(&place.dir)
        .args(options.iter().flat_map(|(name, value)| [*name, value]))
        .stdin(Stdio::null());
    let status = tokio::task::spawn_blocking(move || command.status())
        .await
        .map_err(std::io::Error::other)
        .and_then(|status| status)
        .map_err(failed)?;
    match status.success() {
        true => Ok(()),
        false => Err(Error::new(
            ErrorKind::Internal,
            format!("the fresh process ended with {status}"),
        )),
    }
}
