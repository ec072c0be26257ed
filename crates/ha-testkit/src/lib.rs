//! Fakes and contract suites for implementations of the traits of `ha-core`. A dev-dependency only.
//!
//! - [`fakes`]: a clock, an id source, a fatal error handler, contenders and listeners that tests steer and that
//!   record what they were asked.
//! - [`condition`]: waiting for a condition instead of sleeping for luck.
//! - [`FlinkRecording`]: what running clusters of Apache Flink kept in ZooKeeper and in files.
//! - [`contract`]: one suite a trait. [`contract_tests!`](crate::contract_tests) makes one test of each case, so
//!   that the first failure hides nothing.
//!
//! `tests/suite_catches_bugs.rs` holds the suites themselves to account: deliberately broken implementations,
//! each of which a named case must catch.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the cases are tests: a failed assertion is their result"
)]

pub mod condition;
pub mod contract;
pub mod fakes;
mod flink_recording;

pub use flink_recording::{FlinkRecording, RecordedZnode};
