use std::collections::HashMap;
use std::sync::{Arc, Mutex as StdMutex, PoisonError, Weak};

use ha_core::ids::JobId;
use ha_storage::StateKind;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// Two locks a job: one of its job graph's pointer, one of its checkpoints' pointers.
///
/// Who writes a state file and publishes its pointer, and who lists and removes all of a kind, hold it: otherwise a
/// file that was listed before its pointer stood would be deleted after it. So does everybody else who writes a job
/// graph's pointer: a reply that is lost is resolved by what the pointer holds, and would be misread where another
/// store of this process has written over it. Other processes are kept away by the fence. Clones share the locks.
#[derive(Clone, Debug, Default)]
pub struct JobLocks {
    locks: Arc<StdMutex<Locks>>,
}

type Locks = HashMap<(JobId, StateKind), Weak<Mutex<()>>>;

impl JobLocks {
    /// Waits for the lock of the job's pointers of `kind`.
    pub(crate) async fn lock(&self, job_id: JobId, kind: StateKind) -> OwnedMutexGuard<()> {
        self.of(job_id, kind).lock_owned().await
    }

    fn of(&self, job_id: JobId, kind: StateKind) -> Arc<Mutex<()>> {
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = locks.get(&(job_id, kind)).and_then(Weak::upgrade) {
            return lock;
        }
        locks.retain(|_, lock| lock.strong_count() > 0);
        let lock = Arc::default();
        locks.insert((job_id, kind), Arc::downgrade(&lock));
        lock
    }
}
