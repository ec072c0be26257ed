use std::time::Duration;

use crate::{FileSystemJobResultStore, HaStorage};

/// Deletes what writes of ended processes left under temporary names, older than `age` by the store's own clock:
/// once, when a process opens its services. `age` must be longer than any write takes.
///
/// Then what of the clean results is older than their configured retention.
///
/// A failure is logged and nothing else: what is left is swept at the next start.
pub async fn sweep_by_age(storage: &HaStorage, results: &FileSystemJobResultStore, age: Duration) {
    for swept in [
        storage.sweep_temporary_files(age).await,
        results.sweep_temporary_files(age).await,
    ] {
        match swept {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "temporary files of interrupted writes were deleted"),
            Err(error) => tracing::warn!(%error, "temporary files of interrupted writes were not swept"),
        }
    }
    match results.delete_expired_results().await {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "clean results older than their retention were deleted"),
        Err(error) => tracing::warn!(%error, "clean results were not deleted by their age"),
    }
}
