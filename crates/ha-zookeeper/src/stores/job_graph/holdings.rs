use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ha_core::ids::{JobId, LeaderSessionId};
use uuid::Uuid;

/// The right to replace or remove a job graph: this instance put or recovered it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holding {
    /// The path of its state file.
    pub file: String,
    /// The write that made its pointer.
    pub write_id: Uuid,
    /// The version of its pointer.
    pub version: i32,
    /// The term in which it was put or recovered.
    pub session: Option<LeaderSessionId>,
}

/// What one store holds.
#[derive(Debug, Default)]
pub(super) struct Holdings {
    held: Mutex<HashMap<JobId, Holding>>,
}

impl Holdings {
    pub(super) fn get(&self, job_id: JobId) -> Option<Holding> {
        self.held().get(&job_id).cloned()
    }

    pub(super) fn hold(&self, job_id: JobId, holding: Holding) {
        self.held().insert(job_id, holding);
    }

    pub(super) fn release(&self, job_id: JobId) {
        self.held().remove(&job_id);
    }

    pub(super) fn release_all(&self) {
        self.held().clear();
    }

    fn held(&self) -> MutexGuard<'_, HashMap<JobId, Holding>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
