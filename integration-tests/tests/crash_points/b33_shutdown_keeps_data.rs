//! B33. Symptom: a process that ends for any other reason than the end of its job wipes the job's HA data, and the
//! next start begins from nothing.
//!
//! Provoked, each while the job runs: SIGTERM, SIGINT, a session that expires, a panic in the midst of a checkpoint, a
//! fatal error (the storage is suddenly another cluster's), a start that fails.
//!
//! Right: job graph and checkpoints are kept, the job has not ended, and the next process goes on from the newest
//! checkpoint.
//!
//! B52. Symptom: an expired session is not noticed, or not replaced.
//!
//! Right: the same process makes a new session, stands in the election again and goes on.
//!
//! Sources: FLINK-25486 (flink#18296), FLINK-4201, FLINK-19154, FLINK-15150; bonifaido/rust-zookeeper#62,
//! strimzi/strimzi-kafka-operator#339.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use ha_core::environment::steps;
use integration_tests::{ClusterProcess, Event, Fault, StepFault, TestJob};

use super::place::Place;
use super::records::Record;

const TIMEOUT: Duration = Duration::from_secs(60);

/// A job that does not end by itself within a test.
struct Running {
    place: Place,
    record: Record,
    /// How many events of the present process were taken in.
    noted: usize,
}

impl Running {
    async fn new() -> Result<Self> {
        let place = Place::in_zookeeper_mode().await?;
        let folder = place.cluster.folder();
        let job = TestJob::create(folder, "long", 33, 3_000_000, Duration::from_secs(3600))?
            .with_checkpoint_interval(Duration::from_millis(100))?;
        Ok(Self {
            place,
            record: Record::new(job),
            noted: 0,
        })
    }

    /// A process that runs the job: it goes on from the newest checkpoint of the one before.
    async fn start(&self, name: &str, fault: &StepFault) -> Result<ClusterProcess> {
        let job = self.record.job.file.display().to_string();
        let process = self.place.cluster.spawn_with(name, &["--job", &job], fault)?;
        self.expect_progress(&process, 0).await?;
        Ok(process)
    }

    /// A checkpoint is acknowledged behind the first `skip` events.
    async fn expect_progress(&self, process: &ClusterProcess, skip: usize) -> Result<Event> {
        process
            .wait_for_event("checkpointCompleted", skip, TIMEOUT, |_| true)
            .await
    }

    /// After the end of the process, or while it stands still: nothing is lost.
    async fn expect_kept(&mut self, process: &ClusterProcess) -> Result<()> {
        let events = process.events();
        self.record.note(events.get(self.noted..).unwrap_or_default())?;
        self.noted = events.len();
        let snapshot = self.place.snapshot().await?;
        self.record.check(&snapshot)?;
        let state = snapshot.job(&self.record.job.id);
        ensure!(
            state.has_graph && !state.checkpoints.is_empty() && state.end.is_none(),
            "{state:?}: {}",
            process.output().end()
        );
        Ok(())
    }

    /// It ends with this code.
    async fn expect_end(&mut self, mut process: ClusterProcess, code: i32) -> Result<()> {
        let status = process.wait(TIMEOUT).await?;
        ensure!(
            status.code() == Some(code),
            "it ended with {status}: {}",
            process.output().end()
        );
        self.expect_kept(&process).await?;
        self.noted = 0;
        self.place.end_session(true).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b33_signals_keep_the_data_of_a_running_job() -> Result<()> {
    let mut running = Running::new().await?;
    let mut process = running.start("one", &StepFault::default()).await?;
    process.process().terminate()?;
    running.expect_end(process, 0).await?;
    let mut process = running.start("two", &StepFault::default()).await?;
    process.process().interrupt()?;
    running.expect_end(process, 0).await?;
    let process = running.start("three", &StepFault::default()).await?;
    running.expect_kept(&process).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b33_a_panic_keeps_the_data_of_a_running_job() -> Result<()> {
    let mut running = Running::new().await?;
    let panic = StepFault::new(Fault::Panic, steps::ADD_CHECKPOINT_POINTER.before, 5);
    let process = running.start("one", &panic).await?;
    running.expect_end(process, 1).await?;
    let process = running.start("two", &StepFault::default()).await?;
    running.expect_kept(&process).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b33_a_fatal_error_and_a_start_that_fails_keep_the_data_of_a_running_job() -> Result<()> {
    let mut running = Running::new().await?;
    let process = running.start("one", &StepFault::default()).await?;
    let cluster = &running.place.cluster;
    let identity = cluster.storage().join(cluster.cluster_id()).join("identity.json");
    let right = std::fs::read_to_string(&identity)?;
    let mut wrong: serde_json::Value = serde_json::from_str(&right)?;
    let uuid = wrong.get_mut("clusterUuid").context("no clusterUuid")?;
    *uuid = "00000000-0000-4000-8000-000000000000".into();
    std::fs::write(&identity, wrong.to_string())?;
    // It stands anew, and finds that the storage is another cluster's.
    let admin = running.place.admin().context("ZooKeeper")?;
    let leader = cluster.leader_now(admin).await?;
    admin.delete(&leader.latch).await?;
    running.expect_end(process, 1).await?;

    // A start that fails for it, and one that finds no ZooKeeper.
    for (more, code) in [
        (vec![], 1),
        (
            vec![
                "-Dhigh-availability.zookeeper.quorum=127.0.0.1:1",
                "-Dhigh-availability.zookeeper.client.max-retry-attempts=0",
            ],
            3,
        ),
    ] {
        let process = running.place.cluster.spawn("failing", &more)?;
        running.expect_end(process, code).await?;
    }
    std::fs::write(&identity, right)?;
    let process = running.start("two", &StepFault::default()).await?;
    running.expect_kept(&process).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b52_an_expired_session_keeps_the_data_and_is_replaced_in_the_same_process() -> Result<()> {
    let mut running = Running::new().await?;
    let mut process = running.start("one", &StepFault::default()).await?;
    let admin = running.place.admin().context("ZooKeeper")?.clone();
    let before = running.place.cluster.leader_now(&admin).await?;
    process.process().stop()?;
    running.place.end_session(false).await?;
    running.expect_kept(&process).await?;
    let skip = process.events().len();
    process.process().cont()?;
    process
        .wait_for_event("leadershipRevoked", skip, TIMEOUT, |event| {
            event.text("component") == "dispatcher"
        })
        .await?;
    let what = "the same process leads by another session";
    let after = running
        .place
        .cluster
        .leader(&admin, what, TIMEOUT, |leader| {
            leader.session_id != before.session_id
        })
        .await?;
    ensure!(
        after.process == before.process && after.zookeeper_session != before.zookeeper_session,
        "{before:?}, {after:?}"
    );
    process
        .wait_for_event("checkpointRestored", skip, TIMEOUT, |_| true)
        .await?;
    let skip = process.events().len();
    running.expect_progress(&process, skip).await?;
    ensure!(process.process().is_alive());
    running.expect_kept(&process).await
}
