use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use ha_core::election::{LeaderElectionDriver, LeaderInformation};
use ha_core::environment::{BootInstant, TaskScope};
use ha_core::ids::{ComponentId, LeaderSessionId};
use ha_core::{Error, ErrorKind, Result};

use super::publication::Publisher;
use super::shared::{Command, Shared};

/// The shortest time that leaving the election is given.
const SHORTEST_CLOSE: Duration = Duration::from_secs(1);

/// The latch of this process in the election of one cluster.
///
/// Dropping it without [`close`](LeaderElectionDriver::close) leaves the election in the background; at the
/// latest everything of it ends with the session.
pub struct ZooKeeperLeaderElectionDriver {
    shared: Arc<Shared>,
    publisher: Publisher,
    tasks: TaskScope,
}

impl ZooKeeperLeaderElectionDriver {
    pub(super) fn new(shared: Arc<Shared>, publisher: Publisher, tasks: TaskScope) -> Self {
        Self {
            publisher,
            shared,
            tasks,
        }
    }
}

#[async_trait]
impl LeaderElectionDriver for ZooKeeperLeaderElectionDriver {
    fn has_leadership(&self, session: LeaderSessionId) -> bool {
        self.shared.session.gate().has_leadership(session)
    }

    fn location(&self) -> Option<String> {
        self.shared.latch()
    }

    fn ended_at(&self, session: LeaderSessionId) -> Option<BootInstant> {
        self.shared.session.gate().ended_at(session)
    }

    async fn publish(&self, component: &ComponentId, information: &LeaderInformation) -> Result<()> {
        self.publisher.publish(component, information).await
    }

    async fn withdraw(&self, component: &ComponentId) -> Result<()> {
        self.publisher.withdraw(component).await
    }

    fn end_leadership(&self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        if let Some(session) = self.shared.session.gate().end_leadership() {
            self.shared.fence.ended(session);
        }
    }

    async fn revoked(&self, session: LeaderSessionId) {
        self.shared.command(Command::Revoked(session));
    }

    async fn close(&self) -> Result<()> {
        self.end_leadership();
        self.tasks.cancellation().cancel();
        let mut left = self.shared.left.subscribe();
        let bound = (self.shared.session.session_timeout() / 2).max(SHORTEST_CLOSE);
        tokio::select! {
            biased;
            result = left.wait_for(Option::is_some) => match result {
                Ok(result) => result.clone().unwrap_or(Ok(())),
                Err(_) => Ok(()),
            },
            () = self.shared.clock().sleep(bound) => Err(Error::new(
                ErrorKind::Unavailable,
                format!("leadership could not be given up within {} ms", bound.as_millis()),
            )
            .at(self.shared.paths.latches())
            .advise("nothing: it ends with the ZooKeeper session")),
        }
    }
}
