use std::path::PathBuf;
use std::sync::{Arc, Weak};

use anyhow::{Context as _, Result};
use async_trait::async_trait;
use ha_services::ids::{ComponentId, LeaderSessionId};
use ha_services::{
    Configuration, Environment, Error, HighAvailabilityServices, LeaderContender, LeaderElectionService,
    LeaderInformation, LeaderRetrievalListener, LeaderRetrievalService, ProcessDescription,
    create_available_or_embedded_services_for,
};

use super::LeadershipRecorder;

/// What a [`Contender`] is.
#[derive(Clone, Debug)]
pub struct ContenderOptions {
    /// The name of the process: in its latch, its addresses and its record.
    pub name: String,
    /// The configuration that its services are made of.
    pub configuration: Configuration,
    /// What it contends for.
    pub components: Vec<ComponentId>,
    /// The folder of its record.
    pub records: PathBuf,
}

/// One HA process, made through the public library: it contends, confirms each of its terms, and its leadership is
/// recorded.
pub struct Contender {
    services: Arc<dyn HighAvailabilityServices>,
    elections: Vec<Arc<dyn LeaderElectionService>>,
    followed: Vec<Arc<dyn LeaderRetrievalService>>,
    _recorders: Vec<LeadershipRecorder>,
}

impl Contender {
    /// Opens the services and enters the election of every component.
    ///
    /// # Errors
    /// The services cannot be made, or an election cannot be entered.
    pub async fn start(options: ContenderOptions, environment: Environment) -> Result<Self> {
        anyhow::ensure!(!options.components.is_empty(), "nothing to contend for");
        let process = ProcessDescription {
            name: Some(options.name.clone()),
            wait_for_zookeeper: true,
        };
        let services =
            create_available_or_embedded_services_for(process, &options.configuration, environment).await?;
        let mut contender = Self {
            services,
            elections: Vec::new(),
            followed: Vec::new(),
            _recorders: Vec::new(),
        };
        for component in options.components {
            let election = contender.services.leader_election(component.clone());
            contender._recorders.push(LeadershipRecorder::start(
                &options.records,
                &options.name,
                component.as_str(),
                Arc::clone(&election),
            )?);
            let callbacks = Confirming {
                address: format!("http://{}:1", options.name),
                election: Arc::downgrade(&election),
            };
            election.start(Arc::new(callbacks)).await?;
            contender.elections.push(election);
        }
        Ok(contender)
    }

    /// All that the library offers, to write with.
    pub fn services(&self) -> &Arc<dyn HighAvailabilityServices> {
        &self.services
    }

    /// The election of the first component.
    ///
    /// # Errors
    /// None: there always is one.
    pub fn election(&self) -> Result<&Arc<dyn LeaderElectionService>> {
        self.elections.first().context("it contends for nothing")
    }

    /// The term that it leads the first component in, at this instant.
    pub async fn term(&self) -> Option<LeaderInformation> {
        let election = self.elections.first()?;
        let term = election.subscribe().borrow().clone()?;
        election
            .has_leadership(term.leader_session_id)
            .await
            .then_some(term)
    }

    /// Follows the leader of a component of the user's own, until it closes.
    ///
    /// # Errors
    /// No component can have this name.
    pub async fn follow(&mut self, component: &str) -> Result<()> {
        let retriever = self.services.leader_retriever(ComponentId::custom(component)?);
        retriever.start(Arc::new(Ignoring)).await?;
        self.followed.push(retriever);
        Ok(())
    }

    /// Gives leadership up and closes everything, in order.
    ///
    /// # Errors
    /// Leadership could not be given up in ZooKeeper.
    pub async fn close(&self) -> Result<()> {
        Ok(self.services.close().await?)
    }
}

/// Confirms each grant, so that retrievers find this leader.
struct Confirming {
    address: String,
    election: Weak<dyn LeaderElectionService>,
}

#[async_trait]
impl LeaderContender for Confirming {
    async fn grant_leadership(&self, session: LeaderSessionId) {
        if let Some(election) = self.election.upgrade()
            && let Err(error) = election.confirm_leadership(session, None).await
        {
            tracing::warn!(%session, %error, "not confirmed");
        }
    }

    async fn revoke_leadership(&self) {}

    async fn handle_error(&self, error: Error) {
        tracing::warn!(%error, "error of the election");
    }

    fn address(&self) -> String {
        self.address.clone()
    }
}

/// Does nothing with what it is told.
struct Ignoring;

#[async_trait]
impl LeaderRetrievalListener for Ignoring {
    async fn notify_leader(&self, _leader: Option<LeaderInformation>) {}

    async fn handle_error(&self, _error: Error) {}
}
