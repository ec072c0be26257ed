use clap::{Parser, Subcommand};
use ha_cli::{CompletionsArguments, ManArguments, SharedOptions};
use ha_core::ids::JobId;

/// Shows the high-availability data of a cluster in readable form. Reads only.
///
/// Exit codes: 0 success; 1 something is broken or not there; 2 wrong usage or configuration; 3 ZooKeeper or the
/// storage cannot be reached.
#[derive(Debug, Parser)]
#[command(name = "hactl", version, propagate_version = true, max_term_width = 100)]
pub struct Arguments {
    #[command(flatten)]
    shared: SharedOptions,

    #[command(subcommand)]
    command: CommandWord,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Show all options, with what is set.
    Config,
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
}

/// Works where nothing is set up: the folder is made first, by hand.
const BLOBS_EXAMPLE: &str = "\
Example: the blobs of an empty cluster in a folder
  mkdir -p /tmp/ha-example/one
  hactl blobs -D high-availability=filesystem \\
    -D high-availability.storageDir=/tmp/ha-example -D high-availability.cluster-id=one";

#[derive(Debug, Subcommand)]
enum CommandWord {
    /// Show who leads each component since when, and who stands by
    Leaders {
        #[command(flatten)]
        shared: SharedOptions,
    },
    /// Show all jobs: stored job graphs, checkpoints, registry, results
    Jobs {
        #[command(flatten)]
        shared: SharedOptions,
    },
    /// Show the checkpoints of one job, each with its file
    Checkpoints {
        /// The job: 32 hexadecimal digits
        #[arg(value_name = "JOB")]
        job: JobId,
        #[command(flatten)]
        shared: SharedOptions,
    },
    /// Show the recorded results of ended jobs
    Results {
        #[command(flatten)]
        shared: SharedOptions,
    },
    /// Show the blobs of each job, with key, size and file
    ///
    /// They are listed from the storage directory, unread: a blob is verified by whoever gets it. What is foreign there
    /// is reported and left as it is.
    #[command(after_help = BLOBS_EXAMPLE)]
    Blobs {
        #[command(flatten)]
        shared: SharedOptions,
    },
    /// Show all options: what is set and by what, else the default
    Config {
        #[command(flatten)]
        shared: SharedOptions,
    },
    /// Write the completions for a shell to stdout
    Completions {
        #[command(flatten)]
        completions: CompletionsArguments,
        #[command(flatten)]
        shared: SharedOptions,
    },
    /// Write the manual pages to a directory
    Man {
        #[command(flatten)]
        man: ManArguments,
        #[command(flatten)]
        shared: SharedOptions,
    },
    /// Show every znode (mode filesystem: every file) of the cluster with its text
    Tree {
        #[command(flatten)]
        shared: SharedOptions,
    },
}

impl Arguments {
    /// The command, and the shared options from before and after its word.
    pub fn into_parts(self) -> (Command, SharedOptions) {
        let (command, shared) = match self.command {
            CommandWord::Leaders { shared } => (Command::Read(Reading::Leaders), shared),
            CommandWord::Jobs { shared } => (Command::Read(Reading::Jobs), shared),
            CommandWord::Checkpoints { job, shared } => (Command::Read(Reading::Checkpoints(job)), shared),
            CommandWord::Results { shared } => (Command::Read(Reading::Results), shared),
            CommandWord::Blobs { shared } => (Command::Read(Reading::Blobs), shared),
            CommandWord::Tree { shared } => (Command::Read(Reading::Tree), shared),
            CommandWord::Config { shared } => (Command::Config, shared),
            CommandWord::Completions { completions, shared } => (Command::Completions(completions), shared),
            CommandWord::Man { man, shared } => (Command::Man(man), shared),
        };
        (command, self.shared.merged_with(shared))
    }
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
        let (command, shared) = arguments.into_parts();
        assert_eq!(command, Command::Read(Reading::Jobs));
        assert_eq!(shared.output(), OutputFormat::Json);
        assert_eq!(shared.definitions.len(), 2);
    }

    #[test]
    fn a_wrong_job_id_is_wrong_usage() {
        let error = Arguments::try_parse_from(["hactl", "checkpoints", "x"]).unwrap_err();
        assert_eq!(error.exit_code(), 2);
    }
}
