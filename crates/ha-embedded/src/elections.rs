use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use futures::future;
use ha_core::election::{DefaultLeaderElectionService, LeaderElectionDriverFactory, LeaderElectionService};
use ha_core::environment::Environment;
use ha_core::error::Result;
use ha_core::ids::ComponentId;

/// The elections that a services object handed out, so that closing it stops them.
///
/// Each is on its own, so that several contenders of one process may stand for one component.
pub(crate) struct Elections {
    environment: Environment,
    revoke_timeout: Duration,
    handed_out: Mutex<Vec<Weak<DefaultLeaderElectionService>>>,
}

impl Elections {
    pub(crate) fn new(environment: Environment, revoke_timeout: Duration) -> Self {
        Self {
            environment,
            revoke_timeout,
            handed_out: Mutex::default(),
        }
    }

    /// A fresh, not yet started service.
    pub(crate) fn election(
        &self,
        factory: Arc<dyn LeaderElectionDriverFactory>,
        component: ComponentId,
    ) -> Arc<dyn LeaderElectionService> {
        let election =
            DefaultLeaderElectionService::new(factory, self.environment.clone(), self.revoke_timeout);
        let mut handed_out = self.handed_out.lock().unwrap_or_else(PoisonError::into_inner);
        handed_out.retain(|election| election.strong_count() > 0);
        handed_out.push(Arc::downgrade(&election));
        election.election(component)
    }

    /// Stops all of them at the same time. Those that are made afterwards are refused by their driver.
    pub(crate) async fn close(&self) -> Result<()> {
        let elections: Vec<_> = self
            .handed_out
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .filter_map(Weak::upgrade)
            .collect();
        let closed = future::join_all(elections.iter().map(|election| election.close())).await;
        closed.into_iter().collect()
    }
}
