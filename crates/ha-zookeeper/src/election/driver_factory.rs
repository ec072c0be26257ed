use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use ha_core::Result;
use ha_core::election::{LeaderElectionDriver, LeaderElectionDriverFactory, LeaderElectionEvents};
use ha_core::environment::Environment;
use tokio::sync::watch;

use super::ZooKeeperLeaderElectionDriver;
use super::contention::Contention;
use super::publication::Publisher;
use super::shared::Shared;
use crate::codec::LatchData;
use crate::fence::LeadershipFence;
use crate::identity::LeadershipPrecondition;
use crate::latch::LeaderLatch;
use crate::paths::ClusterPaths;
use crate::session::ZooKeeperSession;

/// Makes election drivers on one session; at most one is open at a time. One that is made while another still
/// leaves the election enters it afterwards.
pub struct ZooKeeperLeaderElectionDriverFactory {
    session: ZooKeeperSession,
    paths: ClusterPaths,
    fence: LeadershipFence,
    latch: LatchData,
    precondition: Arc<dyn LeadershipPrecondition>,
    environment: Environment,
    /// How the newest driver left the election, once it has.
    newest: Mutex<watch::Receiver<Option<Result<()>>>>,
}

impl ZooKeeperLeaderElectionDriverFactory {
    /// Contends below [`ClusterPaths::latches`] of `paths` as the process that `latch` describes. `fence` is told
    /// of each grant before the contenders are, and of its end before they are revoked. `precondition` is asked
    /// before each latch is made.
    pub fn new(
        session: ZooKeeperSession,
        paths: ClusterPaths,
        fence: LeadershipFence,
        latch: LatchData,
        precondition: Arc<dyn LeadershipPrecondition>,
        environment: Environment,
    ) -> Self {
        Self {
            session,
            paths,
            fence,
            latch,
            precondition,
            environment,
            newest: Mutex::new(watch::channel(Some(Ok(()))).1),
        }
    }
}

#[async_trait]
impl LeaderElectionDriverFactory for ZooKeeperLeaderElectionDriverFactory {
    async fn create(&self, events: LeaderElectionEvents) -> Result<Arc<dyn LeaderElectionDriver>> {
        self.fence.election_started();
        let (shared, commands) = Shared::new(
            self.session.clone(),
            self.paths.clone(),
            self.fence.clone(),
            self.environment.clone(),
            events,
        );
        let before = std::mem::replace(
            &mut *self.newest.lock().unwrap_or_else(PoisonError::into_inner),
            shared.left.subscribe(),
        );
        let tasks = self.environment.task_scope();
        let contention = Contention {
            shared: Arc::clone(&shared),
            latch: LeaderLatch::new(
                self.paths.clone(),
                self.latch.clone(),
                Arc::clone(&self.environment.ids),
            ),
            precondition: Arc::clone(&self.precondition),
            commands,
            closing: tasks.cancellation(),
            before,
            lowest: None,
        };
        tasks.spawn("zookeeper-election", contention.run());
        let publisher = Publisher::new(Arc::clone(&shared), Arc::clone(&self.precondition));
        Ok(Arc::new(ZooKeeperLeaderElectionDriver::new(
            shared, publisher, tasks,
        )))
    }
}
