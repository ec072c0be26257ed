//! What every implementation of a trait of `ha-core` must do, one suite a trait.
//!
//! A case is a function over a [`Fixture`]: `pub async fn name<F: Fixture<..>>(fixture: F)`. A test file makes
//! tests of a whole suite by [`contract_tests!`](crate::contract_tests), inside a module that names the
//! implementation:
//!
//! ```text
//! mod filesystem {
//!     ha_testkit::contract_tests!(job_result_store, FileFixture::new());
//! }
//! ```
//!
//! The tests are then called `filesystem::job_result_store::clean_twice_is_noop` and so on. What an
//! implementation cannot do by its nature is listed with a reason and shows as ignored, not as passed:
//! `contract_tests!(suite, fixture, unsupported: { case: "reason" })`. A name that is no case does not compile.

pub mod blob_store;
pub mod checkpoint_id_counter;
pub mod completed_checkpoint_store;
pub mod high_availability_services;
pub mod job_graph_store;
pub mod job_result_store;
pub mod job_result_store_delete_on_commit;
pub mod leader_election;
pub mod leader_retrieval;
pub mod running_jobs_registry;

mod data;
mod fixture;
mod macros;
mod part;
mod runner;
mod state_files;

pub use data::{checkpoint, checkpoint_id, ended, graph, job};
pub use fixture::{Entry, Fixture};
pub use part::Part;
pub use runner::run;
pub use state_files::{TORN, break_file, files_below};

#[cfg(test)]
mod tests;
