use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::sizes::LIMIT;
use crate::doctor::snapshot::Snapshot;

const ID: &str = "data-near-limit";

/// A node whose data come near the server's limit.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let large = snapshot.tree()?.sizes.data.iter();
    Ok(large
        .map(|node| {
            Finding::new(
                ID,
                severity(node.what),
                format!("its data take {} of {LIMIT} bytes", node.what),
            )
            .at_znode(&node.place)
            .because("beyond the servers' jute.maxbuffer (1 MiB by default) a node cannot be read or written")
            .advise(snapshot.own_or_flinks(
                "find out what wrote it: this program writes at most 8 KiB",
                "find out what wrote it: Flink writes pointers, of less than 1 KiB",
            ))
        })
        .collect())
}

fn severity(bytes: u64) -> Severity {
    if bytes > LIMIT {
        Severity::Error
    } else {
        Severity::Warning
    }
}
