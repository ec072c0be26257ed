//! The workloads.

mod background;
mod checkpoints;
mod counter;
mod fan_out;
mod footprint;
mod fresh_process;
mod graphs;
mod hand_over;
mod jobs;
mod raw;
mod results;
mod silent_listener;

pub(crate) use checkpoints::checkpoints;
pub(crate) use counter::counter;
pub(crate) use fan_out::fan_out;
pub(crate) use footprint::footprint;
pub(crate) use graphs::{put_graphs, recover_and_remove_graphs};
pub(crate) use hand_over::hand_over;
pub(crate) use jobs::{recover_jobs, store_jobs};
pub(crate) use raw::raw;
pub(crate) use results::results;
