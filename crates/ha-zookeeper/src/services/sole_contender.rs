//! Contending where nobody else does: by an operator's tool, or a clean-up.

use ha_core::environment::IdSource;
use ha_core::ids::{ComponentId, LeaderSessionId};
use ha_core::{Error, Result};

use crate::client::{ZkCode, ZooKeeperClient};
use crate::codec::LatchData;
use crate::fence::LeadershipFence;
use crate::latch::{LatchDecision, LatchNode, LeaderLatch, decide};
use crate::paths::ClusterPaths;

/// Contends, and claims at once or not at all. The node that was made stays for the caller to give up.
///
/// # Errors
/// `NotLeader` (nothing changed), naming who leads or contends; what ZooKeeper answers.
pub(super) async fn contend_alone(
    latch: &mut LeaderLatch,
    client: &dyn ZooKeeperClient,
    paths: &ClusterPaths,
    ids: &dyn IdSource,
) -> Result<(LatchNode, LeadershipFence)> {
    let node = latch.enter(client).await?;
    let latches = paths.latches();
    let names = children(client, &latches).await?;
    let mut other = first_other(&names, &node.name).map(|name| paths.latch(name));
    if other.is_none() {
        other = named_contender(client, paths).await?;
    }
    if let (LatchDecision::Lowest, None) = (decide(&names, &node.name), &other) {
        let session = LeaderSessionId::random(ids);
        if let Some(claim) = latch.claim(client, &node, session).await? {
            let fence = LeadershipFence::new();
            fence.granted(claim.fence(&node));
            latch.note_granted();
            let version = claim.version;
            return Ok((LatchNode { version, ..node }, fence));
        }
    }
    let who = match &other {
        Some(path) => who(client, path).await,
        None => "another process".to_owned(),
    };
    Err(
        Error::not_leader(format!("{who} stands in the election of this cluster; nothing was changed"))
            .at(other.unwrap_or(latches))
            .advise(
                "stop every process of the cluster first; the latch of one that was killed stays for a session timeout",
            ),
    )
}

/// The one of the others that is first in line, or a foreign one.
fn first_other<'a>(names: &'a [String], own: &str) -> Option<&'a String> {
    let sequence = |name: &str| ClusterPaths::parse_latch_name(name).map(|(_, sequence)| sequence);
    let others = names.iter().filter(|name| *name != own);
    others.min_by_key(|name| sequence(name))
}

/// Who made a latch, in words.
async fn who(client: &dyn ZooKeeperClient, path: &str) -> String {
    let data = client.get(path).await.ok();
    let latch = data.and_then(|(data, _)| LatchData::decode(path, &data).ok());
    let Some(latch) = latch else {
        return "a process whose latch cannot be read".to_owned();
    };
    let what = match (&latch.tool, latch.leader_session_id) {
        (Some(tool), _) => format!("the tool {tool},"),
        (None, Some(_)) => "the leader".to_owned(),
        (None, None) => "the process".to_owned(),
    };
    format!(
        "{what} {:?} (host {:?}, process id {})",
        latch.process, latch.host, latch.pid
    )
}

/// The latch of a process that contends in an election beside the cluster's own.
pub(super) async fn named_contender(
    client: &dyn ZooKeeperClient,
    paths: &ClusterPaths,
) -> Result<Option<String>> {
    for name in children(client, &paths.leader()).await? {
        let Some(election) = named_election(&name) else {
            continue;
        };
        let paths = paths.for_named_election(&election);
        let latches = children(client, &paths.latches()).await?;
        let is_latch = |name: &&String| ClusterPaths::parse_latch_name(name).is_some();
        if let Some(latch) = latches.iter().find(is_latch) {
            return Ok(Some(paths.latch(latch)));
        }
    }
    Ok(None)
}

/// The component whose election has its latches in the folder `name`.
pub(super) fn named_election(name: &str) -> Option<ComponentId> {
    ComponentId::custom(name.strip_prefix("latch-")?).ok()
}

/// The names of the children; none where the node is not there.
pub(super) async fn children(client: &dyn ZooKeeperClient, folder: &str) -> Result<Vec<String>> {
    match client.list(folder).await {
        Ok((names, _)) => Ok(names),
        Err(error) if error.code == ZkCode::NoNode => Ok(Vec::new()),
        Err(error) => Err(error.at(folder).not_applied()),
    }
}
