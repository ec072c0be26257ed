use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use ha_cli::{ExitCode, LogLevel, SharedOptions, init_logging_to, stop_on_signal};
use ha_services::configuration::{
    Configuration, HighAvailabilityMode, HighAvailabilityOptions, JobResultStoreOptions,
};
use ha_services::environment::Environment;
use ha_services::services::HighAvailabilityServices;
use ha_services::{Error, ErrorKind, ProcessDescription, Result, create_available_or_embedded_services_for};
use tokio_util::sync::CancellationToken;

use super::arguments::RunArguments;
use super::fatal_errors::FatalErrors;
use super::job_arguments::{OwnJob, own_jobs};
use super::own_jobs::run_own_jobs;
use super::progress::Progress;
use super::report::Report;
use super::rest_addresses::RestAddresses;
use super::settings::configuration;
use crate::process::{ClusterProcess, ProcessOptions};
use crate::rest::{ClusterClient, LeaderSource};

/// How long giving up leadership may take where the process did not start or must not go on.
const CLOSE_WAIT: Duration = Duration::from_secs(2);
/// How long the clean-up of the caller's jobs is waited for.
const CLEAN_UP_WAIT: Duration = Duration::from_secs(30);
/// How often it is looked at.
const CLEAN_UP_POLL: Duration = Duration::from_millis(20);

/// `ha-cluster run`. Everything is checked before anything is contacted or written.
///
/// # Errors
/// `Invalid`: wrong input; `Unavailable`: ZooKeeper cannot be reached.
pub(super) fn run(
    shared: &SharedOptions,
    arguments: &RunArguments,
    environment: Environment,
) -> Result<ExitCode> {
    let progress = Progress::new();
    init_logging_to(shared, LogLevel::Info, progress.log_writer());
    let configuration = configuration(shared)?;
    let mode = HighAvailabilityOptions::mode(&configuration)?;
    let jobs = own_jobs(
        &arguments.jobs,
        &HighAvailabilityOptions::cluster_id(&configuration)?,
    )?;
    if !jobs.is_empty()
        && mode == HighAvailabilityMode::ZooKeeper
        && configuration.get(&JobResultStoreOptions::DELETE_ON_COMMIT)?
    {
        // Processes that are given the same job would run it one after the other.
        return Err(Error::invalid("`run --job` needs recorded results")
            .at(JobResultStoreOptions::DELETE_ON_COMMIT.key())
            .advise("set it to false, or use `ha-cluster submit`"));
    }
    let addresses = RestAddresses::new(arguments, &configuration)?;
    // Checks the options of the process too.
    ProcessOptions::from_configuration(&configuration, String::new(), String::new())?;

    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::new(ErrorKind::Internal, "the runtime cannot be started").caused_by(error))?;
    let run = Run {
        configuration,
        name: arguments.name.clone().unwrap_or_else(default_name),
        jobs,
        exit_when_idle: arguments.exit_when_idle,
        wait_for_zookeeper: arguments.wait_for_zookeeper,
        progress,
        report: Report::new(shared.output()),
    };
    let outcome = runtime.block_on(Box::pin(run.run(&addresses, environment)));
    // A read that hangs in a file system must not keep the process.
    runtime.shutdown_background();
    outcome
}

/// The host's name and the process id.
fn default_name() -> String {
    format!("{}-{}", host_name(), std::process::id())
}

fn host_name() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .ok()
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "localhost".to_owned())
}

struct Run {
    configuration: Configuration,
    name: String,
    jobs: Vec<OwnJob>,
    exit_when_idle: bool,
    wait_for_zookeeper: bool,
    progress: Progress,
    report: Report,
}

