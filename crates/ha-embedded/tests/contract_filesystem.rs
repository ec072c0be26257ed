//! The contracts on the services of the mode `filesystem`: one process, whose data outlives it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::sync::{Arc, Mutex, Weak};

use async_trait::async_trait;
use ha_core::ErrorKind;
use ha_core::configuration::{Configuration, HighAvailabilityOptions as Options, JobResultStoreOptions};
use ha_core::services::HighAvailabilityServices;
use ha_embedded::FilesystemHaServices;
use ha_testkit::condition::eventually;
use ha_testkit::contract::{Entry, Fixture, Part, break_file};
use ha_testkit::fakes::SimulatedProcess;
use tempfile::TempDir;

type Services = Arc<dyn HighAvailabilityServices>;

/// A cluster in a local folder, and a second one beside it.
struct Filesystem {
    storage: TempDir,
    delete_on_commit: bool,
    /// The process that has the folder: as long as it is in use, all openings are of it.
    process: Mutex<Option<(Weak<dyn HighAvailabilityServices>, SimulatedProcess)>>,
    neighbours: Mutex<Vec<SimulatedProcess>>,
}

impl Filesystem {
    fn new() -> Self {
        Self {
            storage: TempDir::new().unwrap(),
            delete_on_commit: false,
            process: Mutex::default(),
            neighbours: Mutex::default(),
        }
    }

    fn deleting_on_commit() -> Self {
        Self {
            delete_on_commit: true,
            ..Self::new()
        }
    }

    /// Opens a cluster's folder in a new process, once the one before has let go of it.
    async fn open_cluster(&self, cluster: &str) -> (Services, SimulatedProcess) {
        let configuration = Configuration::new()
            .with(Options::HA_MODE.key(), "filesystem")
            .with(Options::HA_CLUSTER_ID.key(), cluster)
            .with(
                Options::HA_STORAGE_PATH.key(),
                self.storage.path().to_str().unwrap(),
            )
            .with(Options::HA_JOB_GRAPH_STORE_POLL_INTERVAL.key(), "20 ms")
            .with(
                JobResultStoreOptions::DELETE_ON_COMMIT.key(),
                self.delete_on_commit.to_string(),
            );
        let process = SimulatedProcess::new();
        let services = eventually("free of another process", || {
            let (configuration, environment) = (configuration.clone(), process.environment());
            let opened =
                process.run(async move { FilesystemHaServices::open(&configuration, environment).await });
            async {
                match opened.await {
                    Ok(services) => Some(services as Services),
                    Err(error) if error.kind() == ErrorKind::Conflict => None,
                    Err(error) => panic!("{error}"),
                }
            }
        })
        .await;
        (services, process)
    }

    fn present(&self) -> Option<Services> {
        let process = self.process.lock().unwrap();
        process.as_ref().and_then(|(services, _)| services.upgrade())
    }
}

#[async_trait]
impl Fixture for Filesystem {
    type Subject = Services;

    async fn open(&self) -> Services {
        if let Some(services) = self.present() {
            return services;
        }
        drop(self.process.lock().unwrap().take());
        let (services, process) = self.open_cluster("contract").await;
        *self.process.lock().unwrap() = Some((Arc::downgrade(&services), process));
        services
    }

    async fn reopen_after_crash(&self, subject: Services) -> Services {
        drop(self.process.lock().unwrap().take());
        drop(subject);
        self.open().await
    }

    async fn open_neighbour(&self) -> Services {
        let (services, process) = self.open_cluster("neighbour").await;
        self.neighbours.lock().unwrap().push(process);
        services
    }

    async fn break_entry(&self, entry: Entry) {
        break_file(self.storage.path(), &entry);
    }
}

mod filesystem {
    use ha_testkit::contract_tests;

    use super::*;

    contract_tests!(
        leader_election,
        Filesystem::new(),
        unsupported: {
            another_process_takes_over_after_a_crash: "there is one process",
            second_contender_of_a_process_is_already_exists: "contenders of one process elect one",
            foreign_information_is_corrected: "in memory nobody but the leader can write it",
        }
    );
    contract_tests!(
        leader_retrieval,
        Filesystem::new(),
        unsupported: {
            unreadable_leader_is_an_error: "in memory nobody but the leader can write it",
        }
    );
    contract_tests!(
        high_availability_services,
        Filesystem::new(),
        unsupported: {
            former_leader_cannot_write: "there is no other process to fence off",
            standby_cannot_write: "there is no other process to fence off",
            tool_cannot_write_beside_a_contender: "there is no other process to fence off",
            cleanup_of_all_is_refused_beside_a_contender: "there is no other process to fence off",
        }
    );
    contract_tests!(job_graph_store, Part::job_graph_store(Filesystem::new()));
    contract_tests!(job_result_store, Part::job_result_store(Filesystem::new()));
    contract_tests!(
        job_result_store_delete_on_commit,
        Part::job_result_store(Filesystem::deleting_on_commit())
    );
    contract_tests!(
        completed_checkpoint_store,
        Part::checkpoint_recovery_factory(Filesystem::new())
    );
    contract_tests!(
        checkpoint_id_counter,
        Part::checkpoint_recovery_factory(Filesystem::new())
    );
    contract_tests!(
        running_jobs_registry,
        Part::running_jobs_registry(Filesystem::new())
    );
    contract_tests!(blob_store, Part::blob_store(Filesystem::new()));
}
