//! The rig of the end-to-end tests: ZooKeeper ensembles, cluster processes as operating system processes, faults
//! of both, and the little that tests share.
//!
//! A test that needs one server asks for [`Ensemble::shared`]: one server serves all test processes. A test that
//! stops, kills or configures servers starts its own by [`Ensemble::start`]. Everything that was started is killed
//! by its process id when its handle is dropped, also when the test panics.
//!
//! A machine may stall for seconds: what is waited for is waited for as long as it takes ([`eventually`]), and a case
//! that a stall spoils is made again ([`unstalled`]).
//!
//! [`flink_tests`] says which test holds what of Flink's tests, and which provokes which known failure.

pub mod admin;
mod apt;
mod broken_invariant;
pub mod browser;
pub mod cluster;
pub mod ensemble;
#[doc = include_str!("docs/flink_tests.md")]
pub mod flink_tests {}
pub mod leadership;
pub mod mounts;
pub mod object_server;
pub mod process;
pub mod proxy;
mod sharing;
mod stalls;
mod step_fault;
pub mod waiting;
pub mod workload;
pub mod zk_cli;

pub use admin::{AdminClient, NodeSnapshot};
pub use broken_invariant::broken_invariant;
pub use cluster::{CheckpointWatch, Event, LeaderSnapshot, TestCluster, TestJob};
pub use ensemble::{Ensemble, EnsembleOptions};
pub use leadership::{ClusterSettings, Contender, ContenderProcess, Intervals};
pub use process::{ClusterProcess, ManagedProcess};
pub use stalls::{unstalled, unstalled_case};
pub use step_fault::{Fault, StepFault};
pub use waiting::{eventually, full_form, pause, recovery_limit, scaled, seed, time_factor, unique_name};