impl Run {
    async fn run(&self, addresses: &RestAddresses, environment: Environment) -> Result<ExitCode> {
        let fatal = Arc::new(FatalErrors::new());
        let environment = environment.with_fatal_error_handler(Arc::clone(&fatal) as Arc<_>);
        let scope = environment.task_scope();
        let stop = stop_on_signal(&scope)?;
        let (listener, address) = addresses.bind()?;
        let options = ProcessOptions::from_configuration(&self.configuration, self.name.clone(), address)?;
        tracing::info!(
            event = "processStarted",
            process = options.name,
            pid = std::process::id(),
            restAddress = options.address,
            "process {} starts, REST at {}",
            options.name,
            options.address
        );
        let services = tokio::select! {
            biased;
            error = fatal.first() => return Err(error),
            () = stop.cancelled() => return Ok(ExitCode::Success),
            services = self.services(&environment) => services?,
        };
        let mut starting = pin!(ClusterProcess::start(
            Arc::clone(&services),
            environment.clone(),
            options,
            listener
        ));
        let started = tokio::select! {
            biased;
            error = fatal.first() => Err(Err(error)),
            () = stop.cancelled() => tokio::select! {
                biased;
                // What has begun to lead ends in order.
                process = &mut starting => process.map_err(Err),
                () = environment.clock.sleep(CLOSE_WAIT) => Err(Ok(ExitCode::Success)),
            },
            process = &mut starting => process.map_err(Err),
        };
        let process = match started {
            Ok(process) => process,
            Err(outcome) => {
                close_soon(services.as_ref(), &environment).await;
                return outcome;
            }
        };
        let outcome = tokio::select! {
            biased;
            error = fatal.first() => {
                // What is under way may be what failed: leadership is given up if it can be, and that is all.
                close_soon(services.as_ref(), &environment).await;
                return Err(error);
            }
            () = stop.cancelled() => Ok(ExitCode::Success),
            outcome = self.work(&process, &environment, &stop) => outcome,
        };
        process.suspend().await;
        close(services.as_ref()).await;
        process.stop().await;
        outcome
    }

    async fn services(&self, environment: &Environment) -> Result<Arc<dyn HighAvailabilityServices>> {
        let process = ProcessDescription {
            name: Some(self.name.clone()),
            wait_for_zookeeper: self.wait_for_zookeeper,
        };
        create_available_or_embedded_services_for(process, &self.configuration, environment.clone()).await
    }

    /// Runs the caller's jobs. Completes only when the process is to end by itself.
    async fn work(
        &self,
        process: &ClusterProcess,
        environment: &Environment,
        stop: &CancellationToken,
    ) -> Result<ExitCode> {
        let leader = LeaderSource::Retrieval(Arc::clone(process.rest_leader()));
        let client = ClusterClient::new(leader, environment.clone())?;
        let code = run_own_jobs(&client, &self.jobs, &self.progress, self.report).await;
        if !self.exit_when_idle {
            stop.cancelled().await;
            return Ok(ExitCode::Success);
        }
        self.wait_for_clean_up(process, environment).await;
        Ok(code)
    }

    /// Where this process leads, it ends only after it has cleaned up after the caller's jobs.
    async fn wait_for_clean_up(&self, process: &ClusterProcess, environment: &Environment) {
        let ids: Vec<_> = self.jobs.iter().map(|job| job.id).collect();
        let cleaned_up = async {
            while !process.dispatcher().is_done_with(&ids) {
                environment.clock.sleep(CLEAN_UP_POLL).await;
            }
        };
        tokio::select! {
            () = cleaned_up => {}
            () = environment.clock.sleep(CLEAN_UP_WAIT) => {
                tracing::warn!("the clean-up is not complete; the next leader goes on with it");
            }
        }
    }
}

async fn close_soon(services: &dyn HighAvailabilityServices, environment: &Environment) {
    tokio::select! {
        () = close(services) => {}
        () = environment.clock.sleep(CLOSE_WAIT) => {}
    }
}

async fn close(services: &dyn HighAvailabilityServices) {
    if let Err(error) = services.close().await {
        tracing::warn!(%error, "the HA services did not close well");
    }
}
