use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "acl-differs";

/// Nodes whose ACL is not that of the others.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let acls = snapshot.tree()?.acls.as_ref().map_err(Clone::clone)?;
    let Some((usual, _)) = acls.iter().max_by_key(|(_, (count, _))| *count) else {
        return Ok(Vec::new());
    };
    let others = acls.iter().filter(|(acl, _)| *acl != usual);
    Ok(others
        .map(|(acl, (count, path))| {
            let found = format!("{count} nodes have the ACL {acl}, most have {usual}; this is one of them");
            Finding::new(ID, Severity::Warning, found)
                .at_znode(path)
                .because("a process that may write to some nodes only fails when it needs the others")
                .advise("find out what made these nodes or changed their ACL, and make them alike")
        })
        .collect())
}
