//! Reads the high-availability data of Apache Flink clusters: the layouts of their znodes, and what is in znodes and
//! files. It only decodes bytes that others have read, and writes nothing.
//!
//! Versions: 1.13 and 1.14 ([`Generation::LatchPerComponent`]), and 1.15 to 2.x ([`Generation::OneLatch`]); the layout
//! is told by what is there. Sources: Flink's own classes as named at each type, and recordings of running clusters
//! of 1.14.6 and 2.3.0.
//!
//! Nothing is trusted: every length is checked against what is there, nothing that a stream names is executed, and
//! what is not as expected is an error that says at which byte.

mod checkpoint_id_counter;
mod completed_checkpoint;
mod java;
mod job_graph;
mod layout;
mod leader_information;
mod pointer;
mod running_job_status;
mod undecodable;

pub use checkpoint_id_counter::decode_checkpoint_id_counter;
pub use completed_checkpoint::{CHECKPOINT_PREFIX, CompletedCheckpoint};
pub use job_graph::{JOB_GRAPH_PREFIX, JobGraph};
pub use layout::{Component, Generation, Place};
pub use leader_information::LeaderInformation;
pub use pointer::Pointer;
pub use running_job_status::RunningJobStatus;
pub use undecodable::Undecodable;
