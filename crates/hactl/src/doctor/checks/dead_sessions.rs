use crate::doctor::check::{Check, Outcome};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "latch-of-a-dead-session";

/// A latch of a process that is gone. It cannot be told from outside: this check is always skipped, and says so.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    snapshot.tree()?;
    Err("which sessions are alive is told by an admin command of the servers only (`dump`); a dead one's latch goes by \
         itself after its session timeout"
        .to_owned())
}
