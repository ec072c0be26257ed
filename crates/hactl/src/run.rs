use clap::CommandFactory as _;
use ha_cli::{
    ExitCode, OutputFormat, load_configuration, write_completions, write_json, write_man_pages, write_note,
    write_stdout,
};
use ha_core::configuration::{Configuration, HighAvailabilityOptions};
use ha_core::environment::Environment;
use ha_core::{Error, ErrorKind, Result};

use crate::arguments::Arguments;
use crate::cancel::cancel;
use crate::cluster::Cluster;
use crate::command::{Command, Reading};
use crate::commands::{Blobs, Checkpoints, Config, Jobs, Leaders, Results, Tree, watch};
use crate::doctor::Doctor;
use crate::moving::{Export, import};
use crate::render::View;
use crate::report::{Body, Report, pieces_of};
use crate::switchover::switch_over;
use crate::tool_options::ToolOptions;
use crate::writes::write as write_changes;

/// Runs one command and writes its answer to stdout.
///
/// # Errors
/// What keeps the whole answer away: the configuration is wrong, the cluster cannot be reached or is not there.
/// Single entries that cannot be read are part of the answer; the exit code is [`ExitCode::Findings`] then.
pub async fn run(command: &Command, options: &ToolOptions) -> Result<ExitCode> {
    let shared = &options.shared;
    match command {
        Command::Completions(completions) => {
            write_completions(Arguments::command(), *completions).map(|()| ExitCode::Success)
        }
        Command::Man(man) => write_man_pages(Arguments::command(), man).map(|()| ExitCode::Success),
        Command::Config => show_config(
            &load_configuration(shared)?,
            &Environment::system(),
            shared.output(),
        ),
        Command::Watch => {
            watch(
                &load_configuration(shared)?,
                options.reading(),
                shared.output(),
                &Environment::system(),
            )
            .await
        }
        Command::Write(command, write_options) => {
            let cluster = open(options).await?;
            let written = write_changes(command, &cluster, write_options).await;
            cluster.close().await;
            show_written(written?, options)
        }
        Command::Import(file, write_options) => {
            refuse_mappings(options)?;
            let configuration = load_configuration(shared)?;
            let environment = Environment::system();
            let cluster = Cluster::open_for_import(&configuration, options.reading(), &environment).await?;
            let written = import(&cluster, file, write_options).await;
            cluster.close().await;
            show_written(written?, options)
        }
        Command::Cancel(cancellation, write_options) => {
            let cluster = open(options).await?;
            let cancelled = cancel(&cluster, cancellation, write_options).await;
            cluster.close().await;
            show_written(cancelled?, options)
        }
        Command::Switchover(switchover, write_options) => {
            let cluster = open(options).await?;
            let moved = switch_over(&cluster, switchover, write_options).await;
            cluster.close().await;
            show_written(moved?, options)
        }
        Command::Read(reading) => {
            let configuration = load_configuration(shared)?;
            let environment = Environment::system();
            let cluster = Cluster::open_with(&configuration, options.reading(), &environment).await?;
            let answer = answer(reading, &cluster, &configuration, &environment, shared.output()).await;
            cluster.close().await;
            answer
        }
    }
}

/// Opens a cluster that is to be changed.
async fn open(options: &ToolOptions) -> Result<Cluster> {
    refuse_mappings(options)?;
    let configuration = load_configuration(&options.shared)?;
    Cluster::open_with(&configuration, options.reading(), &Environment::system()).await
}

/// What is changed is where the configuration says: a dry run on a copy would show other files.
fn refuse_mappings(options: &ToolOptions) -> Result<()> {
    match options.mappings.is_empty() {
        true => Ok(()),
        false => Err(Error::invalid(
            "--map-path is for commands that only read: no copy of the data is ever changed",
        )
        .advise("leave --map-path out, or set high-availability.storageDir to where the files lie")),
    }
}

/// Shows what was done, and what ended it early.
fn show_written<T: Body>(
    (report, ended): (Report<T>, Option<Error>),
    options: &ToolOptions,
) -> Result<ExitCode> {
    write(&report, &Environment::system(), options.shared.output())?;
    match ended {
        Some(error) => Err(error),
        None => Ok(ExitCode::Success),
    }
}

fn show_config(
    configuration: &Configuration,
    environment: &Environment,
    format: OutputFormat,
) -> Result<ExitCode> {
    let config = Config::of(configuration);
    match format {
        OutputFormat::Json => write_json(&config),
        OutputFormat::Table => write_stdout(&config.table(&View::of_stdout(environment))),
    }
    .map_err(unwritten)?;
    // What is wrong with it is said after it was shown.
    for warning in HighAvailabilityOptions::validate(configuration)? {
        tracing::warn!("{warning}");
    }
    Ok(ExitCode::Success)
}

async fn answer(
    reading: &Reading,
    cluster: &Cluster,
    configuration: &Configuration,
    environment: &Environment,
    format: OutputFormat,
) -> Result<ExitCode> {
    match reading {
        Reading::Leaders => show(Leaders::read(cluster).await?, environment, format),
        Reading::Jobs => show(Jobs::read(cluster).await?, environment, format),
        Reading::Checkpoints(job) => show(Checkpoints::read(cluster, *job).await?, environment, format),
        Reading::Results => show(Results::read(cluster).await?, environment, format),
        Reading::Blobs => show(Blobs::read(cluster).await?, environment, format),
        Reading::Tree => show(Tree::read(cluster).await?, environment, format),
        Reading::Export { file } => show(Export::write(cluster, file).await?, environment, format),
        Reading::Doctor { dirty_after } => {
            let examined = Doctor::examine(cluster, configuration, environment, *dirty_after);
            show(examined.await?, environment, format)
        }
    }
}

fn show<T: Body>(report: Report<T>, environment: &Environment, format: OutputFormat) -> Result<ExitCode> {
    write(&report, environment, format)?;
    if let Some(sentence) = report.body.emptiness() {
        write_note(&sentence);
    }
    Ok(if report.broken.is_empty() && report.body.is_healthy() {
        ExitCode::Success
    } else {
        ExitCode::Findings
    })
}

fn write<T: Body>(report: &Report<T>, environment: &Environment, format: OutputFormat) -> Result<()> {
    match format {
        OutputFormat::Json => write_json(report),
        OutputFormat::Table => {
            let view = View::of_stdout(environment);
            pieces_of(report, &view).try_for_each(|piece| write_stdout(&piece))
        }
    }
    .map_err(unwritten)
}

fn unwritten(error: std::io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, "the answer cannot be written")
        .at("stdout")
        .caused_by(error)
}
