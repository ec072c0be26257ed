use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "unfinished-import";

/// The import of the cluster is under way, or was cut off.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let stored = snapshot.storage()?;
    let Some(Ok(file)) = &stored.identity.what else {
        return Ok(Vec::new());
    };
    let Some(archive) = &file.importing else {
        return Ok(Vec::new());
    };
    let found = format!(
        "the cluster is being imported, or its import was cut off (SHA-256 of the archive's manifest: {archive})"
    );
    Ok(vec![
        Finding::new(ID, Severity::Error, found)
            .at_file(&stored.identity.place)
            .because(
                "jobs, checkpoints or results may be missing; processes refuse to lead until it is whole",
            )
            .advise("repeat `hactl import --apply` with the same archive: it goes on"),
    ])
}
