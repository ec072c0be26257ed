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
    contract_tests!(job_graph_store, reference::job_graph_stores(Fault::None));
    contract_tests!(job_result_store, reference::job_result_stores(Fault::None));
    contract_tests!(running_jobs_registry, reference::registries(Fault::None));
}
