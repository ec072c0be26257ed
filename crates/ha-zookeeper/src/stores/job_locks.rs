use std::collections::HashMap;
use std::sync::{Arc, Mutex as StdMutex, PoisonError, Weak};

use ha_core::ids::JobId;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// One lock a job. Who writes a state file and publishes its pointer, and who lists and removes all of a job, hold
/// it: otherwise a file that was listed before its pointer stood would be deleted after it. Other processes are
/// kept away by the fence. Clones share the locks.
#[derive(Clone, Debug, Default)]
pub struct JobLocks {
    locks: Arc<StdMutex<HashMap<JobId, Weak<Mutex<()>>>>>,
}

impl JobLocks {
    /// Waits for the lock of the job.
    pub(crate) async fn lock(&self, job_id: JobId) -> OwnedMutexGuard<()> {
        self.of(job_id).lock_owned().await
    }

    fn of(&self, job_id: JobId) -> Arc<Mutex<()>> {
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = locks.get(&job_id).and_then(Weak::upgrade) {
            return lock;
        }
        locks.retain(|_, lock| lock.strong_count() > 0);
        let lock = Arc::default();
        locks.insert(job_id, Arc::downgrade(&lock));
        lock
    }
}
