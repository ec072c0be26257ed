use std::sync::{Arc, Weak};
use std::time::Duration;

use ha_services::environment::{BootInstant, Clock};
use ha_services::ids::{ComponentId, LeaderSessionId};
use ha_services::{
    Environment, Error, ErrorKind, HighAvailabilityServices as _, LeaderContender, LeaderElectionService,
    Result, async_trait,
};
use ha_zookeeper::services::ZooKeeperHaServices;
use tokio::sync::watch;

/// The longest that leadership may take, and a leader to be told.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// One that stands in the election of a component, and publishes its address as soon as it leads.
pub(crate) struct Candidate {
    election: Arc<dyn LeaderElectionService>,
    clock: Arc<dyn Clock>,
    term: watch::Receiver<Option<Result<Term>>>,
}

/// Leadership that was granted and is published.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    pub(crate) session: LeaderSessionId,
    pub(crate) granted_at: BootInstant,
    pub(crate) published_at: BootInstant,
}

struct Contender {
    address: String,
    clock: Arc<dyn Clock>,
    /// Which holds this.
    election: Weak<dyn LeaderElectionService>,
    term: watch::Sender<Option<Result<Term>>>,
}

impl Contender {
    async fn publish(&self, session: LeaderSessionId) -> Result<Term> {
        let granted_at = self.clock.now();
        let election = self
            .election
            .upgrade()
            .ok_or_else(|| Error::closed("the election"))?;
        if !election.confirm_leadership(session, None).await? {
            return Err(Error::not_leader("the term was over before it was published"));
        }
        Ok(Term {
            session,
            granted_at,
            published_at: self.clock.now(),
        })
    }
}

#[async_trait]
impl LeaderContender for Contender {
    async fn grant_leadership(&self, session: LeaderSessionId) {
        let term = self.publish(session).await;
        self.term.send_replace(Some(term));
    }

    async fn revoke_leadership(&self) {}

    async fn handle_error(&self, _: Error) {}

    fn address(&self) -> String {
        self.address.clone()
    }
}

impl Candidate {
    /// Stands in the election.
    pub(crate) async fn stand(
        services: &ZooKeeperHaServices,
        environment: &Environment,
        component: ComponentId,
        address: String,
    ) -> Result<Self> {
        let election = services.leader_election(component);
        let (sender, term) = watch::channel(None);
        election
            .start(Arc::new(Contender {
                address,
                clock: Arc::clone(&environment.clock),
                election: Arc::downgrade(&election),
                term: sender,
            }))
            .await?;
        Ok(Self {
            election,
            clock: Arc::clone(&environment.clock),
            term,
        })
    }

    /// Waits until it leads and has published so.
    pub(crate) async fn lead(&mut self) -> Result<Term> {
        let term = tokio::select! {
            term = self.term.wait_for(Option::is_some) => term.ok().and_then(|term| term.clone()),
            () = self.clock.sleep(PATIENCE) => None,
        };
        term.unwrap_or_else(|| {
            Err(Error::new(
                ErrorKind::Unavailable,
                "leadership was not granted in time",
            ))
        })
    }

    /// Publishes another address in this term.
    pub(crate) async fn publish(&self, term: Term, address: &str) -> Result<()> {
        match self
            .election
            .confirm_leadership(term.session, Some(address))
            .await?
        {
            true => Ok(()),
            false => Err(Error::not_leader("the term is over")),
        }
    }

    /// Leaves the election.
    pub(crate) async fn leave(self) -> Result<()> {
        self.election.stop().await
    }
}
