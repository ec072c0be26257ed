//! `hactl`, the operator tool of ha-services; see the library part of this package.

use std::process::ExitCode;

use clap::Parser as _;
use ha_cli::{LogLevel, init_logging, report_error};
use ha_core::{Error, ErrorKind};
use hactl::{Arguments, run};

fn main() -> ExitCode {
    let (command, options) = Arguments::parse().into_parts();
    // Quieter than a cluster process: what happens is the answer itself.
    init_logging(&options.shared, LogLevel::Warn);
    let outcome = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::new(ErrorKind::Internal, "the runtime cannot be started").caused_by(error))
        .and_then(|runtime| {
            let outcome = runtime.block_on(run(&command, &options));
            // A write that waits for a reader who has stopped reading is not waited for.
            runtime.shutdown_background();
            outcome
        });
    match outcome {
        Ok(code) => code.into(),
        Err(error) => {
            report_error(&error);
            ha_cli::ExitCode::from_error(&error).into()
        }
    }
}
