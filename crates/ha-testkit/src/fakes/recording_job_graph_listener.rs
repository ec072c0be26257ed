use async_trait::async_trait;
use ha_core::ids::JobId;
use ha_core::jobs::JobGraphListener;

use super::Recorder;

/// What a job graph listener was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobGraphEvent {
    /// Another process added or replaced the graph.
    Added(JobId),
    /// Another process removed it.
    Removed(JobId),
}

/// Records what other processes did to job graphs.
#[derive(Clone, Debug, Default)]
pub struct RecordingJobGraphListener {
    events: Recorder<JobGraphEvent>,
}

impl RecordingJobGraphListener {
    /// A listener that was told nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What it was told, in order.
    pub fn events(&self) -> Vec<JobGraphEvent> {
        self.events.events()
    }

    /// Waits until it was told this.
    pub async fn wait_for(&self, event: JobGraphEvent) {
        self.events
            .wait_for(&format!("told {event:?}"), |events| {
                events.contains(&event).then_some(())
            })
            .await;
    }

    /// Waits until it was told this many things.
    pub async fn wait_for_count(&self, count: usize) {
        self.events
            .wait_for(&format!("told {count} things"), |events| {
                (events.len() >= count).then_some(())
            })
            .await;
    }
}

#[async_trait]
impl JobGraphListener for RecordingJobGraphListener {
    async fn on_added_job_graph(&self, job_id: JobId) {
        self.events.record(JobGraphEvent::Added(job_id));
    }

    async fn on_removed_job_graph(&self, job_id: JobId) {
        self.events.record(JobGraphEvent::Removed(job_id));
    }
}
