//! The command line of the program.

mod arguments;
mod fatal_errors;
mod job_arguments;
mod own_jobs;
mod progress;
mod report;
mod rest_addresses;
mod run;
mod settings;
mod submit;

use std::process;

use clap::{CommandFactory as _, Parser as _};
use ha_cli::{ExitCode, report_error, write_completions, write_man_pages};
use ha_services::environment::Environment;

use arguments::{Arguments, Command};

/// Runs the program: reads the arguments, does what they say, and gives the exit code.
pub fn main() -> process::ExitCode {
    main_in(Environment::system())
}

/// The same in another environment than the system's; its handler of fatal errors is replaced.
pub fn main_in(environment: Environment) -> process::ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // A closed pipe is no reason to fail.
            let _ = error.print();
            return if error.use_stderr() {
                ExitCode::Usage.into()
            } else {
                ExitCode::Success.into()
            };
        }
    };
    let outcome = match arguments.command {
        Command::Run(run) => {
            let shared = arguments.shared.merged_with(run.shared.clone());
            run::run(&shared, &run, environment)
        }
        Command::Submit(submit) => {
            submit::submit(&arguments.shared.merged_with(submit.shared.clone()), &submit)
        }
        Command::Completions(completions) => {
            write_completions(Arguments::command(), completions).map(|()| ExitCode::Success)
        }
        Command::Man(man) => write_man_pages(Arguments::command(), &man).map(|()| ExitCode::Success),
    };
    match outcome {
        Ok(code) => code.into(),
        Err(error) => {
            report_error(&error);
            ExitCode::from_error(&error).into()
        }
    }
}
