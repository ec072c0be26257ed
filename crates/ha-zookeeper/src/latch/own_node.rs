use std::sync::Arc;
use std::time::Duration;

use ha_core::environment::Clock;

use super::LatchNode;
use crate::client::{NodeEvent, NodeWatch, ZkCode, ZkResult, ZooKeeperClient};

/// The wait after a read that failed; the connection tells nobody when it is worth trying again.
const RETRY: Duration = Duration::from_millis(100);

/// What others did to the latch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnNodeChange {
    /// It is not there.
    Gone,
    /// It belongs to another session than that of the client. Nobody else knew its uuid before it stood: where it
    /// was made just now, the server has given the client another session without saying so.
    OfAnotherSession,
    /// Somebody else set it: a request to step down.
    Touched,
    /// The session is over.
    SessionOver,
}

/// Follows the own latch by one-shot watches.
pub(crate) struct OwnNode {
    client: Arc<dyn ZooKeeperClient>,
    clock: Arc<dyn Clock>,
    pub(crate) node: LatchNode,
    watch: Option<NodeWatch>,
}

impl OwnNode {
    pub(crate) fn new(client: Arc<dyn ZooKeeperClient>, clock: Arc<dyn Clock>, node: LatchNode) -> Self {
        Self {
            client,
            clock,
            node,
            watch: None,
        }
    }

    /// Reads the node and arms the watch. `None`: it is as this process last wrote it. The request is sent when
    /// the future is first polled.
    pub(crate) async fn read(&mut self) -> ZkResult<Option<OwnNodeChange>> {
        self.watch = None;
        match self.client.get_and_watch(&self.node.path).await {
            Ok((_, stat, watch)) => {
                if stat.ephemeral_owner != self.node.session.0 {
                    return Ok(Some(OwnNodeChange::OfAnotherSession));
                }
                self.watch = Some(watch);
                Ok((stat.version != self.node.version).then_some(OwnNodeChange::Touched))
            }
            Err(error) if error.code == ZkCode::NoNode => Ok(Some(OwnNodeChange::Gone)),
            Err(error) if error.code == ZkCode::SessionOver => Ok(Some(OwnNodeChange::SessionOver)),
            Err(error) => Err(error),
        }
    }

    /// Completes when somebody else has changed the node. May be dropped and called again.
    pub(crate) async fn changed(&mut self) -> OwnNodeChange {
        loop {
            if let Some(watch) = &mut self.watch {
                let event = watch.await;
                self.watch = None;
                if event == NodeEvent::SessionOver {
                    return OwnNodeChange::SessionOver;
                }
            }
            match self.read().await {
                Ok(None) => {}
                Ok(Some(change)) => return change,
                Err(_) => self.clock.sleep(RETRY).await,
            }
        }
    }

    /// Makes the next [`OwnNode::changed`] read at once.
    pub(crate) fn distrust(&mut self) {
        self.watch = None;
    }
}
