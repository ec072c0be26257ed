//! HA storage in an object store: on a real server of the S3 protocol, over HTTP, with the client that
//! `high-availability.storageDir: s3://…` opens. The contracts of all stores that keep files; identity, state files and
//! what is left over; and a store without conditional puts. Built with the feature `s3`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test")]

mod cluster;
#[macro_use]
#[path = "../../../crates/ha-storage/tests/file_backed/mod.rs"]
mod file_backed;
mod places;
mod state;

contracts!(contracts, crate::places::Stores::in_bucket);
