use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use ha_cli::{CompletionsArguments, ManArguments, SharedOptions};
use ha_core::configuration::ConfigValue as _;
use ha_core::ids::JobId;

use crate::cluster::ReadingOptions;
use crate::examples::{self, documented};
use crate::layout::{LayoutChoice, PathMapping, PathMappings};

/// Shows the high-availability data of a cluster in readable form. Reads only.
///
/// Exit codes: 0 success; 1 something is broken or not there; 2 wrong usage or configuration; 3 ZooKeeper or the
/// storage cannot be reached.
#[derive(Debug, Parser)]
#[command(name = "hactl", version, propagate_version = true, max_term_width = 100)]
pub struct Arguments {
    #[command(flatten)]
    options: ToolOptions,

    #[command(subcommand)]
    command: CommandWord,
}

/// The options that every command takes, before or after its word.
#[derive(Args, Clone, Debug, Default)]
pub struct ToolOptions {
    /// Those that it shares with the other programs.
    #[command(flatten)]
    pub shared: SharedOptions,

    /// Whose data it is [default: auto]
    #[arg(long, value_name = "LAYOUT", help_heading = "Shared options")]
    pub layout: Option<LayoutChoice>,

    /// Where the files lie that Flink's pointers name: TO is a path here that stands for FROM; may be repeated
    #[arg(long = "map-path", value_name = "FROM=TO", help_heading = "Shared options")]
    pub mappings: Vec<PathMapping>,
}

impl ToolOptions {
    /// The options before the command word together with those after it, which win.
    #[must_use]
    fn merged_with(mut self, later: Self) -> Self {
        let mut mappings = later.mappings;
        mappings.append(&mut self.mappings);
        Self {
            shared: self.shared.merged_with(later.shared),
            layout: later.layout.or(self.layout),
            mappings,
        }
    }

    /// How a cluster is read.
    pub fn reading(&self) -> ReadingOptions {
        ReadingOptions {
            layout: self.layout.unwrap_or_default(),
            mappings: PathMappings(self.mappings.clone()),
        }
    }
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Show all options, with what is set.
    Config,
    /// Tell what changes, as it happens.
    Watch,
    /// Write shell completions.
    Completions(CompletionsArguments),
    /// Write manual pages.
    Man(ManArguments),
    /// Show something of the cluster.
    Read(Reading),
}

/// What to show of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Who leads, who stands by.
    Leaders,
    /// All jobs of which anything is known.
    Jobs,
    /// The checkpoints of one job.
    Checkpoints(JobId),
    /// The results of ended jobs.
    Results,
    /// The blobs of all jobs.
    Blobs,
    /// Everything, as it is stored.
    Tree,
    /// Everything, into a file.
    Export {
        /// The file, which must not be there.
        file: PathBuf,
    },
    /// What is wrong.
    Doctor {
        /// From which age a result whose job is not cleaned up is told.
        dirty_after: Duration,
    },
}

#[derive(Debug, Subcommand)]
enum CommandWord {
    /// Show who leads each component since when, and who stands by
    #[command(after_help = examples::LEADERS, after_long_help = documented!(examples::LEADERS, "leaders"))]
    Leaders {
        #[command(flatten)]
        options: ToolOptions,
    },
    /// Show all jobs: stored job graphs, checkpoints, registry, results
    #[command(after_help = examples::JOBS, after_long_help = documented!(examples::JOBS, "jobs"))]
    Jobs {
        #[command(flatten)]
        options: ToolOptions,
    },
    /// Show the checkpoints of one job, each with its file
    #[command(after_help = examples::CHECKPOINTS, after_long_help = documented!(examples::CHECKPOINTS, "checkpoints"))]
    Checkpoints {
        /// The job: 32 hexadecimal digits
        #[arg(value_name = "JOB")]
        job: JobId,
        #[command(flatten)]
        options: ToolOptions,
    },
    /// Show the recorded results of ended jobs
    #[command(after_help = examples::RESULTS, after_long_help = documented!(examples::RESULTS, "results"))]
    Results {
        #[command(flatten)]
        options: ToolOptions,
    },
    /// Show the blobs of each job, with key, size and file
    ///
    /// They are listed from the storage directory, unread: a blob is verified by whoever gets it. What is foreign there
    /// is reported and left as it is.
    #[command(after_help = examples::BLOBS, after_long_help = documented!(examples::BLOBS, "blobs"))]
    Blobs {
        #[command(flatten)]
        options: ToolOptions,
    },
    /// Write all that the cluster needs to go on into one file, for `hactl import`
    #[command(after_help = examples::EXPORT)]
    Export {
        /// The archive to be made
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        options: ToolOptions,
    },
    /// Check the cluster's data: what is wrong, why it matters, what to do
    ///
    /// It reads only. Each finding is an error, a warning, or for information: with an error or a warning the exit code
    /// is 1. What could not be checked is said, with the reason. A cluster of Apache Flink is not checked.
    #[command(after_help = examples::DOCTOR)]
    Doctor {
        /// Tell of a job that ended longer ago than this and is not cleaned up
        #[arg(long, value_name = "DURATION", default_value = "10 min", value_parser = duration)]
        dirty_after: Duration,
        #[command(flatten)]
        options: ToolOptions,
    },
    /// Tell of leader and job changes as they happen, one line an event
    ///
    /// What is there is told first, then what changes: another leader or none, a job added or ended, a checkpoint
    /// completed, the connection lost and back. What happens while the connection is down, or faster than it is read,
    /// is told by its latest state. With `--output json` each line is one object; its fields are documented at
    /// `WatchLine` of the crate `hactl`. SIGINT or SIGTERM ends it with 0, as does a reader that closes its pipe; a second
    /// signal ends it with 130.
    #[command(after_help = examples::WATCH)]
    Watch {
        #[command(flatten)]
        options: ToolOptions,
    },
    /// Show all options: what is set and by what, else the default
    #[command(after_help = examples::CONFIG)]
    Config {
        #[command(flatten)]
        options: ToolOptions,
    },
    /// Write the completions for a shell to stdout
    #[command(after_help = examples::COMPLETIONS)]
    Completions {
        #[command(flatten)]
        completions: CompletionsArguments,
        #[command(flatten)]
        options: ToolOptions,
    },
    /// Write the manual pages to a directory
    #[command(after_help = examples::MAN)]
    Man {
        #[command(flatten)]
        man: ManArguments,
        #[command(flatten)]
        options: ToolOptions,
    },
    /// Show every znode (mode filesystem: every file) of the cluster with its text
    #[command(after_help = examples::TREE, after_long_help = documented!(examples::TREE, "tree"))]
    Tree {
        #[command(flatten)]
        options: ToolOptions,
    },
}

