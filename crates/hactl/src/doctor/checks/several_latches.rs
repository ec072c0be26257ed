use std::collections::BTreeMap;

use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "several-latches-of-a-session";

/// A session with more than one latch in an election. Latches that no session owns are told by themselves.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let mut findings = Vec::new();
    for election in &snapshot.tree()?.elections {
        let mut owners = BTreeMap::<i64, Vec<&str>>::new();
        for latch in election.latches.iter().filter(|latch| latch.owner != 0) {
            owners.entry(latch.owner).or_default().push(&latch.path);
        }
        findings.extend(owners.into_iter().filter_map(|(owner, paths)| {
            let (last, others) = paths.split_last()?;
            let first = others.first()?;
            let found = format!("the session {owner:#x} has {} latches, the first of them {first}", paths.len());
            Some(
                Finding::new(ID, Severity::Error, found)
                    .at_znode(*last)
                    .because("the process gives up one of them and goes on waiting behind the other: nobody leads then")
                    .advise("restart the process that owns the session; its latches go with it"),
            )
        }));
    }
    Ok(findings)
}
