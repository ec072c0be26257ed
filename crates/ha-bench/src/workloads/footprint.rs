use ha_cli::write_stdout;
use ha_services::{Error, ErrorKind, Result};
use tokio::io::AsyncReadExt as _;

use crate::arguments::FootprintOptions;
use crate::leader::Leader;

/// Says when it leads, and sits still until its standard input closes. Whoever started it measures.
pub(crate) async fn footprint(options: &FootprintOptions) -> Result<()> {
    let failed = |reason: &'static str| {
        move |error: std::io::Error| Error::new(ErrorKind::Internal, reason).caused_by(error)
    };
    let leader = Leader::lead(&options.place).await?;
    write_stdout("LEADER\n").map_err(failed("it cannot be said who leads"))?;
    let mut ignored = [0; 64];
    let mut stdin = tokio::io::stdin();
    while stdin
        .read(&mut ignored)
        .await
        .map_err(failed("standard input cannot be read"))?
        > 0
    {}
    leader.remove().await
}
