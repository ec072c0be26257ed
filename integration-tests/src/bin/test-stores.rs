//! A user of the library that does with the stores what a cluster process does not: it replaces its job graph, keeps
//! blobs, and may remove the whole cluster. It meets a fault at a moment around one of its writes and deletions (see
//! `integration_tests::StepFault`).
//!
//! It goes on from whatever an earlier life left: a job without an end is put, replaced, checkpointed and ended; a job
//! with one is cleaned up. What is done is told on stdout, a JSON line each.

use std::io::Write as _;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use async_trait::async_trait;
use bytes::Bytes;
use clap::Parser;
use ha_cli::{LogLevel, SharedOptions, init_logging, load_configuration};
use ha_cluster::component::{Component, Contending};
use ha_services::checkpoints::CompletedCheckpoint;
use ha_services::ids::{ComponentId, JobId, LeaderSessionId};
use ha_services::jobs::{ApplicationStatus, JobGraph, JobGraphListener, JobResult, JobResultEntry};
use ha_services::{
    ErrorKind, HighAvailabilityServices, ProcessDescription, create_available_or_embedded_services_for,
};
use integration_tests::StepFault;
use serde_json::json;
use tokio::sync::watch;

/// How many checkpoints are taken, and how many are kept.
const CHECKPOINTS: (usize, usize) = (5, 3);

/// A user of the stores, for tests.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    shared: SharedOptions,
    /// The job.
    #[arg(long)]
    job: String,
    /// Remove the whole cluster in place of cleaning up after the job.
    #[arg(long)]
    remove_cluster: bool,
    /// The same, without a job: an earlier life had begun with it.
    #[arg(long)]
    only_remove_cluster: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    init_logging(&arguments.shared, LogLevel::Info);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(run(&arguments))
}

async fn run(arguments: &Arguments) -> Result<()> {
    let configuration = load_configuration(&arguments.shared)?;
    let process = ProcessDescription {
        name: Some("stores".to_owned()),
        wait_for_zookeeper: true,
    };
    let environment = StepFault::environment()?;
    let services = create_available_or_embedded_services_for(process, &configuration, environment).await?;
    if !arguments.only_remove_cluster {
        live(services.as_ref(), arguments).await?;
    }
    if arguments.remove_cluster || arguments.only_remove_cluster {
        services.close_and_cleanup_all_data().await?;
        tell("removed");
    } else {
        services.close().await?;
    }
    Ok(())
}

/// A life of the job, from where the one before ended.
async fn live(services: &dyn HighAvailabilityServices, arguments: &Arguments) -> Result<()> {
    let leading = Arc::new(Leading(watch::Sender::new(false)));
    let component = Arc::clone(&leading) as Arc<dyn Component>;
    let id = ComponentId::dispatcher();
    let contending = Contending::start(services, id, "http://stores:1", component).await?;
    leading.0.subscribe().wait_for(|leads| *leads).await?;

    let job_id = JobId::from_name(&arguments.job).context("a job id")?;
    let results = services.job_result_store();
    if !results.has_job_result_entry(job_id).await? {
        work(services, job_id).await?;
        results.create_dirty_result(&end(job_id)).await?;
        tell("ended");
    }
    if !arguments.remove_cluster {
        services.global_cleanup(job_id).await?;
        match results.mark_result_as_clean(job_id).await {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            marked => marked?,
        }
        tell("cleanedUp");
    }
    contending.stop().await;
    Ok(())
}

/// All of a job but its end.
async fn work(services: &dyn HighAvailabilityServices, job_id: JobId) -> Result<()> {
    let graphs = services.job_graph_store();
    graphs.start(Arc::new(Deaf)).await?;
    // The right to replace it comes by reading it.
    graphs.recover_job_graph(job_id).await?;
    for version in ["first", "second"] {
        let graph = JobGraph {
            job_id,
            name: "stores".to_owned(),
            payload: Bytes::from_static(version.as_bytes()),
        };
        graphs.put_job_graph(&graph).await?;
        tell("put");
    }
    let blobs = services.create_blob_store().await?;
    let folder = tempfile::tempdir()?;
    for number in 0..2 {
        let file = folder.path().join("blob");
        std::fs::write(&file, format!("blob {number}"))?;
        let key = blobs.create_key(&file).await?;
        blobs.put(&file, job_id, &key).await?;
        let copy = folder.path().join("copy");
        anyhow::ensure!(
            blobs.get(job_id, &key, &copy).await? && std::fs::read(&copy)? == std::fs::read(&file)?,
            "the blob is not what was put"
        );
        tell("blob");
    }
    let factory = services.checkpoint_recovery_factory();
    let checkpoints = factory
        .create_recovered_completed_checkpoint_store(job_id, CHECKPOINTS.1)
        .await?;
    let counter = factory.create_checkpoint_id_counter(job_id).await?;
    counter.start().await?;
    for _ in 0..CHECKPOINTS.0 {
        let checkpoint_id = counter.get_and_increment().await?;
        checkpoints
            .add_and_subsume(CompletedCheckpoint {
                job_id,
                checkpoint_id,
                timestamp: 0,
                payload: Bytes::from(checkpoint_id.to_string()),
            })
            .await?;
        tell("checkpoint");
    }
    services.running_jobs_registry().set_job_running(job_id).await?;
    graphs.stop().await?;
    Ok(())
}

fn end(job_id: JobId) -> JobResultEntry {
    JobResultEntry {
        result: JobResult {
            job_id,
            name: "stores".to_owned(),
            application_status: ApplicationStatus::Succeeded,
            net_runtime: 1,
            end_time: 1,
            failure_cause: None,
        },
        job_digest: None,
    }
}

fn tell(event: &str) {
    // A test that is gone needs to know nothing.
    let _ = writeln!(std::io::stdout(), "{}", json!({ "event": event }));
}

struct Leading(watch::Sender<bool>);

#[async_trait]
impl Component for Leading {
    async fn granted(&self, _session: LeaderSessionId) {
        self.0.send_replace(true);
    }

    async fn revoked(&self) {
        self.0.send_replace(false);
    }
}

/// Listens to no changes.
struct Deaf;

#[async_trait]
impl JobGraphListener for Deaf {
    async fn on_added_job_graph(&self, _job_id: JobId) {}

    async fn on_removed_job_graph(&self, _job_id: JobId) {}
}
