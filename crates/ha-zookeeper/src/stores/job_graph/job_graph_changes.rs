use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use ha_core::ids::JobId;
use uuid::Uuid;

use super::change_log::{ChangeLog, OwnChange};

/// What this process changes in the job graphs, known to all its stores: none tells its listener of it. Clones
/// share one state.
#[derive(Clone, Debug, Default)]
pub struct JobGraphChanges {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    /// The last write of each job graph. A replaced pointer is at version 0 like the one before, so a version
    /// alone does not tell whether another store of this process has replaced it within one term; other
    /// processes cannot have.
    last: HashMap<JobId, Uuid>,
    logs: Vec<Weak<ChangeLog>>,
}

impl JobGraphChanges {
    /// Makes own changes known to `log` as long as it lives.
    pub(super) fn register(&self, log: &Arc<ChangeLog>) {
        let mut shared = self.shared();
        shared.logs.retain(|log| log.strong_count() > 0);
        shared.logs.push(Arc::downgrade(log));
    }

    /// An own change of `job_id` begins; `write_id` is what it writes, `None` when it removes.
    pub(crate) fn begin(&self, job_id: JobId, write_id: Option<Uuid>) -> PendingChange {
        let logs: Vec<_> = self.shared().logs.iter().filter_map(Weak::upgrade).collect();
        PendingChange {
            changes: self.clone(),
            job_id,
            write_id,
            logged: logs
                .into_iter()
                .map(|log| ChangeLog::begin(&log, job_id, write_id))
                .collect(),
        }
    }

    /// Whether no store of this process wrote another pointer than this one.
    pub(super) fn agrees(&self, job_id: JobId, write_id: Uuid) -> bool {
        self.shared()
            .last
            .get(&job_id)
            .is_none_or(|last| *last == write_id)
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An own change on its way; its outcome is unknown unless one of the methods is called.
#[derive(Debug)]
pub(crate) struct PendingChange {
    changes: JobGraphChanges,
    job_id: JobId,
    write_id: Option<Uuid>,
    logged: Vec<OwnChange>,
}

impl PendingChange {
    /// It was applied.
    pub(crate) fn applied(self) {
        {
            let mut shared = self.changes.shared();
            match self.write_id {
                Some(write_id) => drop(shared.last.insert(self.job_id, write_id)),
                None => drop(shared.last.remove(&self.job_id)),
            }
        }
        self.logged.into_iter().for_each(OwnChange::applied);
    }

    /// It certainly was not.
    pub(crate) fn not_applied(self) {
        self.logged.into_iter().for_each(OwnChange::not_applied);
    }
}
