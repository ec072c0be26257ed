use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};
use ha_cli::{CompletionsArguments, ManArguments};
use ha_core::configuration::ConfigValue as _;
use ha_core::ids::JobId;

use crate::command::{Command, Reading};
use crate::examples::{self, documented};
use crate::switchover::SwitchoverOptions;
use crate::tool_options::ToolOptions;
use crate::writes::WritingCommand;
use crate::writing_arguments::{CheckpointWord, JobWord, WriteArguments};

/// Shows, checks and repairs the high-availability data of a cluster. Without --apply it only reads.
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
    /// Make a cluster of an archive of `hactl export`, where nothing of one is
    #[command(after_help = examples::IMPORT, after_long_help = documented!(examples::IMPORT, in "moving/tests/snapshots/hactl__moving__tests__imported__", "import"))]
    Import {
        /// The archive
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        write: WriteArguments,
        #[command(flatten)]
        options: ToolOptions,
    },
    /// Check the cluster's data: what is wrong, why it matters, what to do
    ///
    /// It reads only, but for --accept-empty-tree --apply. Each finding is an error, a warning, or for information: with
    /// an error or a warning the exit code is 1. What could not be checked is said, with the reason. Of a cluster of Apache
    /// Flink the files that its pointers name are looked at where --map-path says that they lie.
    #[command(after_help = examples::DOCTOR)]
    Doctor {
        /// Tell of a job that ended longer ago than this and is not cleaned up
        #[arg(long, value_name = "DURATION", default_value = "10 min", value_parser = Duration::parse)]
        dirty_after: Duration,
        /// Check nothing, but accept that the tree was lost: take the mark out that says so, while no process runs
        #[arg(long)]
        accept_empty_tree: bool,
        #[command(flatten)]
        write: WriteArguments,
        #[command(flatten)]
        options: ToolOptions,
    },
    /// Delete orphans: files that nothing names any more
    #[command(after_help = examples::GC, after_long_help = documented!(examples::GC, changes "gc"))]
    Gc {
        /// Go on although the tree has no pointer at all, because all jobs have ended
        #[arg(long)]
        accept_no_pointers: bool,
        #[command(flatten)]
        write: WriteArguments,
        #[command(flatten)]
        options: ToolOptions,
    },
    /// Do something with one job
    Job {
        #[command(subcommand)]
        word: JobWord,
    },
    /// Do something with one checkpoint
    Checkpoint {
        #[command(subcommand)]
        word: CheckpointWord,
    },
    /// Move leadership to another process
    #[command(after_help = examples::SWITCHOVER, after_long_help = documented!(examples::SWITCHOVER, in "switchover/snapshots/hactl__switchover__tests__", "switchover"))]
    Switchover {
        /// The name of the process that is to lead [default: whoever is next]
        #[arg(long, value_name = "PROCESS")]
        to: Option<String>,
        /// Delete the latch of the leader instead of asking: until it hears of that, two may say that they lead
        #[arg(long)]
        force: bool,
        /// How long to wait for a leader, before and after
        #[arg(long, value_name = "DURATION", default_value = "30 s", value_parser = Duration::parse)]
        timeout: Duration,
        #[command(flatten)]
        write: WriteArguments,
        #[command(flatten)]
        options: ToolOptions,
    },
    /// Remove all data of the cluster, or what is left of ended jobs
    #[command(after_help = examples::CLEANUP, after_long_help = documented!(examples::CLEANUP, changes "cleanup"))]
    Cleanup {
        /// Only finish the clean-up of the jobs whose end is recorded
        #[arg(long)]
        ended_jobs: bool,
        #[command(flatten)]
        write: WriteArguments,
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
            CommandWord::Doctor {
                dirty_after,
                accept_empty_tree,
                write,
                options,
            } => match accept_empty_tree {
                true => (
                    Command::Write(WritingCommand::AcceptEmptyTree, write.into()),
                    options,
                ),
                false => (Command::Read(Reading::Doctor { dirty_after }), options),
            },
            CommandWord::Gc {
                accept_no_pointers: accepts_no_pointers,
                write,
                options,
            } => {
                let command = WritingCommand::Gc { accepts_no_pointers };
                (Command::Write(command, write.into()), options)
            }
            CommandWord::Cleanup {
                ended_jobs,
                write,
                options,
            } => {
                let command = WritingCommand::Cleanup { ended_jobs };
                (Command::Write(command, write.into()), options)
            }
            CommandWord::Switchover {
                to,
                force,
                timeout,
                write,
                options,
            } => {
                let switchover = SwitchoverOptions { to, force, timeout };
                (Command::Switchover(switchover, write.into()), options)
            }
            CommandWord::Job { word } => word.into_parts(),
            CommandWord::Checkpoint { word } => word.into_parts(),
            CommandWord::Watch { options } => (Command::Watch, options),
            CommandWord::Import { file, write, options } => (Command::Import(file, write.into()), options),
            CommandWord::Export { file, options } => (Command::Read(Reading::Export { file }), options),
            CommandWord::Config { options } => (Command::Config, options),
            CommandWord::Completions { completions, options } => (Command::Completions(completions), options),
            CommandWord::Man { man, options } => (Command::Man(man), options),
        };
        (command, self.options.merged_with(options))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use ha_cli::OutputFormat;

    use super::*;
    use crate::layout::LayoutChoice;

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
