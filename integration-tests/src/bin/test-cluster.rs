//! `ha-cluster`, which meets a fault at a moment around one of its writes and deletions; see
//! `integration_tests::StepFault`.

use std::process::ExitCode;

use integration_tests::StepFault;

fn main() -> anyhow::Result<ExitCode> {
    Ok(ha_cluster::cli::main_in(StepFault::environment()?))
}
