//! The commands that change a cluster, as they stand on the command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use ha_core::configuration::ConfigValue as _;
use ha_core::ids::{CheckpointId, JobId};

use crate::cancel::CancelOptions;
use crate::command::Command;
use crate::examples::{self, documented};
use crate::tool_options::ToolOptions;
use crate::writes::{WriteOptions, WritingCommand};

/// Whether to write, and where to write it down.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct WriteArguments {
    /// Make the changes; without it nothing is changed, and they are shown
    #[arg(long)]
    apply: bool,

    /// Append each change as one JSON line to FILE, durably, instead of writing it to stderr
    #[arg(long, value_name = "FILE", requires = "apply")]
    audit: Option<PathBuf>,
}

impl From<WriteArguments> for WriteOptions {
    fn from(arguments: WriteArguments) -> Self {
        Self {
            apply: arguments.apply,
            audit: arguments.audit,
        }
    }
}

/// What to do with one job.
#[derive(Debug, Subcommand)]
pub(crate) enum JobWord {
    /// End a running job, by asking the leader of the REST endpoint, and wait until it has ended
    #[command(after_help = examples::CANCEL, after_long_help = documented!(examples::CANCEL, in "cancel/snapshots/hactl__cancel__tests__", "cancel"))]
    Cancel {
        /// The job: 32 hexadecimal digits
        #[arg(value_name = "JOB")]
        job: JobId,
        /// How long to wait for a leader, and then for the end of the job
        #[arg(long, value_name = "DURATION", default_value = "30 s", value_parser = Duration::parse)]
        timeout: Duration,
        #[command(flatten)]
        write: WriteArguments,
        #[command(flatten)]
        options: ToolOptions,
    },
    /// Remove everything that is known of a job: job graph, checkpoints, counter, blobs, result
    #[command(after_help = examples::FORGET, after_long_help = documented!(examples::FORGET, changes "forget"))]
    Forget {
        /// The job: 32 hexadecimal digits
        #[arg(value_name = "JOB")]
        job: JobId,
        #[command(flatten)]
        write: WriteArguments,
        #[command(flatten)]
        options: ToolOptions,
    },
}

/// What to do with one checkpoint.
#[derive(Debug, Subcommand)]
pub(crate) enum CheckpointWord {
    /// Make an older checkpoint of a job its newest one
    #[command(after_help = examples::RESTORE, after_long_help = documented!(examples::RESTORE, changes "restore"))]
    Restore {
        /// The job: 32 hexadecimal digits
        #[arg(value_name = "JOB")]
        job: JobId,
        /// The checkpoint, one of those that `hactl checkpoints JOB` shows
        #[arg(value_name = "ID", value_parser = checkpoint_id)]
        id: CheckpointId,
        #[command(flatten)]
        write: WriteArguments,
        #[command(flatten)]
        options: ToolOptions,
    },
}

type Parts = (Command, ToolOptions);

impl JobWord {
    pub(crate) fn into_parts(self) -> Parts {
        match self {
            Self::Cancel {
                job,
                timeout,
                write,
                options,
            } => {
                let cancel = CancelOptions { job, timeout };
                (Command::Cancel(cancel, write.into()), options)
            }
            Self::Forget { job, write, options } => {
                (Command::Write(WritingCommand::Forget(job), write.into()), options)
            }
        }
    }
}

impl CheckpointWord {
    pub(crate) fn into_parts(self) -> Parts {
        match self {
            Self::Restore {
                job,
                id,
                write,
                options,
            } => {
                let command = WritingCommand::RestoreCheckpoint(job, id);
                (Command::Write(command, write.into()), options)
            }
        }
    }
}

fn checkpoint_id(text: &str) -> Result<CheckpointId, String> {
    let number = text.parse().map_err(|_| "expected a number".to_owned())?;
    CheckpointId::new(number).map_err(|error| error.message().to_owned())
}
