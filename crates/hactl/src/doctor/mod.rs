//! `hactl doctor`: what is wrong with a cluster's data, why it matters, and what to do.
//!
//! Everything is read once into a snapshot; the checks are functions of it. It reads only: in ZooKeeper nothing but
//! the session's own beginning and end is a transaction, and no file is written, not even for a moment. So ages go by
//! the newest file of the storage, or by this machine's clock where that is later.
//!
//! The checks are listed at [`Doctor`].

mod check;
mod checks;
mod finding;
mod named_files;
mod read_files;
mod read_flink_files;
mod read_flink_results;
mod read_flink_tree;
mod read_jobs;
mod read_leadership;
mod read_storage;
mod read_tree;
mod reading;
mod report;
mod server_settings;
mod sizes;
mod snapshot;
mod state_files;
#[cfg(test)]
mod tests;

pub use finding::{Finding, Severity, Skipped};
pub use report::Doctor;
