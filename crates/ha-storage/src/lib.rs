//! HA storage of ha-services.

mod blobs;
mod checkpoints;
mod folder;
mod graphs;
mod registry;
mod reports;
mod results;
mod shared;
mod state;
mod storage;
#[cfg(test)]
mod test_support;

pub use blobs::HaBlobStore;
pub use checkpoints::FileSystemCheckpointRecoveryFactory;
pub use graphs::FileSystemJobGraphStore;
pub use registry::FileSystemRunningJobsRegistry;
pub use results::{FileSystemJobResultStore, JobResultStoreSettings};
pub use state::{ListedState, State, StateFile, StateKind};
pub use storage::{ClusterIdentity, HaStorage};
