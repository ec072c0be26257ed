use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::sizes::LIMIT;
use crate::doctor::snapshot::Snapshot;

const ID: &str = "children-near-limit";

/// A node whose listing comes near the server's limit.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let crowded = snapshot.tree()?.sizes.children.iter();
    Ok(crowded
        .map(|node| {
            let (bytes, count) = node.what;
            let found = format!("the names of its {count} children take {bytes} of {LIMIT} bytes");
            Finding::new(ID, Severity::Warning, found)
                .at_znode(&node.place)
                .because(snapshot.own_or_flinks(
                    "beyond jute.maxbuffer (1 MiB by default) ZooKeeper's own clients, as zkCli.sh, cannot list the node any more; this program's can",
                    "beyond jute.maxbuffer (1 MiB by default) clients cannot list the node any more, and so not recover",
                ))
                .advise("let jobs end and be cleaned up, give jobs to another cluster-id, or raise jute.maxbuffer of servers and clients")
        })
        .collect())
}
