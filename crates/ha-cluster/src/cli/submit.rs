use std::sync::Arc;

use ha_cli::{ExitCode, LogLevel, SharedOptions, init_logging, stop_on_signal};
use ha_services::configuration::{Configuration, HighAvailabilityMode, HighAvailabilityOptions};
use ha_services::environment::Environment;
use ha_services::ids::{ComponentId, JobId};
use ha_services::jobs::JobStatus;
use ha_services::{Error, ErrorKind, Result, create_leader_retrieval_service};

use super::arguments::SubmitArguments;
use super::job_arguments::{OwnJob, read_job_file};
use super::own_jobs::wait_for_end;
use super::progress::Progress;
use super::report::Report;
use super::rest_addresses::configured_endpoint;
use super::settings::configuration;
use crate::rest::{ClusterClient, LeaderSource, LeaderWatch};

/// `ha-cluster submit`.
///
/// # Errors
/// `Invalid`: wrong input, or refused by the leader as such; `AlreadyExists`: the id has other content;
/// `Unavailable`: no leader answered in time.
pub(super) fn submit(shared: &SharedOptions, arguments: &SubmitArguments) -> Result<ExitCode> {
    init_logging(shared, LogLevel::Warn);
    let configuration = configuration(shared)?;
    let (_, file) = read_job_file(&arguments.job)?;
    let environment = Environment::system();
    // Made here, so that a submission whose answer was lost can be sent again.
    let id = file
        .job_id
        .unwrap_or_else(|| JobId::random(environment.ids.as_ref()));
    let job = OwnJob { id, spec: file.spec };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| Error::new(ErrorKind::Internal, "the runtime cannot be started").caused_by(error))?;
    let outcome = runtime.block_on(Box::pin(post(
        &configuration,
        &environment,
        arguments,
        &job,
        Report::new(shared.output()),
    )));
    runtime.shutdown_background();
    outcome
}

async fn post(
    configuration: &Configuration,
    environment: &Environment,
    arguments: &SubmitArguments,
    job: &OwnJob,
    report: Report,
) -> Result<ExitCode> {
    let scope = environment.task_scope();
    let stop = stop_on_signal(&scope)?;
    let looked_at = looked_at(configuration)?;
    let out_of_time = |trouble: Option<Error>| {
        let reason = match trouble {
            Some(error) => match error.subject() {
                Some(subject) => format!("the last try ended with: {subject}: {}", error.message()),
                None => format!("the last try ended with: {}", error.message()),
            },
            None => "no leader of the REST endpoint is known".to_owned(),
        };
        Error::new(
            ErrorKind::Unavailable,
            format!("no leader took the job within {:?}; {reason}", arguments.timeout),
        )
        .at(looked_at)
        .advise("check that the cluster runs, and that the configuration names it")
    };
    let mut deadline = environment.clock.sleep(arguments.timeout);
    let leader = tokio::select! {
        biased;
        () = stop.cancelled() => return Ok(ExitCode::Success),
        () = &mut deadline => return Err(out_of_time(None)),
        leader = leader(configuration, environment) => leader?,
    };
    let client = ClusterClient::new(leader.clone(), environment.clone())?;
    let submission = tokio::select! {
        biased;
        () = stop.cancelled() => return Ok(ExitCode::Success),
        () = &mut deadline => return Err(out_of_time(client.trouble())),
        submission = client.submit(job.id, &job.spec) => submission?,
    };
    report.submitted(job, &submission);
    let progress = Progress::new();
    let end = match submission.ended {
        Some(end) => Ok(Some(end.status)),
        None if arguments.wait => tokio::select! {
            biased;
            () = stop.cancelled() => Ok(None),
            end = wait_for_end(&client, job, &progress, report) => end.map(Some),
        },
        None => Ok(None),
    };
    if let LeaderSource::Retrieval(watch) = leader {
        watch.stop().await;
    }
    Ok(match end? {
        None | Some(JobStatus::Finished) => ExitCode::Success,
        Some(_) => ExitCode::Findings,
    })
}

async fn leader(configuration: &Configuration, environment: &Environment) -> Result<LeaderSource> {
    if HighAvailabilityOptions::mode(configuration)? != HighAvailabilityMode::ZooKeeper {
        return Ok(LeaderSource::Fixed(configured_endpoint(configuration)?));
    }
    let component = ComponentId::rest_server();
    let retrieval =
        create_leader_retrieval_service(configuration, component.as_str(), environment.clone()).await?;
    let watch = LeaderWatch::follow(retrieval, component, environment).await?;
    Ok(LeaderSource::Retrieval(Arc::new(watch)))
}

/// Where the leader is looked for.
fn looked_at(configuration: &Configuration) -> Result<String> {
    match HighAvailabilityOptions::mode(configuration)? {
        HighAvailabilityMode::ZooKeeper => Ok(configuration
            .get(&HighAvailabilityOptions::HA_ZOOKEEPER_QUORUM)?
            .servers()),
        _ => configured_endpoint(configuration),
    }
}
