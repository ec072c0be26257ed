//! The contract of ha-services: traits, ids, errors, configuration, and the pure machines that every backend
//! shares. Users depend on `ha-services`, which re-exports it and makes the services of a mode; whoever writes a
//! backend or a contender starts here.
//!
//! | to | see |
//! |---|---|
//! | have the services of a mode | [`services::HighAvailabilityServices`] |
//! | be elected | [`election::LeaderContender`], [`election::LeaderElectionService`] |
//! | find the leader | [`retrieval::LeaderRetrievalListener`], [`retrieval::LeaderRetrievalService`] |
//! | store jobs, their results and checkpoints | [`jobs`], [`checkpoints`], [`blobs`] |
//! | configure | [`configuration`], [`docs::options`] |
//! | judge an error | [`Error`]: what kind, and did it take effect |
//! | write a backend | [`election::LeaderElectionDriver`], [`retrieval::LeaderRetrievalDriver`] |
//! | control time, ids and tasks in tests | [`environment::Environment`] |
//!
#![doc = include_str!("docs/layers.md")]
#![doc = include_str!("docs/invariants.md")]

pub mod backoff;
pub mod blobs;
pub mod checkpoints;
pub mod configuration;
pub mod docs;
pub mod election;
pub mod environment;
pub mod error;
pub mod health;
pub mod ids;
pub mod jobs;
pub mod lease;
pub mod retrieval;
pub mod services;

mod followed;
mod follower;
mod guarded;
mod lifecycle;
#[cfg(test)]
mod test_clock;

pub use error::{Effect, Error, ErrorKind, Result};
pub use follower::Follower;
pub use guarded::guarded;
