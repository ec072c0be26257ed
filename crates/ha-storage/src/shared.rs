//! What all handles on one storage in this process share, so that two of them keep the contract together.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use ha_core::ids::JobId;
use tokio::sync::OwnedMutexGuard;

type Key = String;

/// Locks by name, and the highest checkpoint id that was given for each job.
#[derive(Default)]
pub(crate) struct Shared {
    locks: Mutex<HashMap<Key, Weak<tokio::sync::Mutex<()>>>>,
    given: Mutex<HashMap<JobId, u64>>,
}

impl Shared {
    /// The state of the storage in this folder, by its path or URI in one spelling: one for all handles on it.
    pub(crate) fn of_folder(folder: &str) -> Arc<Self> {
        static FOLDERS: OnceLock<Mutex<HashMap<String, Weak<Shared>>>> = OnceLock::new();
        let mut folders = lock(FOLDERS.get_or_init(Mutex::default));
        folders.retain(|_, shared| shared.strong_count() > 0);
        if let Some(shared) = folders.get(folder).and_then(Weak::upgrade) {
            return shared;
        }
        let shared = Arc::new(Self::default());
        folders.insert(folder.to_owned(), Arc::downgrade(&shared));
        shared
    }

    /// Waits for the lock of a name.
    pub(crate) async fn lock(&self, name: &str) -> OwnedMutexGuard<()> {
        let mutex = {
            let mut locks = lock(&self.locks);
            locks.retain(|_, mutex| mutex.strong_count() > 0);
            match locks.get(name).and_then(Weak::upgrade) {
                Some(mutex) => mutex,
                None => {
                    let mutex = Arc::default();
                    locks.insert(name.to_owned(), Arc::downgrade(&mutex));
                    mutex
                }
            }
        };
        mutex.lock_owned().await
    }

    /// The highest checkpoint id that any handle gave for the job, 0 when none.
    pub(crate) fn highest_given(&self, job_id: JobId) -> u64 {
        lock(&self.given).get(&job_id).copied().unwrap_or(0)
    }

    /// Records that an id was given.
    pub(crate) fn note_given(&self, job_id: JobId, id: u64) {
        let mut given = lock(&self.given);
        let highest = given.entry(job_id).or_default();
        *highest = id.max(*highest);
    }

    /// The life of the job id has ended.
    pub(crate) fn forget(&self, job_id: JobId) {
        lock(&self.given).remove(&job_id);
    }
}

/// Locks a mutex whose holders never leave it half-changed.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn handles_on_one_folder_share_their_locks() {
        let first = Shared::of_folder("/a");
        let second = Shared::of_folder("/a");
        let held = first.lock("x").await;
        let waits = second.lock("x");
        let _other_name = second.lock("y").await;
        let _other_folder = Shared::of_folder("/b").lock("x").await;
        tokio::select! {
            biased;
            _ = waits => panic!("one lock was given twice"),
            () = tokio::task::yield_now() => drop(held),
        }
        drop(second.lock("x").await);
    }
}
