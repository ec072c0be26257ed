use std::sync::Arc;
use std::time::Duration;

use ha_core::Follower;
use ha_core::environment::Environment;
use ha_core::health::{BrokenEntry, HealthMonitor};
use ha_storage::HaStorage;

use super::checkpoints::CheckpointReads;
use super::job_graph::JobGraphChanges;
use super::job_locks::JobLocks;
use crate::fence::FencedWriter;
use crate::session::SessionStatus;

/// What all stores of one services object share. Cloning is cheap.
#[derive(Clone)]
pub struct StoreContext {
    /// Commits what is written to ZooKeeper, and gives the client for reading.
    pub writer: FencedWriter,
    /// Where the state files are.
    pub storage: Arc<HaStorage>,
    /// Is told of broken entries.
    pub health: HealthMonitor,
    /// Time, ids and tasks.
    pub environment: Environment,
    /// The session, to read again after a reconnect.
    pub status: Follower<SessionStatus>,
    /// The age from which a file that no pointer names is an orphan. No pointer is published for a file that
    /// has half of it.
    pub orphan_age: Duration,
    /// What this process changes in the job graphs.
    pub job_graph_changes: JobGraphChanges,
    /// Between publishing and cleaning up in this process.
    pub job_locks: JobLocks,
    /// Of the checkpoint pointers of many jobs.
    pub checkpoint_reads: CheckpointReads,
}

impl StoreContext {
    /// Reports an entry that cannot be served.
    pub(super) fn report(&self, entry: &BrokenEntry) {
        self.health.report_broken(entry.clone());
    }
}
