use std::sync::Arc;

use ha_core::ids::ComponentId;

use super::shared::Shared;
use crate::client::{SessionId, ZkCode, ZkResult, ZooKeeperClient};

/// What the health monitor calls it.
const CONDITION: &str = "components that this leader does not contend for";
/// The folder of the latches that all components of a cluster share.
const LATCHES: &str = "/latch";
/// What the folder of a named election's latches begins with; the component's name follows.
const NAMED_LATCHES: &str = "latch-";

/// Reports leader information of others that stands while this process leads: all processes of a cluster contend
/// for the same components, so nobody else leads there, and retrievers follow a process that leads no more
/// (design §4). It is left as it is: its fence would be another's.
///
/// One look a term is enough, half a session timeout after the grant: nobody can write one during the term.
/// Ends with the session.
pub(super) async fn report_unled_components(shared: Arc<Shared>, client: Arc<dyn ZooKeeperClient>) {
    if !shared.paths.latches().ends_with(LATCHES) {
        // A named election leads one component, its own.
        return;
    }
    let wait = shared.session.session_timeout() / 2;
    let unled = loop {
        shared.clock().sleep(wait).await;
        match find(&shared, client.as_ref()).await {
            Ok(unled) => break unled,
            Err(ZkCode::SessionOver) => return,
            Err(code) => tracing::debug!(?code, "could not look for components without a leader"),
        }
    };
    if unled.is_empty() {
        return;
    }
    let unled = unled.join(", ");
    tracing::warn!(
        unled,
        "leader information of processes that do not lead, for components that this leader does not contend for"
    );
    shared.session.health().set_condition(
        CONDITION,
        Some(format!(
            "retrievers follow processes that do not lead: {unled}; let all processes of the cluster contend for \
             the same components, or stop those that the information belongs to"
        )),
    );
}

/// The term is over, and with it what was found.
pub(super) fn forget_unled_components(shared: &Shared) {
    shared.session.health().set_condition(CONDITION, None);
}

/// Leader information that stands, is of another session, and was not written by this driver, each with its
/// owner.
async fn find(shared: &Shared, client: &dyn ZooKeeperClient) -> Result<Vec<String>, ZkCode> {
    let names: ZkResult<_> = client.list(&shared.paths.leader()).await;
    let names = names.map_err(|error| error.code)?.0;
    let own = shared.published_paths();
    let mut unled = Vec::new();
    for name in &names {
        let is_named = names.contains(&format!("{NAMED_LATCHES}{name}"));
        // Folders of latches are no components.
        let Ok(component) = ComponentId::parse(name) else {
            continue;
        };
        let path = shared.paths.connection_info(&component);
        if is_named || own.contains(&path) {
            continue;
        }
        let found = client.exists(&path).await.map_err(|error| error.code)?;
        if let Some(stat) = found
            && stat.ephemeral_owner != client.session_id().0
        {
            unled.push(format!("{path} (of session {})", SessionId(stat.ephemeral_owner)));
        }
    }
    Ok(unled)
}
