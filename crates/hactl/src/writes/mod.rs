//! The commands that change a cluster, and the frame that they share.
//!
//! A command makes a plan of what is there: steps of changes to znodes and files. Without `--apply` the plan is shown and
//! nothing is written. With it the command contends for leadership, for no component, and goes on only if no other process
//! stands in the election; then it makes its plan anew and executes it. Every write of znodes carries the fence of the
//! grant, and right before a file is touched the grant is proved. In the mode `filesystem` the lock of the folder takes
//! the place of the grant.
//!
//! Each change that is made is one JSON line, on stderr or in the file of `--audit`, durable before the next change:
//! `{"time","who":{"user","uid","host","pid"},"command","cluster","change":{…},"error"}`; a change is that of [`Changes`].

mod accept_empty_tree;
mod audit;
mod change;
mod changes;
mod cleanup;
mod command;
mod forget;
mod frame;
mod gc;
mod grant;
mod interruption;
mod job_znodes;
mod plan;
mod restore;
mod view;

pub use change::{Action, Change, Outcome};
pub use changes::Changes;
pub use command::WritingCommand;
pub use frame::WriteOptions;

pub(crate) use audit::Audit;
pub(crate) use changes::push_changes;
pub(crate) use frame::{Written, write};
pub(crate) use interruption::Interruption;
pub(crate) use job_znodes::size as size_of;
use plan::{Plan, Step, Work};
use view::View;

use crate::progress::Progress;
pub(crate) use view::shares_results;

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::settled;
