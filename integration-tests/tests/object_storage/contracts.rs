//! The contracts of the stores that keep files.

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
use ha_testkit::contract_tests;

use crate::places::Stores;

/// Short, so that no test waits for a listener.
const POLL: Duration = Duration::from_millis(100);

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

contract_tests!(blob_store, Stores::in_bucket(blobs));
contract_tests!(checkpoint_id_counter, Stores::in_bucket(checkpoints));
contract_tests!(completed_checkpoint_store, Stores::in_bucket(checkpoints));
contract_tests!(job_graph_store, Stores::in_bucket(graphs));
contract_tests!(job_result_store, Stores::in_bucket(results));
contract_tests!(
    job_result_store_delete_on_commit,
    Stores::in_bucket(results_deleted_on_commit)
);
contract_tests!(running_jobs_registry, Stores::in_bucket(registry));
