use std::sync::Arc;

use async_trait::async_trait;
use ha_core::blobs::BlobStore;
use ha_core::checkpoints::CheckpointRecoveryFactory;
use ha_core::election::LeaderElectionService;
use ha_core::health::HealthMonitor;
use ha_core::ids::{ComponentId, JobId};
use ha_core::jobs::{JobGraphStore, JobResultStore, RunningJobsRegistry};
use ha_core::retrieval::LeaderRetrievalService;
use ha_core::services::HighAvailabilityServices;
use ha_core::{Error, ErrorKind, Result};

use super::disk::refused;
use super::elections::Election;
use super::process::Process;
use super::retrievals::Retrieval;
use super::{Fault, blobs, checkpoints, graphs, registry, results};

/// The services of one process.
pub(super) struct Services {
    pub(super) process: Arc<Process>,
}

impl Services {
    fn fault(&self) -> Fault {
        self.process.fault
    }
}

#[async_trait]
impl HighAvailabilityServices for Services {
    fn leader_retriever(&self, component: ComponentId) -> Arc<dyn LeaderRetrievalService> {
        Arc::new(Retrieval {
            inner: self.process.disk.elections().leader_retriever(component),
            process: Arc::clone(&self.process),
        })
    }

    fn leader_election(&self, component: ComponentId) -> Arc<dyn LeaderElectionService> {
        let inner = self.process.disk.elections().leader_election(component.clone());
        Arc::new(Election::new(inner, Arc::clone(&self.process), component))
    }

    fn checkpoint_recovery_factory(&self) -> Arc<dyn CheckpointRecoveryFactory> {
        Arc::new(checkpoints::Factory {
            process: Arc::clone(&self.process),
        })
    }

    fn job_graph_store(&self) -> Arc<dyn JobGraphStore> {
        Arc::new(graphs::Graphs::new(Arc::clone(&self.process)))
    }

    fn job_result_store(&self) -> Arc<dyn JobResultStore> {
        Arc::new(results::Results {
            process: Arc::clone(&self.process),
        })
    }

    fn running_jobs_registry(&self) -> Arc<dyn RunningJobsRegistry> {
        Arc::new(registry::Registry {
            process: Arc::clone(&self.process),
        })
    }

    async fn create_blob_store(&self) -> Result<Arc<dyn BlobStore>> {
        Ok(Arc::new(blobs::Blobs {
            process: Arc::clone(&self.process),
        }))
    }

    fn health(&self) -> HealthMonitor {
        HealthMonitor::default()
    }

    async fn global_cleanup(&self, job_id: JobId) -> Result<()> {
        self.process.check_write()?;
        let mut content = self.process.disk.lock();
        if !content.results.contains_key(&job_id) && self.fault() != Fault::CleanupWithoutEnd {
            return Err(Error::invalid("the job has not ended"));
        }
        content.checkpoints.retain(|(job, _), _| *job != job_id);
        content.counters.remove(&job_id);
        content.graphs.remove(&job_id);
        if self.fault() != Fault::CleanupForgetsBlobs {
            content.blobs.remove(&job_id);
        }
        content.registry.remove(&job_id);
        Ok(())
    }

    async fn close(&self) -> Result<()> {
        let standing = self.process.close();
        if self.fault() != Fault::CloseKeepsLeading {
            for election in standing {
                election.stop().await?;
            }
        }
        if self.fault() == Fault::CloseDeletes {
            self.process.disk.wipe(Fault::None);
        }
        Ok(())
    }

    async fn close_and_cleanup_all_data(&self) -> Result<()> {
        if self.process.others_contend() && self.fault() != Fault::CleanupBesideTheLeader {
            return Err(refused(ErrorKind::NotLeader, "another process contends"));
        }
        self.close().await?;
        if self.fault() != Fault::CleanupKeepsData {
            self.process.disk.wipe(self.fault());
        }
        Ok(())
    }
}
