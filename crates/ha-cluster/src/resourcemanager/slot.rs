use tokio::sync::OwnedSemaphorePermit;

/// A slot that a job holds; dropping it gives it back.
#[derive(Debug)]
pub struct Slot {
    _permit: OwnedSemaphorePermit,
}

impl Slot {
    pub(super) fn new(permit: OwnedSemaphorePermit) -> Self {
        Self { _permit: permit }
    }
}
