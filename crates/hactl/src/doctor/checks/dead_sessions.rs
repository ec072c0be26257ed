use std::collections::BTreeSet;

use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::{Snapshot, Tree};

const ID: &str = "latch-of-a-dead-session";

/// A latch of a process that is gone: no session owns it, or one that is connected to no server. Where not all servers
/// tell their connections, only the first is found, and the check says that it was not made.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let tree = snapshot.tree()?;
    let connected = connected(tree);
    let latches = tree.elections.iter().flat_map(|election| &election.latches);
    let findings: Vec<_> = latches
        .filter_map(|latch| match (latch.owner, &connected) {
            (0, _) => Some(
                Finding::new(ID, Severity::Error, "no session owns it")
                    .at_znode(&latch.path)
                    .because("it never goes by itself: once it is the first, nobody leads")
                    .advise("find out what made it, and delete it by hand"),
            ),
            (owner, Ok(connected)) if !connected.contains(&owner) => Some(
                Finding::new(
                    ID,
                    Severity::Warning,
                    format!("its session {owner:#x} is connected to no server"),
                )
                .at_znode(&latch.path)
                .because("its process is gone or cut off: while it is the first, nobody else leads")
                .advise(
                    "it goes by itself after its session timeout, or its process is back: look again then",
                ),
            ),
            _ => None,
        })
        .collect();
    match connected {
        Err(reason) if findings.is_empty() => Err(reason),
        _ => Ok(findings),
    }
}

/// The sessions that are connected to any server; else why that is not known.
fn connected(tree: &Tree) -> Result<BTreeSet<i64>, String> {
    let mut all = BTreeSet::new();
    for (server, settings) in &tree.servers {
        let settings = settings
            .as_ref()
            .map_err(|reason| format!("{server}: {reason}"))?;
        if settings.members > tree.servers.len() {
            return Err(format!(
                "{server} is one of {} servers, of which high-availability.zookeeper.quorum names {}",
                settings.members,
                tree.servers.len()
            ));
        }
        let sessions = settings.connected.as_ref();
        all.extend(sessions.map_err(|reason| format!("{server}: {reason}"))?);
    }
    match all.is_empty() {
        true => Err("no server told its connections".to_owned()),
        false => Ok(all),
    }
}
