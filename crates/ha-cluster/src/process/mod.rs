//! A cluster process: its components put together.

mod cluster_process;
mod process_options;

pub use cluster_process::ClusterProcess;
pub use process_options::ProcessOptions;
