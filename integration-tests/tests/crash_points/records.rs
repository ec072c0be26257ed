//! What processes acknowledged before they were killed, as their logs say, and that it is kept.

use anyhow::{Context as _, Result, ensure};
use integration_tests::{Event, TestJob};

use super::snapshot::Snapshot;

/// One job over the lives of many processes.
pub(crate) struct Record {
    pub(crate) job: TestJob,
    /// The job is durable.
    is_accepted: bool,
    /// The newest acknowledged checkpoint.
    acknowledged: Option<u64>,
    /// How it has ended.
    end: Option<String>,
    /// Its clean-up is complete.
    pub(crate) is_clean: bool,
}

impl Record {
    pub(crate) fn new(job: TestJob) -> Self {
        Self {
            job,
            is_accepted: false,
            acknowledged: None,
            end: None,
            is_clean: false,
        }
    }

    /// Takes in the log of a process that has ended.
    ///
    /// # Errors
    /// It did what must not be after what was acknowledged before.
    pub(crate) fn note(&mut self, events: &[Event]) -> Result<()> {
        let id = self.job.id.clone();
        for event in events.iter().filter(|event| event.text("jobId") == id) {
            let context = || {
                format!(
                    "{event:?} after the checkpoint {:?}, end {:?}",
                    self.acknowledged, self.end
                )
            };
            let checkpoint = event.number("checkpointId");
            match event.name.as_str() {
                "jobAccepted" => self.is_accepted = true,
                "jobStarted" => ensure!(self.acknowledged.is_none() && self.end.is_none(), context()),
                "checkpointRestored" => {
                    ensure!(checkpoint >= self.acknowledged && self.end.is_none(), context());
                    self.acknowledged = checkpoint;
                }
                "checkpointCompleted" => {
                    ensure!(checkpoint > self.acknowledged && self.end.is_none(), context());
                    self.acknowledged = checkpoint;
                }
                "jobEnded" => {
                    ensure!(
                        event.text("status") == "FINISHED" && self.end.is_none(),
                        context()
                    );
                    self.end = Some("SUCCEEDED".to_owned());
                }
                "jobCleanedUp" => {
                    ensure!(self.end.is_some(), context());
                    self.is_clean = true;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Fails unless what was acknowledged is there; what is there counts as acknowledged from now on.
    ///
    /// # Errors
    /// What is lost.
    pub(crate) fn check(&mut self, snapshot: &Snapshot) -> Result<()> {
        let state = snapshot.job(&self.job.id);
        if self.end.is_some() {
            ensure!(state.end == self.end, "the end {:?} is lost: {state:?}", self.end);
        } else if state.end.is_none() {
            ensure!(!self.is_accepted || state.has_graph, "the job is lost: {state:?}");
            let newest = state.checkpoints.last().copied();
            ensure!(
                newest >= self.acknowledged,
                "the checkpoint {:?} is lost: {state:?}",
                self.acknowledged
            );
        }
        ensure!(
            !self.is_clean || state.is_clean,
            "the clean result is lost: {state:?}"
        );
        self.is_accepted |= state.has_graph;
        self.is_clean = state.is_clean;
        self.end = state.end;
        Ok(())
    }

    /// Fails unless the job has ended well, and nothing of it is left but its clean result.
    ///
    /// # Errors
    /// What is wrong.
    pub(crate) fn expect_done(&self, snapshot: &Snapshot) -> Result<()> {
        ensure!(self.is_clean, "the clean-up of {} is not complete", self.job.id);
        ensure!(
            !snapshot.left.contains(&self.job.id),
            "something of {} is left: {snapshot:?}",
            self.job.id
        );
        self.job
            .verify_output()
            .with_context(|| format!("job {}", self.job.id))
    }
}
