use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::named_files;
use crate::doctor::snapshot::{FileState, Snapshot};

const ID: &str = "flink-file-elsewhere";

/// A pointer of Flink to a file that is not on a file system of this machine, and so was not looked at.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    named_files::find(snapshot, |_, named| {
        (named.state == FileState::Elsewhere).then(|| {
            Finding::new(
                ID,
                Severity::Info,
                "the file is not on a file system of this machine",
            )
            .because("whether it is there, and whole, was not seen")
            .advise("where there is a copy, or a mount, say where it lies by --map-path FROM=TO")
        })
    })
}