impl Arguments {
    /// The command, and the shared options from before and after its word.
    pub fn into_parts(self) -> (Command, ToolOptions) {
        let (command, options) = match self.command {
            CommandWord::Leaders { options } => (Command::Read(Reading::Leaders), options),
            CommandWord::Jobs { options } => (Command::Read(Reading::Jobs), options),
            CommandWord::Checkpoints { job, options } => (Command::Read(Reading::Checkpoints(job)), options),
            CommandWord::Results { options } => (Command::Read(Reading::Results), options),
            CommandWord::Blobs { options } => (Command::Read(Reading::Blobs), options),
            CommandWord::Tree { options } => (Command::Read(Reading::Tree), options),
            CommandWord::Doctor { dirty_after, options } => {
                (Command::Read(Reading::Doctor { dirty_after }), options)
            }
            CommandWord::Watch { options } => (Command::Watch, options),
            CommandWord::Export { file, options } => (Command::Read(Reading::Export { file }), options),
            CommandWord::Config { options } => (Command::Config, options),
            CommandWord::Completions { completions, options } => (Command::Completions(completions), options),
            CommandWord::Man { man, options } => (Command::Man(man), options),
        };
        (command, self.options.merged_with(options))
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    Duration::parse(text)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use ha_cli::OutputFormat;

    use super::*;

    #[test]
    fn definition_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn shared_options_stand_before_and_after_the_word() {
        let arguments = Arguments::parse_from(["hactl", "-Da=1", "jobs", "--output", "json", "-D", "b=2"]);
        let (command, options) = arguments.into_parts();
        assert_eq!(command, Command::Read(Reading::Jobs));
        assert_eq!(options.shared.output(), OutputFormat::Json);
        assert_eq!(options.shared.definitions.len(), 2);
    }

    #[test]
    fn layout_and_mappings_stand_before_and_after_the_word_and_the_later_ones_count_first() {
        let line = [
            "hactl",
            "--layout",
            "native",
            "--map-path",
            "/a=/b",
            "jobs",
            "--layout",
            "flink",
            "--map-path",
            "/a/c=/d",
        ];
        let (_, options) = Arguments::parse_from(line).into_parts();
        let reading = options.reading();
        assert_eq!(reading.layout, LayoutChoice::Flink);
        assert_eq!(reading.mappings.local("file:/a/c/x"), Some("/d/x".into()));
        assert_eq!(reading.mappings.local("file:/a/x"), Some("/b/x".into()));
        for wrong in [["--layout", "curator"], ["--map-path", "/a"]] {
            let error = Arguments::try_parse_from([&["hactl", "jobs"][..], &wrong].concat()).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{wrong:?}");
        }
    }

    #[test]
    fn the_age_of_a_dirty_result_is_a_duration() {
        let parse = |word: &[&str]| Arguments::try_parse_from(["hactl", "doctor"].iter().chain(word));
        let command = |word: &[&str]| parse(word).unwrap().into_parts().0;
        let doctor = |seconds| {
            let dirty_after = Duration::from_secs(seconds);
            Command::Read(Reading::Doctor { dirty_after })
        };
        assert_eq!(command(&[]), doctor(600));
        assert_eq!(command(&["--dirty-after", "2 s"]), doctor(2));
        assert_eq!(parse(&["--dirty-after", "x"]).unwrap_err().exit_code(), 2);
    }

    #[test]
    fn an_export_names_its_file() {
        let parse = |line: &[&str]| Arguments::try_parse_from(["hactl", "export"].iter().chain(line));
        let file = PathBuf::from("one.tar");
        assert_eq!(
            parse(&["one.tar"]).unwrap().into_parts().0,
            Command::Read(Reading::Export { file })
        );
        assert_eq!(parse(&[]).unwrap_err().exit_code(), 2);
    }

    #[test]
    fn a_wrong_job_id_is_wrong_usage() {
        let error = Arguments::try_parse_from(["hactl", "checkpoints", "x"]).unwrap_err();
        assert_eq!(error.exit_code(), 2);
    }
}
