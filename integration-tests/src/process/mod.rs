//! Operating system processes under a test's control.

pub mod binaries;
mod cluster_process;
mod managed_process;
mod output;

pub use cluster_process::{ClusterProcess, run_adapted_binary, run_binary};
pub use managed_process::ManagedProcess;
pub use output::CapturedOutput;
