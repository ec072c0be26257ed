use ha_cli::{ExitCode, OutputFormat, SharedOptions, load_configuration, write_json, write_stdout};
use ha_core::environment::Environment;
use ha_core::{Error, ErrorKind, Result};

use super::report::{Body, Report, text_of};
use super::{Checkpoints, Jobs, Leaders, Results, Tree};
use crate::arguments::Command;
use crate::cluster::Cluster;

/// Runs one command and writes its answer to stdout.
///
/// # Errors
/// What keeps the whole answer away: the configuration is wrong, the cluster cannot be reached or is not there.
/// Single entries that cannot be read are part of the answer; the exit code is [`ExitCode::Findings`] then.
pub async fn run(command: &Command, shared: &SharedOptions) -> Result<ExitCode> {
    let configuration = load_configuration(shared)?;
    let cluster = Cluster::open(&configuration, &Environment::system()).await?;
    let answer = answer(command, &cluster, shared.output()).await;
    cluster.close().await;
    answer
}

async fn answer(command: &Command, cluster: &Cluster, format: OutputFormat) -> Result<ExitCode> {
    match command {
        Command::Leaders => show(Leaders::read(cluster).await?, format),
        Command::Jobs => show(Jobs::read(cluster).await?, format),
        Command::Checkpoints(job) => show(Checkpoints::read(cluster, *job).await?, format),
        Command::Results => show(Results::read(cluster).await?, format),
        Command::Tree => show(Tree::read(cluster).await?, format),
    }
}

fn show<T: Body>(report: Report<T>, format: OutputFormat) -> Result<ExitCode> {
    match format {
        OutputFormat::Json => write_json(&report),
        OutputFormat::Table => write_stdout(&text_of(&report)),
    }
    .map_err(|error| {
        Error::new(ErrorKind::Unavailable, "the answer cannot be written")
            .at("stdout")
            .caused_by(error)
    })?;
    Ok(if report.broken.is_empty() {
        ExitCode::Success
    } else {
        ExitCode::Findings
    })
}
