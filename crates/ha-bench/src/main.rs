//! `ha-bench`, the benchmark program of ha-services; see the library part of this package.

use std::process::ExitCode;

use clap::Parser as _;
use ha_bench::{Arguments, run};
use ha_cli::report_error;
use ha_services::{Error, ErrorKind};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::new(ErrorKind::Internal, "the runtime cannot be started").caused_by(error))
        .and_then(|runtime| runtime.block_on(run(arguments)));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report_error(&error);
            ha_cli::ExitCode::from_error(&error).into()
        }
    }
}
