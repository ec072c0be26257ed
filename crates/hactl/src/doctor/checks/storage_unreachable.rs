use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "storage-unreachable";

/// The storage cannot be read.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let Err(unreached) = &snapshot.storage else {
        return Ok(Vec::new());
    };
    Ok(vec![
        Finding::new(ID, Severity::Error, &unreached.reason)
            .at_file(&unreached.place)
            .because("without the storage no job is recovered and no checkpoint is completed")
            .advise("check high-availability.storageDir, that it is mounted, and that this user may read it"),
    ])
}
