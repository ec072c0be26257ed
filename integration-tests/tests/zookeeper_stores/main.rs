//! The stores and services against a real server: fencing, lost replies, broken entries, clean-up (design §8, §9).
#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod checkpoints;
mod chroot;
mod cleanup;
mod faulty_client;
mod fencing;
mod identity;
mod job_graphs;
mod lost_replies;
mod orphans;
mod results;
mod rig;
mod traversal;
