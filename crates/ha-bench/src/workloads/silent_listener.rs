use ha_services::async_trait;
use ha_services::ids::JobId;
use ha_services::jobs::JobGraphListener;

/// Listens to no changes.
pub(super) struct SilentListener;

#[async_trait]
impl JobGraphListener for SilentListener {
    async fn on_added_job_graph(&self, _: JobId) {}

    async fn on_removed_job_graph(&self, _: JobId) {}
}
