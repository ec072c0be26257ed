//! HA storage of ha-services.

mod folder;
mod reports;
mod results;
mod shared;
mod state;
mod storage;

pub use results::{FileSystemJobResultStore, JobResultStoreSettings};
pub use state::{ListedState, State, StateFile, StateKind};
pub use storage::{ClusterIdentity, HaStorage};
