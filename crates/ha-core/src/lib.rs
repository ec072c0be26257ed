//! The contract of ha-services: traits, ids, errors, configuration, and the pure machines that every backend
//! shares.

pub mod backoff;
pub mod blobs;
pub mod checkpoints;
pub mod configuration;
pub mod election;
pub mod environment;
pub mod error;
pub mod health;
pub mod ids;
pub mod jobs;
pub mod lease;
pub mod retrieval;
pub mod services;

#[cfg(test)]
mod test_clock;

pub use error::{Effect, Error, ErrorKind, Result};
