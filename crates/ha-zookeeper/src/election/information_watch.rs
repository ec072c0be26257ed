use std::sync::Arc;
use std::time::Duration;

use ha_core::election::{LeaderElectionEvent, LeaderInformation};
use ha_core::ids::ComponentId;

use super::shared::Shared;
use crate::client::{NodeEvent, NodeWatch, ZkCode, ZkResult, ZooKeeperClient};
use crate::codec::ConnectionInfo;

/// The wait after a read that failed.
const RETRY: Duration = Duration::from_millis(100);

/// Tells the service what stands at the leader information of `component`, now and after each change, until the
/// session is over. Whether that is to be written again is the service's decision.
pub(super) async fn watch_information(
    shared: Arc<Shared>,
    client: Arc<dyn ZooKeeperClient>,
    component: ComponentId,
) {
    let path = shared.paths.connection_info(&component);
    loop {
        let (information, watch) = match read(client.as_ref(), &path).await {
            Ok(read) => read,
            Err(ZkCode::SessionOver) => return,
            Err(_) => {
                shared.clock().sleep(RETRY).await;
                continue;
            }
        };
        shared.tell(LeaderElectionEvent::InformationChanged {
            component: component.clone(),
            information,
        });
        if watch.await == NodeEvent::SessionOver {
            return;
        }
    }
}

async fn read(
    client: &dyn ZooKeeperClient,
    path: &str,
) -> Result<(Option<LeaderInformation>, NodeWatch), ZkCode> {
    let found: ZkResult<_> = loop {
        match client.get_and_watch(path).await {
            Err(error) if error.code == ZkCode::NoNode => {}
            other => break other,
        }
        // A get on a missing node arms nothing.
        match client.exists_and_watch(path).await {
            Ok((None, watch)) => return Ok((None, watch)),
            Ok((Some(_), _)) => {}
            Err(error) => break Err(error),
        }
    };
    let (data, _, watch) = found.map_err(|error| error.code)?;
    // Unreadable is as good as missing: the service writes its own again.
    Ok((ConnectionInfo::decode(path, &data).unwrap_or_default(), watch))
}
