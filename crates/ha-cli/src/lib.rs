//! What the programs of this project share on the command line (design §11): the shared options, logging,
//! exit codes, signals, and writing data to stdout.
//!
//! Shared options are accepted before and after the command word. A program flattens [`SharedOptions`] into its
//! top level and into each of its commands, and merges the two:
//!
//! ```
//! use clap::{Parser, Subcommand};
//! use ha_cli::SharedOptions;
//!
//! #[derive(Parser)]
//! struct Arguments {
//!     #[command(flatten)]
//!     shared: SharedOptions,
//!     #[command(subcommand)]
//!     command: Command,
//! }
//!
//! #[derive(Subcommand)]
//! enum Command {
//!     Show {
//!         #[command(flatten)]
//!         shared: SharedOptions,
//!     },
//! }
//!
//! let arguments = Arguments::parse_from(["x", "-D", "a=1", "show", "-D", "b=2", "--output", "json"]);
//! let Command::Show { shared } = arguments.command;
//! let shared = arguments.shared.merged_with(shared);
//! assert_eq!(shared.definitions.len(), 2);
//! ```

mod exit_code;
mod generated;
mod logging;
mod shared_options;
mod signals;
mod stdio;
mod text_fields;
mod timestamp;

pub use exit_code::ExitCode;
pub use generated::{CompletionsArguments, ManArguments, write_completions, write_man_pages};
pub use logging::{init_logging, init_logging_to};
pub use shared_options::{Definition, LogFormat, LogLevel, OutputFormat, SharedOptions, load_configuration};
pub use signals::stop_on_signal;
pub use stdio::{report_error, write_json, write_note, write_stdout};
pub use timestamp::timestamp;
