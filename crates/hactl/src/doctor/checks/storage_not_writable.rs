use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "storage-not-writable";

/// A folder of the storage to which this user may not write.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let unwritable = snapshot.storage()?.unwritable.as_ref().map_err(Clone::clone)?;
    Ok(unwritable
        .iter()
        .map(|folder| {
            Finding::new(ID, Severity::Warning, format!("this user may not write there: {}", folder.what))
                .at_file(&folder.place)
                .because("a process of the cluster that runs as this user cannot store jobs or checkpoints")
                .advise("where the processes run as another user, run this command as that user; else correct the permissions or the mount")
        })
        .collect())
}
