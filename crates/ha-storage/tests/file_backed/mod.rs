//! The stores that keep files, and their contracts. Also compiled into `integration-tests`, where they are run on a
//! server of the S3 protocol.

use std::sync::Arc;
use std::time::Duration;

use ha_core::blobs::BlobStore;
use ha_core::checkpoints::CheckpointRecoveryFactory;
use ha_core::health::HealthMonitor;
use ha_core::jobs::{JobGraphStore, JobResultStore, RunningJobsRegistry};
use ha_storage::{
    FileSystemCheckpointRecoveryFactory, FileSystemJobGraphStore, FileSystemJobResultStore,
    FileSystemRunningJobsRegistry, HaBlobStore, HaStorage,
};

/// Short, so that no test waits for a listener.
const POLL: Duration = Duration::from_millis(50);

pub(crate) fn results(storage: Arc<HaStorage>) -> Arc<dyn JobResultStore> {
    FileSystemJobResultStore::in_storage(storage, false, HealthMonitor::default())
}

pub(crate) fn results_deleted_on_commit(storage: Arc<HaStorage>) -> Arc<dyn JobResultStore> {
    FileSystemJobResultStore::in_storage(storage, true, HealthMonitor::default())
}

pub(crate) fn graphs(storage: Arc<HaStorage>) -> Arc<dyn JobGraphStore> {
    let results = results(Arc::clone(&storage));
    FileSystemJobGraphStore::new(storage, results, POLL, HealthMonitor::default())
}

pub(crate) fn checkpoints(storage: Arc<HaStorage>) -> Arc<dyn CheckpointRecoveryFactory> {
    FileSystemCheckpointRecoveryFactory::new(storage, HealthMonitor::default())
}

pub(crate) fn registry(storage: Arc<HaStorage>) -> Arc<dyn RunningJobsRegistry> {
    FileSystemRunningJobsRegistry::new(storage, HealthMonitor::default())
}

pub(crate) fn blobs(storage: Arc<HaStorage>) -> Arc<dyn BlobStore> {
    HaBlobStore::new(storage)
}

/// The contracts of all of them, in a module `$place`, on the fixture that `$stores` makes for one kind.
macro_rules! contracts {
    ($place:ident, $stores:path) => {
        mod $place {
            use ha_testkit::contract_tests;

            use crate::file_backed as stores;

            contract_tests!(blob_store, $stores(stores::blobs));
            contract_tests!(checkpoint_id_counter, $stores(stores::checkpoints));
            contract_tests!(completed_checkpoint_store, $stores(stores::checkpoints));
            contract_tests!(job_graph_store, $stores(stores::graphs));
            contract_tests!(job_result_store, $stores(stores::results));
            contract_tests!(
                job_result_store_delete_on_commit,
                $stores(stores::results_deleted_on_commit)
            );
            contract_tests!(running_jobs_registry, $stores(stores::registry));
        }
    };
}
