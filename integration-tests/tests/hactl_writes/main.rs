//! The commands of `hactl` that change a cluster, on a real ZooKeeper: `gc` deletes exactly the orphans of a cluster whose
//! processes were ended, and nothing in a dry run or while one runs; a command that is killed half-way leaves no pointer to
//! a missing file, and is repeated; one that is paused until its session is over writes nothing more; a lost tree is
//! accepted; a checkpoint is restored; leadership of running processes is moved, and their job ends as it should; a
//! running job is cancelled.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "tests")]

mod cancelled;
mod gc;
mod interrupted;
mod leadership;
mod made;
mod repairs;
