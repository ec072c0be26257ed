//! The contract suites on the ZooKeeper implementations, against a real server. Each case has clusters of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use ha_core::configuration::{Configuration, HighAvailabilityOptions as Options, JobResultStoreOptions};
use ha_core::ids::ClusterId;
use ha_core::services::HighAvailabilityServices;
use ha_testkit::contract::{Entry, Fixture, Part, TORN, break_file};
use ha_testkit::contract_tests;
use ha_testkit::fakes::SimulatedProcess;
use ha_zookeeper::paths::ClusterPaths;
use ha_zookeeper::services::ZooKeeperHaServices;
use integration_tests::{Ensemble, unique_name};
use tempfile::TempDir;

const ROOT: &str = "/ha-contracts";

/// A cluster on the shared server and in a local folder, and a second one beside it.
struct ZooKeeper {
    ensemble: Ensemble,
    storage: TempDir,
    cluster: String,
    neighbour: String,
    delete_on_commit: bool,
    processes: Mutex<Vec<(Arc<dyn HighAvailabilityServices>, SimulatedProcess)>>,
}

impl ZooKeeper {
    async fn new() -> Self {
        Self {
            ensemble: Ensemble::shared().await.unwrap(),
            storage: TempDir::new().unwrap(),
            cluster: unique_name("contract"),
            neighbour: unique_name("neighbour"),
            delete_on_commit: false,
            processes: Mutex::default(),
        }
    }

    async fn deleting_on_commit() -> Self {
        Self {
            delete_on_commit: true,
            ..Self::new().await
        }
    }

    /// The services of a new process of a cluster.
    async fn open_cluster(&self, cluster: &str) -> Arc<dyn HighAvailabilityServices> {
        let configuration = Configuration::new()
            .with(Options::HA_MODE.key(), "zookeeper")
            .with(Options::HA_CLUSTER_ID.key(), cluster)
            .with(
                Options::HA_STORAGE_PATH.key(),
                self.storage.path().to_str().unwrap(),
            )
            .with(Options::HA_ZOOKEEPER_QUORUM.key(), self.ensemble.connect_string())
            .with(Options::HA_ZOOKEEPER_ROOT.key(), ROOT)
            // Short for the case that waits for a session to expire, long enough for a busy machine.
            .with(Options::HA_ZOOKEEPER_SESSION_TIMEOUT.key(), "12 s")
            .with(Options::HA_ZOOKEEPER_SERVER_TICK_TIME.key(), "500 ms")
            .with(
                JobResultStoreOptions::DELETE_ON_COMMIT.key(),
                self.delete_on_commit.to_string(),
            );
        let process = SimulatedProcess::new();
        let environment = process.environment();
        let services: Arc<dyn HighAvailabilityServices> = process
            .run(async move { ZooKeeperHaServices::connect(&configuration, environment).await })
            .await
            .unwrap();
        self.processes
            .lock()
            .unwrap()
            .push((Arc::clone(&services), process));
        services
    }

    /// Overwrites the data of a znode.
    async fn break_node(&self, path: &str) {
        let servers = self.ensemble.connect_string();
        let client = zookeeper_client::Client::connect(&servers).await.unwrap();
        client.set_data(path, TORN, None).await.unwrap();
    }
}

#[async_trait]
impl Fixture for ZooKeeper {
    type Subject = Arc<dyn HighAvailabilityServices>;

    async fn open(&self) -> Arc<dyn HighAvailabilityServices> {
        self.open_cluster(&self.cluster).await
    }

    async fn reopen_after_crash(
        &self,
        subject: Arc<dyn HighAvailabilityServices>,
    ) -> Arc<dyn HighAvailabilityServices> {
        let (services, process) = {
            let mut processes = self.processes.lock().unwrap();
            let known = processes
                .iter()
                .position(|(services, _)| Arc::ptr_eq(services, &subject));
            processes.remove(known.expect("the services were opened here"))
        };
        process.kill();
        drop((services, subject));
        self.open().await
    }

    async fn open_neighbour(&self) -> Arc<dyn HighAvailabilityServices> {
        self.open_cluster(&self.neighbour).await
    }

    async fn break_entry(&self, entry: Entry) {
        let cluster = ClusterId::new(&self.cluster).unwrap();
        let paths = ClusterPaths::new("", ROOT, &cluster).unwrap();
        match entry {
            Entry::Counter(job) => self.break_node(&paths.checkpoint_id_counter(job)).await,
            Entry::LeaderInformation(component) => {
                self.break_node(&paths.connection_info(&component)).await;
            }
            Entry::SchedulingStatus(job) => self.break_node(&paths.running_job(job)).await,
            // Their pointers name files.
            Entry::JobGraph(_) | Entry::Checkpoint(..) | Entry::JobResult(_) | Entry::Blob(..) => {
                break_file(self.storage.path(), &entry);
            }
        }
    }
}

mod zookeeper {
    use super::*;

    contract_tests!(leader_election, ZooKeeper::new().await);
    contract_tests!(leader_retrieval, ZooKeeper::new().await);
    contract_tests!(high_availability_services, ZooKeeper::new().await);
    contract_tests!(job_graph_store, Part::job_graph_store(ZooKeeper::new().await));
    contract_tests!(job_result_store, Part::job_result_store(ZooKeeper::new().await));
    contract_tests!(
        job_result_store_delete_on_commit,
        Part::job_result_store(ZooKeeper::deleting_on_commit().await)
    );
    contract_tests!(
        completed_checkpoint_store,
        Part::checkpoint_recovery_factory(ZooKeeper::new().await)
    );
    contract_tests!(
        checkpoint_id_counter,
        Part::checkpoint_recovery_factory(ZooKeeper::new().await)
    );
    contract_tests!(
        running_jobs_registry,
        Part::running_jobs_registry(ZooKeeper::new().await)
    );
    contract_tests!(blob_store, Part::blob_store(ZooKeeper::new().await));
}
