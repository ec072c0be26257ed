use std::time::Duration;

use ha_services::environment::BootInstant;
use ha_services::ids::CheckpointId;

/// A checkpoint that this process took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckpointNote {
    /// Its id.
    pub id: CheckpointId,
    /// When it was acknowledged.
    pub acknowledged: BootInstant,
    /// How long that took.
    pub took: Duration,
    /// How long its state is.
    pub bytes: usize,
}
