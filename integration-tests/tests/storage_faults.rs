//! A full disk and a read-only storage directory: nothing is lost, the job waits or fails with a clear reason, and
//! the previous checkpoint stays usable. These tests mount file systems and need root.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use integration_tests::mounts::TemporaryMount;
use integration_tests::{
    AdminClient, CheckpointWatch, ClusterProcess, Ensemble, TestCluster, TestJob, eventually,
};

const SESSION_TIMEOUT: Duration = Duration::from_secs(6);
const TIMEOUT: Duration = Duration::from_secs(30);
const END_TIMEOUT: Duration = Duration::from_secs(120);

struct Running {
    ensemble: Ensemble,
    admin: AdminClient,
    cluster: TestCluster,
    job: TestJob,
    watch: CheckpointWatch,
    process: ClusterProcess,
}

impl Running {
    /// One process that runs a job, with a checkpoint acknowledged.
    async fn start(storage: &std::path::Path) -> Result<Self> {
        let ensemble = Ensemble::shared().await?;
        let admin = AdminClient::connect(&ensemble.connect_string()).await?;
        let cluster = TestCluster::new(&ensemble.connect_string(), SESSION_TIMEOUT)?.with_storage(storage);
        let job = TestJob::create(cluster.folder(), "faults", 5, 1_000_000, Duration::from_secs(15))?;
        let process = cluster.spawn("one", &[])?;
        cluster.wait_until_standing(&admin, &[&process]).await?;
        cluster.submit(&job).await?;
        let watch = cluster.watch_checkpoints(&admin, &job);
        eventually("a checkpoint", TIMEOUT, async || watch.newest().await)
            .await
            .with_context(|| process.output().end())?;
        Ok(Self {
            ensemble,
            admin,
            cluster,
            job,
            watch,
            process,
        })
    }

    /// The job waits and says why; the newest acknowledged checkpoint is readable.
    async fn expect_waiting(&self, skip: usize, reason: &str) -> Result<()> {
        self.process
            .wait_for_event("checkpointFailed", skip, TIMEOUT, |event| {
                event.fields.to_string().contains(reason)
            })
            .await?;
        let newest = self.watch.newest().await?.id;
        let shown = self.cluster.hactl(&["checkpoints", &self.job.id]).await?;
        let checkpoints = shown
            .get("checkpoints")
            .and_then(|list| list.as_array())
            .context("a list")?;
        let usable = checkpoints.iter().any(|checkpoint| {
            checkpoint.get("id").and_then(|id| id.as_u64()) >= Some(newest)
                && checkpoint.get("readable").and_then(|readable| readable.as_bool()) == Some(true)
        });
        ensure!(usable, "checkpoint {newest} is not usable: {shown}");
        Ok(())
    }

    /// Another process takes the job over from the newest checkpoint while the fault lasts.
    async fn expect_take_over_from_the_newest_checkpoint(&mut self) -> Result<()> {
        let newest = self.watch.newest().await?.id;
        self.process.process().kill()?;
        self.process = self.cluster.spawn("two", &[])?;
        let restored = self
            .process
            .wait_for_event("checkpointRestored", 0, TIMEOUT, |event| {
                event.text("jobId") == self.job.id
            })
            .await?;
        ensure!(
            restored.number("checkpointId") >= Some(newest),
            "{restored:?}, acknowledged was {newest}"
        );
        Ok(())
    }

    async fn expect_right_end(&self) -> Result<()> {
        self.cluster
            .wait_until_cleaned_up(&self.admin, &self.job, END_TIMEOUT)
            .await
            .with_context(|| self.process.output().end())?;
        self.watch.expect_strictly_increasing()?;
        ensure!(!self.ensemble.connect_string().is_empty());
        self.job.verify_output()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn job_outlives_a_full_disk() -> Result<()> {
    let mount = TemporaryMount::tmpfs(4 << 20)?;
    let running = Running::start(&mount.path()).await?;
    let skip = running.process.events().len();
    // More than there is: the file takes what is left.
    let filler = mount.path().join("filler");
    ensure!(std::fs::write(&filler, vec![0_u8; 8 << 20]).is_err());
    running.expect_waiting(skip, "space").await?;
    std::fs::remove_file(&filler)?;
    running.expect_right_end().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn job_outlives_a_read_only_storage_directory() -> Result<()> {
    let source = tempfile::tempdir()?;
    let mount = TemporaryMount::bind(source.path())?;
    let mut running = Running::start(&mount.path()).await?;
    let skip = running.process.events().len();
    mount.make_read_only()?;
    running.expect_waiting(skip, "ead-only").await?;
    mount.make_writable()?;
    running.expect_take_over_from_the_newest_checkpoint().await?;
    running.expect_right_end().await
}
