//! `hactl`: what is there, readable.
//!
//! Every command only reads unless it is given `--apply`: it opens a ZooKeeper session, asks, and closes the session
//! again; in the mode `filesystem` it reads the files. What cannot be read is shown with its path and the reason, beside
//! the rest.
//!
//! # Changes
//! `gc`, `cleanup`, `job forget`, `checkpoint restore` and `doctor --accept-empty-tree` show what they would change, and
//! change it with `--apply`, as the leader of the cluster: while one of its processes stands in the election they refuse.
//! See [`Changes`], [`WriteOptions`]. `switchover` asks the leader to step down ([`Switchover`]), `job cancel` to end a job
//! ([`Cancellation`]).
//!
//! # Flink's data
//! The same commands read the clusters of Apache Flink 1.13 to 2.x (`--layout`, which is told by what is there unless it
//! is given), with Flink's own configuration keys. What its pointers name is looked at where it lies on this machine;
//! `--map-path FROM=TO` says where a copy lies. What Flink does not record is `null`: names of processes, epochs,
//! checksums. `doctor` makes those of its checks that hold for Flink, and `watch` follows its leaders and jobs.
//!
//! # Exit codes
//! 0; 1 when something is broken or what was asked for is not there; 2 for wrong usage or configuration; 3 when
//! ZooKeeper or the storage cannot be reached.
//!
//! # Many jobs
//! 33,000 jobs, whose names alone are more than ZooKeeper's own clients take, are read a part at a time: `jobs` and
//! `doctor` take about 1 KiB a job, and `doctor` 700 bytes a checkpoint. Where stderr is a terminal a bar on it shows how
//! far it is.
//!
//! # JSON
//! With `--output json` each command writes one document. Every document begins with
//! `"clusterId"`, `"mode"` (`zookeeper` or `filesystem`) and `"location"` (what was read), and ends with `"broken"`:
//! a list of `{"name","path","reason","candidates":[…]}`. The fields between are documented at [`Leaders`], [`Jobs`],
//! [`Checkpoints`], [`Results`], [`Blobs`], [`Tree`], [`Doctor`] and [`Export`]. [`Config`] is a document of its own, and `hactl watch`
//! writes one object a line, see [`WatchLine`]. Times are milliseconds since 1970 by the clock of whoever wrote them.

mod archive;
mod arguments;
mod cancel;
mod cluster;
mod command;
mod commands;
mod doctor;
mod examples;
mod layout;
mod moving;
mod progress;
mod render;
mod report;
mod run;
mod switchover;
mod tool_options;
mod writes;
mod writing_arguments;

pub use arguments::Arguments;
pub use cancel::{CancelOptions, Cancellation, CancelledJob};
pub use cluster::{Backend, Cluster, ClusterHeader, ReadingOptions};
pub use command::{Command, Reading};
pub use commands::{
    Blob, Blobs, Checkpoint, Checkpoints, CleanUp, Config, ConfigEntry, Contender, Job, Jobs, Leader,
    Leaders, Process, RecordedIn, RecordedResult, Results, Tree, TreeNode, WatchEvent, WatchLine,
};
pub use doctor::{Doctor, Finding, Severity, Skipped};
pub use layout::{Layout, LayoutChoice, PathMapping, PathMappings};
pub use moving::{Export, MovedCounts};
pub use report::Report;
pub use run::run;
pub use switchover::{Switchover, SwitchoverOptions};
pub use tool_options::ToolOptions;
pub use writes::{Action, Change, Changes, Outcome, WriteOptions, WritingCommand};
