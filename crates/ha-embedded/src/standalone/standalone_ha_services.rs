use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

use super::StandaloneAddresses;
use super::fixed_leader::FixedLeader;
use super::standalone_election_driver::StandaloneElectionDriverFactory;
use super::void_blob_store::VoidBlobStore;
use crate::elections::Elections;
use crate::local_stores::LocalStores;

/// HA services of a cluster without high availability: one process of each component, at a fixed address.
///
/// Whoever starts an election leads at once, in the term [`LeaderSessionId::DEFAULT`](ha_core::ids::LeaderSessionId::DEFAULT);
/// whoever follows is told the fixed address at once. The stores are in memory, and no blobs are kept.
///
/// It must be used inside a tokio runtime. Nothing is fenced.
pub struct StandaloneHaServices {
    addresses: StandaloneAddresses,
    elections: Elections,
    stores: LocalStores,
    environment: Environment,
    closed: Arc<AtomicBool>,
}

impl StandaloneHaServices {
    /// Services with the defaults of all options.
    ///
    /// # Errors
    /// None at present.
    pub fn new(addresses: StandaloneAddresses, environment: Environment) -> Result<Arc<Self>> {
        Self::from_configuration(addresses, &Configuration::new(), environment)
    }

    /// Services with the configured cluster id, revoke timeout, poll interval and `delete-on-commit`.
    ///
    /// # Errors
    /// `Invalid` for an option that cannot be read.
    pub fn from_configuration(
        addresses: StandaloneAddresses,
        configuration: &Configuration,
        environment: Environment,
    ) -> Result<Arc<Self>> {
        let revoke_timeout = configuration.get(&HighAvailabilityOptions::HA_REVOKE_TIMEOUT)?;
        Ok(Arc::new(Self {
            addresses,
            elections: Elections::new(environment.clone(), revoke_timeout),
            stores: LocalStores::in_memory(configuration, &environment)?,
            environment,
            closed: Arc::default(),
        }))
    }

    fn follow(&self, address: Option<String>) -> Arc<dyn LeaderRetrievalService> {
        let leader = FixedLeader {
            address,
            closed: Arc::clone(&self.closed),
        };
        DefaultLeaderRetrievalService::new(Arc::new(leader), true, self.environment.clone())
    }
}

#[async_trait]
impl HighAvailabilityServices for StandaloneHaServices {
    fn leader_retriever(&self, component: ComponentId) -> Arc<dyn LeaderRetrievalService> {
        self.follow(self.addresses.of(&component))
    }

    fn leader_election(&self, component: ComponentId) -> Arc<dyn LeaderElectionService> {
        let factory = Arc::new(StandaloneElectionDriverFactory {
            closed: Arc::clone(&self.closed),
        });
        self.elections.election(factory, component)
    }

    fn job_manager_leader_retriever_or(
        &self,
        _job_id: JobId,
        default_address: &str,
    ) -> Arc<dyn LeaderRetrievalService> {
        self.follow(Some(default_address.to_owned()))
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
        self.stores.check_open()?;
        Ok(Arc::new(VoidBlobStore))
    }

    fn health(&self) -> HealthMonitor {
        self.stores.health()
    }

    async fn global_cleanup(&self, job_id: JobId) -> Result<()> {
        self.stores.clean_up_job(job_id).await
    }

    async fn close(&self) -> Result<()> {
        self.closed.store(true, Ordering::Release);
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
