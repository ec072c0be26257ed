use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "claimed-latch-not-first";

/// A latch with a claim that is not the first. Claims are made by the first only, and later ones come behind it.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let elections = snapshot.tree()?.elections.iter();
    Ok(elections
        .flat_map(|election| election.latches.iter().skip(1))
        .filter_map(|latch| {
            let session = latch.term()?;
            Some(
                Finding::new(ID, Severity::Error, format!("it claims leadership as {session}, and is not first"))
                    .at_znode(&latch.path)
                    .because("two processes may take themselves for the leader; the writes of both are still fenced")
                    .advise("restart the process of this latch; if the node stays, its session is dead and ends by its timeout"),
            )
        })
        .collect())
}
