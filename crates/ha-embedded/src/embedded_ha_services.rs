use std::sync::Arc;

use async_trait::async_trait;
use ha_core::blobs::BlobStore;
use ha_core::checkpoints::CheckpointRecoveryFactory;
use ha_core::configuration::{Configuration, HighAvailabilityOptions};
use ha_core::election::LeaderElectionService;
use ha_core::environment::Environment;
use ha_core::error::Result;
use ha_core::health::HealthMonitor;
use ha_core::ids::{ComponentId, JobId};
use ha_core::jobs::{JobGraphStore, JobResultStore, RunningJobsRegistry};
use ha_core::retrieval::{DefaultLeaderRetrievalService, LeaderRetrievalService};
use ha_core::services::HighAvailabilityServices;

use crate::LeadershipControl;
use crate::elections::Elections;
use crate::local_stores::LocalStores;
use crate::registry::{ElectionRegistry, EmbeddedElectionDriverFactory, EmbeddedRetrievalDriverFactory};

/// HA services in the memory of one process.
///
/// Each component has an election of its own: of several contenders, each from its own
/// [`leader_election`](HighAvailabilityServices::leader_election), one leads, and the next one when it stops.
/// Leadership ends only by `stop`, `close` and [`LeadershipControl`]. All data is gone with the value.
///
/// It must be used inside a tokio runtime. Nothing is fenced: there is no second process.
pub struct EmbeddedHaServices {
    registry: Arc<ElectionRegistry>,
    elections: Elections,
    stores: LocalStores,
    environment: Environment,
}

impl EmbeddedHaServices {
    /// Services with the defaults of all options.
    ///
    /// # Errors
    /// None at present.
    pub fn new(environment: Environment) -> Result<Arc<Self>> {
        Self::from_configuration(&Configuration::new(), environment)
    }

    /// Services with the configured cluster id, revoke timeout, poll interval and `delete-on-commit`.
    ///
    /// # Errors
    /// `Invalid` for an option that cannot be read.
    pub fn from_configuration(configuration: &Configuration, environment: Environment) -> Result<Arc<Self>> {
        let stores = LocalStores::in_memory(configuration, &environment)?;
        Ok(Arc::new(Self::over(stores, configuration, environment)?))
    }

    /// The embedded election beside these stores.
    pub(crate) fn over(
        stores: LocalStores,
        configuration: &Configuration,
        environment: Environment,
    ) -> Result<Self> {
        let revoke_timeout = configuration.get(&HighAvailabilityOptions::HA_REVOKE_TIMEOUT)?;
        Ok(Self {
            registry: ElectionRegistry::new(Arc::clone(&environment.ids)),
            elections: Elections::new(environment.clone(), revoke_timeout),
            stores,
            environment,
        })
    }

    /// Takes leadership away and grants it, for tests.
    pub fn leadership_control(&self) -> LeadershipControl {
        LeadershipControl::new(Arc::clone(&self.registry))
    }
}

#[async_trait]
impl HighAvailabilityServices for EmbeddedHaServices {
    fn leader_retriever(&self, component: ComponentId) -> Arc<dyn LeaderRetrievalService> {
        let registry = Arc::clone(&self.registry);
        let factory = Arc::new(EmbeddedRetrievalDriverFactory { registry, component });
        // There is no connection that could be suspended.
        DefaultLeaderRetrievalService::new(factory, true, self.environment.clone())
    }

    fn leader_election(&self, component: ComponentId) -> Arc<dyn LeaderElectionService> {
        let factory = Arc::new(EmbeddedElectionDriverFactory {
            registry: Arc::clone(&self.registry),
            component: component.clone(),
        });
        self.elections.election(factory, component)
    }

    fn checkpoint_recovery_factory(&self) -> Arc<dyn CheckpointRecoveryFactory> {
        self.stores.checkpoint_recovery_factory()
    }

    fn job_graph_store(&self) -> Arc<dyn JobGraphStore> {
        self.stores.job_graph_store()
    }

    fn job_result_store(&self) -> Arc<dyn JobResultStore> {
        self.stores.job_result_store()
    }

    fn running_jobs_registry(&self) -> Arc<dyn RunningJobsRegistry> {
        self.stores.running_jobs_registry()
    }

    async fn create_blob_store(&self) -> Result<Arc<dyn BlobStore>> {
        self.stores.blob_store()
    }

    fn health(&self) -> HealthMonitor {
        self.stores.health()
    }

    async fn global_cleanup(&self, job_id: JobId) -> Result<()> {
        self.stores.clean_up_job(job_id).await
    }

    async fn close(&self) -> Result<()> {
        // First, so that leadership does not pass from one contender to the next while they stop.
        self.registry.close();
        let closed = self.elections.close().await;
        self.stores.close();
        closed
    }

    async fn close_and_cleanup_all_data(&self) -> Result<()> {
        self.close().await?;
        self.stores.delete_all().await
    }
}

#[cfg(test)]
mod tests;
