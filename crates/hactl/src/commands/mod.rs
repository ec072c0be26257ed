//! One file a command: what it reads, the document it gives, the table it shows.

mod blobs;
mod checkpoints;
mod config;
#[cfg(test)]
mod golden;
mod jobs;
mod leaders;
mod results;
mod tree;
mod watch;

pub use blobs::{Blob, Blobs};
pub use checkpoints::{Checkpoint, Checkpoints};
pub use config::{Config, ConfigEntry};
pub use jobs::{Job, Jobs};
pub(crate) use leaders::read_leaders;
pub use leaders::{Contender, Leader, Leaders, Process};
pub use results::{CleanUp, RecordedIn, RecordedResult, Results};
pub use tree::{Tree, TreeNode};
pub(crate) use watch::watch;
pub use watch::{WatchEvent, WatchLine};
