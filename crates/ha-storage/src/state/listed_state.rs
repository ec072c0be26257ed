use std::time::SystemTime;

use ha_core::ids::JobId;

use super::StateKind;

/// A state file as a listing shows it, unread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedState {
    /// What its name says that it holds.
    pub kind: StateKind,
    /// The job that its name says it belongs to.
    pub owner: JobId,
    /// Relative to `<storageDir>/<cluster-id>`, as a pointer would name it.
    pub path: String,
    /// In bytes.
    pub size: u64,
    /// By the store's own clock: compare it with `HaStorage::store_time` only.
    pub last_modified: SystemTime,
}
