//! `hactl watch`: what changes, one line an event.
//!
//! Watches of ZooKeeper fire once and do not say what happened, and nothing is heard while the connection is down. So
//! nothing here counts on hearing of each change: after whatever happens, what it may be about is read again, and the
//! events are the difference between what was read before and what is read now. What came and went in between is not
//! told; the latest state always is.
//!
//! | file | holds |
//! |---|---|
//! | `watched_state` | the machine: from snapshots to events, without I/O |
//! | `snapshot` | what is read |
//! | `watched_tree` | where each of it stands, and how it is written, by layout |
//! | `subject` | the znodes that are followed: how each is read and watched |
//! | `readings` | all that was read, kept up to date znode by znode |
//! | `armed` | the watches |
//! | `follower` | the task: connection, reading again, telling |
//! | `lines` | how events are written |
//! | `reader` | whether anybody reads them |
//! | `command` | the command: opening, signals, the end |

mod armed;
mod command;
mod event;
mod follower;
mod lines;
mod reader;
mod readings;
mod snapshot;
mod subject;
mod watched_state;
mod watched_tree;

pub(crate) use command::watch;
pub use event::{WatchEvent, WatchLine};

#[cfg(test)]
mod tests;
