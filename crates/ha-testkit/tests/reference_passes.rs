//! The reference implementation passes every suite whole, so that what the suites find in its broken variants
//! (`suite_catches_bugs.rs`) is the fault that was put there.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    dead_code,
    reason = "a test; the faults are used by another one"
)]

mod reference;

mod memory {
    use ha_testkit::contract_tests;

    use crate::reference::{self, Fault};

    contract_tests!(blob_store, reference::blob_stores(Fault::None));
    contract_tests!(checkpoint_id_counter, reference::checkpoints(Fault::None));
    contract_tests!(completed_checkpoint_store, reference::checkpoints(Fault::None));
    contract_tests!(high_availability_services, reference::services(Fault::None));
    contract_tests!(job_graph_store, reference::job_graph_stores(Fault::None));
    contract_tests!(job_result_store, reference::job_result_stores(Fault::None));
    contract_tests!(
        leader_election,
        reference::services(Fault::None),
        unsupported: {
            another_process_takes_over_after_a_crash: "all processes are in one: none ends without its stop",
            foreign_information_is_corrected: "in memory nobody but the leader can write it",
        }
    );
    contract_tests!(
        leader_retrieval,
        reference::services(Fault::None),
        unsupported: {
            unreadable_leader_is_an_error: "in memory nobody but the leader can write it",
        }
    );
    contract_tests!(running_jobs_registry, reference::registries(Fault::None));
}
