//! A cluster of `ha-cluster` processes as a test sees it: its configuration, its jobs, its log events, and its
//! znodes, read past the product's own code.

mod checkpoint_watch;
mod event;
mod test_cluster;
mod test_job;

pub use checkpoint_watch::{CheckpointWatch, SeenCheckpoint};
pub use event::Event;
pub use test_cluster::{LeaderSnapshot, TestCluster};
pub use test_job::TestJob;
