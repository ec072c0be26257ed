//! What the znodes and files of an Apache Flink cluster say.

mod blobs;
mod files;
mod jobs;
mod leaders;
mod summary;
mod tree;

pub(crate) use blobs::{FlinkBlob, blobs};
pub(crate) use files::{Fault, Looked, look};
pub(crate) use jobs::{checkpoints, job_place, jobs};
pub(crate) use leaders::{FlinkContender, FlinkLeader, leaders};
pub(crate) use summary::summary;
pub(crate) use tree::place;

#[cfg(test)]
mod tests;
