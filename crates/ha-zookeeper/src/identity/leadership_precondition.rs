use async_trait::async_trait;
use ha_core::Result;

/// What must hold before a process may contend for leadership, asked before each latch is made.
#[async_trait]
pub trait LeadershipPrecondition: Send + Sync + 'static {
    /// Makes root and cluster node where they are missing, and makes sure that tree and storage belong to this
    /// cluster. Cheap to repeat.
    ///
    /// # Errors
    /// `Unavailable`: ask again later. Every other kind: this process must not lead, and asking again does not
    /// help before somebody has changed something; nothing was touched.
    async fn ensure(&self) -> Result<()>;
}
