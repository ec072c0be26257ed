//! The contracts on the embedded services. All openings are of the same services: what are processes elsewhere are
//! contenders and stores of one process here.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use ha_core::configuration::{Configuration, HighAvailabilityOptions, JobResultStoreOptions};
use ha_core::environment::Environment;
use ha_core::services::HighAvailabilityServices;
use ha_embedded::EmbeddedHaServices;
use ha_testkit::contract::{Fixture, Part};

/// Services in memory, made when they are first opened.
struct Embedded {
    delete_on_commit: bool,
    services: Mutex<Option<Arc<dyn HighAvailabilityServices>>>,
}

impl Embedded {
    fn new() -> Self {
        Self {
            delete_on_commit: false,
            services: Mutex::default(),
        }
    }

    fn deleting_on_commit() -> Self {
        Self {
            delete_on_commit: true,
            ..Self::new()
        }
    }
}

#[async_trait]
impl Fixture for Embedded {
    type Subject = Arc<dyn HighAvailabilityServices>;

    async fn open(&self) -> Arc<dyn HighAvailabilityServices> {
        let open = || {
            let configuration = Configuration::new()
                .with(
                    JobResultStoreOptions::DELETE_ON_COMMIT.key(),
                    self.delete_on_commit.to_string(),
                )
                .with(
                    HighAvailabilityOptions::HA_JOB_GRAPH_STORE_POLL_INTERVAL.key(),
                    "20 ms",
                );
            EmbeddedHaServices::from_configuration(&configuration, Environment::system()).unwrap()
                as Arc<dyn HighAvailabilityServices>
        };
        let mut services = self.services.lock().unwrap();
        Arc::clone(services.get_or_insert_with(open))
    }

    /// A process in memory does not outlive its end: this is a store that is used anew, no more.
    async fn reopen_after_crash(
        &self,
        subject: Arc<dyn HighAvailabilityServices>,
    ) -> Arc<dyn HighAvailabilityServices> {
        drop(subject);
        self.open().await
    }
}

mod embedded {
    use ha_testkit::contract_tests;

    use super::*;

    contract_tests!(
        leader_election,
        Embedded::new(),
        unsupported: {
            another_process_takes_over_after_a_crash: "there is one process",
            second_contender_of_a_process_is_already_exists: "contenders of one process elect one",
            foreign_information_is_corrected: "in memory nobody but the leader can write it",
        }
    );
    contract_tests!(
        leader_retrieval,
        Embedded::new(),
        unsupported: {
            unreadable_leader_is_an_error: "in memory nobody but the leader can write it",
        }
    );
    contract_tests!(
        high_availability_services,
        Embedded::new(),
        unsupported: {
            close_keeps_data: "data in memory is gone with its process",
            cleanup_of_all_removes_all: "closed services in memory cannot be opened again",
            cleanup_of_all_keeps_the_neighbour: "each cluster has memory of its own",
            former_leader_cannot_write: "there is no other process to fence off",
            standby_cannot_write: "there is no other process to fence off",
            tool_cannot_write_beside_a_contender: "there is no other process to fence off",
            cleanup_of_all_is_refused_beside_a_contender: "there is no other process to fence off",
        }
    );
    contract_tests!(
        job_graph_store,
        Part::job_graph_store(Embedded::new()),
        unsupported: {
            broken_entry_hides_no_other: "nothing breaks in memory",
            broken_entry_alone_is_corrupt: "nothing breaks in memory",
        }
    );
    contract_tests!(
        job_result_store,
        Part::job_result_store(Embedded::new()),
        unsupported: {
            torn_entry_blocks_only_its_own_job: "nothing breaks in memory",
        }
    );
    contract_tests!(
        job_result_store_delete_on_commit,
        Part::job_result_store(Embedded::deleting_on_commit())
    );
    contract_tests!(
        completed_checkpoint_store,
        Part::checkpoint_recovery_factory(Embedded::new()),
        unsupported: {
            unreadable_newest_is_corrupt: "nothing breaks in memory",
            unreadable_older_does_not_hide_the_newest: "nothing breaks in memory",
        }
    );
    contract_tests!(
        checkpoint_id_counter,
        Part::checkpoint_recovery_factory(Embedded::new()),
        unsupported: {
            unreadable_counter_is_corrupt: "nothing breaks in memory",
        }
    );
    contract_tests!(
        running_jobs_registry,
        Part::running_jobs_registry(Embedded::new()),
        unsupported: {
            unreadable_record_is_corrupt: "nothing breaks in memory",
        }
    );
    contract_tests!(
        blob_store,
        Part::blob_store(Embedded::new()),
        unsupported: {
            changed_content_is_corrupt: "nothing breaks in memory",
        }
    );
}
