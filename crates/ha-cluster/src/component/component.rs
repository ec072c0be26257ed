use async_trait::async_trait;
use ha_services::ids::LeaderSessionId;

/// A part of the process that acts while it leads.
#[async_trait]
pub trait Component: Send + Sync + 'static {
    /// It leads from now on. Returns soon; longer work goes into tasks.
    async fn granted(&self, session: LeaderSessionId);

    /// It leads no more. Returns when it acts no more, soon.
    async fn revoked(&self);
}
