//! HA services that need no outside system.
//!
//! - [`EmbeddedHaServices`]: everything in the memory of one process. Several contenders for a component elect
//!   one; when it stops the next one leads. For tests and for clusters of one process.
//! - [`StandaloneHaServices`]: fixed addresses; whoever asks leads.
//! - [`FilesystemHaServices`]: the embedded election, and stores in a local directory that outlive the process. A
//!   lock of the operating system keeps a second process out.

mod elections;
mod embedded_ha_services;
mod filesystem;
mod leadership_control;
mod local_stores;
mod registry;
mod standalone;

pub use embedded_ha_services::EmbeddedHaServices;
pub use filesystem::{FilesystemHaServices, lock_cluster_folder};
pub use leadership_control::LeadershipControl;
pub use standalone::{StandaloneAddresses, StandaloneHaServices};
