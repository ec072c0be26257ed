//! The embedded election with stores that outlive the process.

mod filesystem_ha_services;
mod process_lock;

pub use filesystem_ha_services::{FilesystemHaServices, lock_cluster_folder};
