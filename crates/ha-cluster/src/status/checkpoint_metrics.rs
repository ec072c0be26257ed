use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};

/// The shortest bucket, in seconds: what a checkpoint costs on a fast local disk.
const SHORTEST: f64 = 0.001;
/// Each bucket is twice the one before: to 32 seconds.
const BUCKETS: u16 = 16;

/// The checkpoints that this process took, of all its jobs together: a label for each job would have no bound.
/// Clones share one state.
#[derive(Clone, Debug)]
pub struct CheckpointMetrics {
    pub(super) durations: Histogram,
    pub(super) completed: Counter,
    pub(super) failed: Counter,
}

impl CheckpointMetrics {
    /// Nothing was taken yet.
    pub fn new() -> Self {
        Self {
            durations: Histogram::new(exponential_buckets(SHORTEST, 2.0, BUCKETS)),
            completed: Counter::default(),
            failed: Counter::default(),
        }
    }

    /// A checkpoint is acknowledged, so long after it was begun.
    pub fn completed(&self, took: Duration) {
        self.completed.inc();
        self.durations.observe(took.as_secs_f64());
    }

    /// A checkpoint failed, or its outcome is not known.
    pub fn failed(&self) {
        self.failed.inc();
    }
}

impl Default for CheckpointMetrics {
    fn default() -> Self {
        Self::new()
    }
}
