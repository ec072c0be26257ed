use ha_core::{Error, ErrorKind, Result};
use ha_zookeeper::client::Operation;
use ha_zookeeper::codec::IdentityData;
use ha_zookeeper::fence::Proof;

use super::job_znodes::size;
use super::{Action, Change, Plan, Step, View, Work};

/// Takes the mark out of the identity that the tree was lost once.
pub(super) async fn plan(view: &View) -> Result<Plan> {
    let mut plan = Plan::default();
    let (nodes, paths) = view.expect_nodes("doctor --accept-empty-tree").await?;
    let path = paths.identity();
    let Some(node) = nodes.get(&path).await? else {
        return Err(Error::new(ErrorKind::NotFound, "the tree has no identity")
            .at(path)
            .not_applied());
    };
    let identity = IdentityData::decode(&path, &node.data)?;
    if !identity.tree_lost {
        plan.notes.push("The tree is not marked as lost.".to_owned());
        return Ok(plan);
    }
    let data = IdentityData {
        tree_lost: false,
        ..identity
    }
    .encode(&path)?;
    plan.steps.push(Step {
        changes: vec![Change::new(
            Action::SetZnode,
            path.clone(),
            size(data.len()),
            None,
        )],
        work: Work::Multi {
            operations: vec![Operation::Set {
                path: path.clone(),
                data: data.clone(),
                version: Some(node.stat.version),
            }],
            proof: Proof::Content { path, data },
        },
    });
    plan.notes
        .push("Files that no pointer names are orphans from then on: `hactl gc` deletes them.".to_owned());
    Ok(plan)
}
