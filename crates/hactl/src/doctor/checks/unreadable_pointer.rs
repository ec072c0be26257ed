use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::named_files::FLINKS;
use crate::doctor::snapshot::Snapshot;

const ID: &str = "unreadable-pointer";

/// A pointer that cannot be read.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let pointers = snapshot.tree()?.pointers.iter();
    Ok(pointers
        .filter_map(|pointer| {
            let reason = pointer.named.as_ref().err()?;
            Some(
                Finding::new(ID, Severity::Error, reason)
                    .at_znode(&pointer.path)
                    .because(snapshot.own_or_flinks(
                        "the job or the checkpoint cannot be recovered; its files are kept",
                        FLINKS,
                    ))
                    .advise("put its data back from a copy; a newer release may have made it"),
            )
        })
        .collect())
}
