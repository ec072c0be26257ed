use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ha_core::Result;
use ha_core::configuration::{Configuration, ConfigurationLoader};

/// The options that every command of every program takes, before or after the command word.
///
/// They are not `global` arguments of clap: of those, the values after the command word replace the ones before,
/// and a `-D` would be lost silently. See the crate's front page.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Shared options")]
pub struct SharedOptions {
    /// Read the configuration from this YAML file
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Set one option, over the file; may be repeated
    #[arg(short = 'D', value_name = "KEY=VALUE")]
    pub definitions: Vec<Definition>,

    /// How data is written to stdout [default: table]
    #[arg(long, value_name = "FORMAT")]
    pub output: Option<OutputFormat>,

    /// The level of the log on stderr (RUST_LOG is read when this is not given)
    #[arg(long, value_name = "LEVEL")]
    pub log: Option<LogLevel>,

    /// How the log is written [default: text]
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
}

impl SharedOptions {
    /// The options before the command word together with those after it, which win.
    #[must_use]
    pub fn merged_with(mut self, later: Self) -> Self {
        self.definitions.extend(later.definitions);
        Self {
            config: later.config.or(self.config),
            definitions: self.definitions,
            output: later.output.or(self.output),
            log: later.log.or(self.log),
            log_format: later.log_format.or(self.log_format),
        }
    }

    /// How data is written.
    pub fn output(&self) -> OutputFormat {
        self.output.unwrap_or_default()
    }

    /// How the log is written.
    pub fn log_format(&self) -> LogFormat {
        self.log_format.unwrap_or_default()
    }
}

/// The configuration that the options name: the file, over it each `-D` in order, over that the environment for
/// secret keys (design §10). Options are not validated here.
///
/// # Errors
/// `Invalid`: the file cannot be read or is not such a file; the error names it.
pub fn load_configuration(shared: &SharedOptions) -> Result<Configuration> {
    let mut loader = ConfigurationLoader::new();
    if let Some(file) = &shared.config {
        loader = loader.file(file);
    }
    for definition in &shared.definitions {
        loader = loader.define(&definition.0)?;
    }
    loader.environment(std::env::vars_os()).load()
}

/// One `key=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition(pub String);

impl std::str::FromStr for Definition {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text.split_once('=') {
            Some((key, _)) if !key.trim().is_empty() => Ok(Self(text.to_owned())),
            _ => Err("expected key=value".to_owned()),
        }
    }
}

/// How data is written to stdout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// For people.
    #[default]
    Table,
    /// One JSON document.
    Json,
}

/// How the log is written to stderr.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// One line a record.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// The least severe level that is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// Errors.
    Error,
    /// Warnings too.
    Warn,
    /// What happens.
    Info,
    /// What is decided and why.
    Debug,
    /// Everything.
    Trace,
}

impl LogLevel {
    /// The name, as in RUST_LOG.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        shared: SharedOptions,
    }

    fn parsed(arguments: &[&str]) -> SharedOptions {
        Program::try_parse_from(std::iter::once(&"program").chain(arguments))
            .map(|program| program.shared)
            .unwrap()
    }

    #[test]
    fn options_after_the_command_word_win_and_definitions_add_up() {
        let merged = parsed(&["--output", "json", "-Da=1", "--log", "info"])
            .merged_with(parsed(&["-D", "a=2", "--log", "debug"]));
        assert_eq!(merged.output(), OutputFormat::Json);
        assert_eq!(merged.log, Some(LogLevel::Debug));
        assert_eq!(
            merged.definitions,
            [Definition("a=1".into()), Definition("a=2".into())]
        );
    }

    #[test]
    fn definition_without_a_key_is_refused() {
        for text in ["a", "=1", " =1"] {
            assert!(
                Program::try_parse_from(["program", "-D", text]).is_err(),
                "{text}"
            );
        }
    }
}
