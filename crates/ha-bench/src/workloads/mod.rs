//! The workloads.

mod background;
mod checkpoints;
mod counter;
mod fresh_process;
mod graphs;
mod jobs;
mod silent_listener;

pub(crate) use checkpoints::checkpoints;
pub(crate) use counter::counter;
pub(crate) use graphs::{put_graphs, recover_and_remove_graphs};
pub(crate) use jobs::{recover_jobs, store_jobs};
