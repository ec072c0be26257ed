//! The contracts of the file-backed stores, on a local folder and in memory.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod places;

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
const POLL: Duration = Duration::from_millis(20);

fn results(storage: Arc<HaStorage>) -> Arc<dyn JobResultStore> {
    FileSystemJobResultStore::in_storage(storage, false, HealthMonitor::default())
}

fn results_deleted_on_commit(storage: Arc<HaStorage>) -> Arc<dyn JobResultStore> {
    FileSystemJobResultStore::in_storage(storage, true, HealthMonitor::default())
}

fn graphs(storage: Arc<HaStorage>) -> Arc<dyn JobGraphStore> {
    let results = results(Arc::clone(&storage));
    FileSystemJobGraphStore::new(storage, results, POLL, HealthMonitor::default())
}

fn checkpoints(storage: Arc<HaStorage>) -> Arc<dyn CheckpointRecoveryFactory> {
    FileSystemCheckpointRecoveryFactory::new(storage, HealthMonitor::default())
}

fn registry(storage: Arc<HaStorage>) -> Arc<dyn RunningJobsRegistry> {
    FileSystemRunningJobsRegistry::new(storage, HealthMonitor::default())
}

fn blobs(storage: Arc<HaStorage>) -> Arc<dyn BlobStore> {
    HaBlobStore::new(storage)
}

macro_rules! contracts {
    ($place:ident, $place_of:ident) => {
        mod $place {
            use ha_testkit::contract_tests;

            use crate::places::Stores;

            contract_tests!(blob_store, Stores::$place_of(crate::blobs));
            contract_tests!(checkpoint_id_counter, Stores::$place_of(crate::checkpoints));
            contract_tests!(
                completed_checkpoint_store,
                Stores::$place_of(crate::checkpoints)
            );
            contract_tests!(job_graph_store, Stores::$place_of(crate::graphs));
            contract_tests!(job_result_store, Stores::$place_of(crate::results));
            contract_tests!(
                job_result_store_delete_on_commit,
                Stores::$place_of(crate::results_deleted_on_commit)
            );
            contract_tests!(running_jobs_registry, Stores::$place_of(crate::registry));
        }
    };
}

contracts!(filesystem, in_folder);
contracts!(memory, in_memory);
