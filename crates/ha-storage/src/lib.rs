//! HA storage of ha-services.

mod folder;
mod shared;
mod state;
mod storage;

pub use state::{ListedState, State, StateFile, StateKind};
pub use storage::{ClusterIdentity, HaStorage};
