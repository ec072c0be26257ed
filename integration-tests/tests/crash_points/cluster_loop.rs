//! Cluster processes that are killed one after the other, each taking up what the one before left.

use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use integration_tests::workload::Random;
use integration_tests::{ClusterProcess, Fault, StepFault, TestCluster, TestJob, eventually, pause};

use super::place::Place;
use super::records::Record;
use super::snapshot::Snapshot;

/// How long a process may take to the moment at which it kills itself.
const DEATH_TIMEOUT: Duration = Duration::from_secs(120);
const END_TIMEOUT: Duration = Duration::from_secs(120);
/// So often a moment is waited for, each time with a longer job.
pub(crate) const ATTEMPTS: u32 = 4;
/// After so many kills orphans are looked for.
const ORPHANS_EVERY: usize = 5;
/// So many jobs may wait for their end before a process is let live.
const MAX_OPEN_JOBS: usize = 3;

/// A cluster in a series of kills.
pub(crate) struct ClusterLoop {
    place: Place,
    records: Vec<Record>,
    random: Random,
    /// How many processes were killed.
    pub(crate) kills: usize,
}

impl ClusterLoop {
    /// A series of kills in `place`.
    pub(crate) fn new(place: Place, seed: u64) -> Self {
        Self {
            // The orders of two checkpoints and of their removal both count.
            place: place.with("state.checkpoints.num-retained", "2"),
            records: Vec::new(),
            random: Random::new(seed),
            kills: 0,
        }
    }

    /// The cluster.
    pub(crate) fn cluster(&self) -> &TestCluster {
        &self.place.cluster
    }

    /// A job that takes about a second and many checkpoints, where the machine does not stall; with each `attempt` it
    /// takes twice as long.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn add_job(&mut self, attempt: u32) -> Result<()> {
        let duration = Duration::from_secs(1 << attempt);
        let name = format!("job{}", self.records.len());
        let seed = self.random.next_u64();
        let job = TestJob::create(self.place.cluster.folder(), &name, seed, 40_000, duration)?
            .with_checkpoint_interval(Duration::from_millis(20))?;
        self.records.push(Record::new(job));
        Ok(())
    }

    fn open_jobs(&self) -> Vec<String> {
        let open = self.records.iter().filter(|record| !record.is_clean);
        open.flat_map(|record| ["--job".to_owned(), record.job.file.display().to_string()])
            .collect()
    }

    /// A process with a new job and those that wait for their end.
    fn spawn(&mut self, fault: &StepFault, attempt: u32) -> Result<ClusterProcess> {
        self.add_job(attempt)?;
        let jobs = self.open_jobs();
        let jobs: Vec<_> = jobs.iter().map(String::as_str).collect();
        self.place
            .cluster
            .spawn_with(&format!("victim{}", self.kills), &jobs, fault)
    }

    /// A process kills itself when it reaches `moment` the `count`-th time.
    ///
    /// # Errors
    /// It does not, or what it left is not right.
    pub(crate) async fn kill_at(&mut self, moment: &str, count: usize) -> Result<()> {
        let fault = StepFault::new(Fault::Kill, moment, count);
        for attempt in 0..ATTEMPTS {
            let mut process = self.spawn(&fault, attempt)?;
            let ended = eventually("the process kills itself", DEATH_TIMEOUT, async || match process
                .process()
                .exit_status()?
            {
                None if !self.is_idle(&process) => bail!("it lives"),
                status => Ok(status),
            });
            let ended = ended.await.with_context(|| process.output().end())?;
            match ended {
                Some(status) => ensure!(
                    status.signal() == Some(9),
                    "it ended with {status} instead: {}",
                    process.output().end()
                ),
                // On a machine that stalls a job may take too few checkpoints.
                None => process.process().kill()?,
            }
            self.after_death(&process)
                .await
                .with_context(|| format!("after the kill at {moment:?} number {count}"))?;
            if ended.is_some() {
                return Ok(());
            }
        }
        bail!("{moment:?} was not reached {count} times")
    }

    /// Whether the process has nothing left to do.
    fn is_idle(&self, process: &ClusterProcess) -> bool {
        let events = process.events();
        let is_cleaned_up = |record: &Record| {
            let mut cleaned = events.iter().filter(|event| event.name == "jobCleanedUp");
            cleaned.any(|event| event.text("jobId") == record.job.id)
        };
        let mut open = self.records.iter().filter(|record| !record.is_clean);
        open.all(is_cleaned_up)
    }

    /// A process is killed this long after it has begun to lead.
    ///
    /// # Errors
    /// It does not come to lead, or what it left is not right.
    pub(crate) async fn kill_after(&mut self, delay: Duration) -> Result<()> {
        let mut process = self.spawn(&StepFault::default(), 0)?;
        process
            .wait_for_event("leadershipConfirmed", 0, DEATH_TIMEOUT, |_| true)
            .await?;
        pause(delay).await;
        process.process().kill()?;
        self.after_death(&process)
            .await
            .with_context(|| format!("after the kill {delay:?} after the grant"))
    }

    async fn after_death(&mut self, process: &ClusterProcess) -> Result<()> {
        self.kills += 1;
        let snapshot = self.check(process).await?;
        if self.kills % ORPHANS_EVERY == 1
            && let Some(orphans) = self.place.orphans().await?
        {
            ensure!(orphans == snapshot.unnamed, "{orphans:?}, {snapshot:?}");
        }
        // Now and then its session expires.
        let at_once = self.random.below(12) != 0;
        self.place.end_session(at_once).await?;
        let open = self.records.iter().filter(|record| !record.is_clean).count();
        if open > MAX_OPEN_JOBS {
            self.heal(&StepFault::default()).await?;
        }
        Ok(())
    }

    async fn check(&mut self, process: &ClusterProcess) -> Result<Snapshot> {
        let events = process.events();
        let checked = async {
            let snapshot = self.place.snapshot().await?;
            for record in &mut self.records {
                record.note(&events)?;
                record
                    .check(&snapshot)
                    .with_context(|| format!("job {}", record.job.id))?;
            }
            anyhow::Ok(snapshot)
        };
        checked
            .await
            .with_context(|| format!("the log of the process:\n{}", process.output().stderr()))
    }

    /// A process that nothing happens to but `fault` brings every job to its end, and cleans up.
    ///
    /// # Errors
    /// It does not, or the output is wrong, or something is left.
    pub(crate) async fn heal(&mut self, fault: &StepFault) -> Result<()> {
        let jobs = self.open_jobs();
        let mut arguments: Vec<_> = jobs.iter().map(String::as_str).collect();
        arguments.push("--exit-when-idle");
        let mut process = self.place.cluster.spawn_with("healer", &arguments, fault)?;
        let status = process.wait(END_TIMEOUT).await?;
        ensure!(
            status.success(),
            "it ended with {status}: {}",
            process.output().stderr()
        );
        let snapshot = self.check(&process).await?;
        for record in &self.records {
            record.expect_done(&snapshot)?;
        }
        ensure!(snapshot.unnamed.is_empty(), "files are left: {snapshot:?}");
        Ok(())
    }
}
