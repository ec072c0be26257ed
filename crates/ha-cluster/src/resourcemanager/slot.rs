use std::sync::Arc;

use ha_services::ids::JobId;
use tokio::sync::OwnedSemaphorePermit;

use super::resource_manager::Slots;

/// A slot that a job holds; dropping it gives it back.
pub struct Slot {
    job_id: JobId,
    slots: Arc<Slots>,
    _permit: OwnedSemaphorePermit,
}

impl Slot {
    pub(super) fn new(job_id: JobId, slots: Arc<Slots>, permit: OwnedSemaphorePermit) -> Self {
        Self {
            job_id,
            slots,
            _permit: permit,
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.release(self.job_id);
    }
}
