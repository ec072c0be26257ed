use std::path::PathBuf;
use std::time::Duration;

use ha_cli::{CompletionsArguments, ManArguments};
use ha_core::ids::JobId;

use crate::cancel::CancelOptions;
use crate::switchover::SwitchoverOptions;
use crate::writes::{WriteOptions, WritingCommand};

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
    /// Make a cluster of an archive, or show what would be made.
    Import(PathBuf, WriteOptions),
    /// Change something, or show what would be changed.
    Write(WritingCommand, WriteOptions),
    /// End a job, or show who would be asked to.
    Cancel(CancelOptions, WriteOptions),
    /// Move leadership, or show how it would be moved.
    Switchover(SwitchoverOptions, WriteOptions),
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
