//! Stores a job and its checkpoints as a leader, recovers both as the next leader would, and ends the job.
//!
//! Embedded by default; on ZooKeeper with options as arguments, see `elect_leader`.
#![expect(clippy::print_stdout, reason = "an example talks")]

use std::sync::Arc;

use ha_services::checkpoints::CompletedCheckpoint;
use ha_services::configuration::ConfigurationLoader;
use ha_services::ids::{JobId, LeaderSessionId};
use ha_services::jobs::{ApplicationStatus, JobGraph, JobGraphListener, JobResult, JobResultEntry};
use ha_services::{
    Environment, Error, ErrorKind, HighAvailabilityServices, LeaderContender, Result, async_trait,
    create_available_or_embedded_services,
};

struct Dispatcher;

#[async_trait]
impl LeaderContender for Dispatcher {
    async fn grant_leadership(&self, session: LeaderSessionId) {
        println!("leading in the term {session}");
    }

    async fn revoke_leadership(&self) {}

    fn address(&self) -> String {
        "http://127.0.0.1:8081".to_owned()
    }

    async fn handle_error(&self, error: Error) {
        println!("error of the election: {error}");
    }
}

#[async_trait]
impl JobGraphListener for Dispatcher {
    async fn on_added_job_graph(&self, job_id: JobId) {
        println!("another process added job {job_id}");
    }

    async fn on_removed_job_graph(&self, job_id: JobId) {
        println!("another process removed job {job_id}");
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let loader = std::env::args()
        .skip(1)
        .try_fold(ConfigurationLoader::new(), |loader, argument| {
            loader.define(&argument)
        })?;
    let environment = Environment::system();
    let services = create_available_or_embedded_services(&loader.load()?, environment.clone()).await?;

    // Once services have started an election they write only while they lead.
    let election = services.dispatcher_leader_election();
    let mut leadership = election.subscribe();
    election.start(Arc::new(Dispatcher)).await?;
    let _ = leadership.wait_for(Option::is_some).await;

    let job_id = JobId::random(environment.ids.as_ref());
    store(services.as_ref(), job_id).await?;
    recover(services.as_ref(), job_id).await?;
    end(services.as_ref(), job_id).await?;

    election.stop().await?;
    services.close().await
}

async fn store(services: &dyn HighAvailabilityServices, job_id: JobId) -> Result<()> {
    let graphs = services.job_graph_store();
    graphs.start(Arc::new(Dispatcher)).await?;
    graphs
        .put_job_graph(&JobGraph {
            job_id,
            name: "example".to_owned(),
            payload: "what the job needs to run again".into(),
        })
        .await?;
    graphs.stop().await?;

    let factory = services.checkpoint_recovery_factory();
    let counter = factory.create_checkpoint_id_counter(job_id).await?;
    counter.start().await?;
    let checkpoints = factory
        .create_recovered_completed_checkpoint_store(job_id, 1)
        .await?;
    for progress in ["a third", "two thirds"] {
        let checkpoint_id = counter.get_and_increment().await?;
        checkpoints
            .add_and_subsume(CompletedCheckpoint {
                job_id,
                checkpoint_id,
                timestamp: 0,
                payload: progress.into(),
            })
            .await?;
        println!("checkpoint {checkpoint_id} is acknowledged");
    }
    Ok(())
}

/// What the next leader does.
async fn recover(services: &dyn HighAvailabilityServices, job_id: JobId) -> Result<()> {
    let graphs = services.job_graph_store();
    graphs.start(Arc::new(Dispatcher)).await?;
    let recovered = graphs.recover_job_graphs().await?;
    println!(
        "{} job(s) to run, {} unreadable",
        recovered.entries.len(),
        recovered.broken.len()
    );
    let checkpoints = services
        .checkpoint_recovery_factory()
        .create_recovered_completed_checkpoint_store(job_id, 1)
        .await?;
    if let Some(latest) = checkpoints.latest().await? {
        println!(
            "going on from checkpoint {}: {}",
            latest.checkpoint_id,
            String::from_utf8_lossy(&latest.payload)
        );
    }
    graphs.stop().await
}

/// First the end is recorded, then everything of the job is cleaned up, then the result is marked clean.
async fn end(services: &dyn HighAvailabilityServices, job_id: JobId) -> Result<()> {
    let results = services.job_result_store();
    results
        .create_dirty_result(&JobResultEntry {
            result: JobResult {
                job_id,
                name: "example".to_owned(),
                application_status: ApplicationStatus::Succeeded,
                net_runtime: 1,
                end_time: 0,
                failure_cause: None,
            },
            job_digest: None,
        })
        .await?;
    services.global_cleanup(job_id).await?;
    match results.mark_result_as_clean(job_id).await {
        // Nothing to mark where results are deleted with the clean-up.
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => {
            println!("the job has ended and is cleaned up");
            Ok(())
        }
    }
}
