use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::blobs::BlobStore;
use crate::checkpoints::CheckpointRecoveryFactory;
use crate::election::LeaderElectionService;
use crate::error::Result;
use crate::health::HealthMonitor;
use crate::ids::{ComponentId, JobId};
use crate::jobs::{JobGraphStore, JobResultStore, RunningJobsRegistry};
use crate::retrieval::LeaderRetrievalService;

/// All that a cluster process needs for high availability, in one mode.
///
/// Every retriever and election getter gives a fresh, not yet started service. After `close`, elections,
/// retrievals and blob stores fail with `Closed`. The other stores of a mode of one process only stop being
/// usable with the process: stop using them before `close`, or they write after a clean-up of all.
///
/// # Components of the user's own
/// [`Self::leader_election`] and [`Self::leader_retriever`] take any component, the user's own by
/// [`ComponentId::custom`] too, in every mode; the others are named shortcuts. All processes of a cluster should
/// contend for the same components: the components of a process share its leadership where a backend elects
/// processes (ZooKeeper), and one that the leader does not contend for is reported, not led by another process.
/// Standalone services know the addresses of the user's own components only where they are given in code.
///
/// # Fencing
/// Where processes compete, what is written to the stores is conditional on leadership; see each store.
///
/// # Cancellation
/// A dropped clean-up may have removed a part, and goes on with its repetition.
#[async_trait]
pub trait HighAvailabilityServices: Send + Sync + 'static {
    /// Follows the leader of any component, of the user's own too.
    fn leader_retriever(&self, component: ComponentId) -> Arc<dyn LeaderRetrievalService>;

    /// Contends for any component, of the user's own too.
    fn leader_election(&self, component: ComponentId) -> Arc<dyn LeaderElectionService>;

    /// Follows the leader of a job; `default_address` is the answer where addresses are fixed (standalone),
    /// and is ignored elsewhere.
    fn job_manager_leader_retriever_or(
        &self,
        job_id: JobId,
        default_address: &str,
    ) -> Arc<dyn LeaderRetrievalService> {
        let _ = default_address;
        self.job_manager_leader_retriever(job_id)
    }

    /// Follows the leading resource manager.
    fn resource_manager_leader_retriever(&self) -> Arc<dyn LeaderRetrievalService> {
        self.leader_retriever(ComponentId::resource_manager())
    }

    /// Follows the leading dispatcher.
    fn dispatcher_leader_retriever(&self) -> Arc<dyn LeaderRetrievalService> {
        self.leader_retriever(ComponentId::dispatcher())
    }

    /// Follows the leading job manager of a job.
    fn job_manager_leader_retriever(&self, job_id: JobId) -> Arc<dyn LeaderRetrievalService> {
        self.leader_retriever(ComponentId::job_manager(job_id))
    }

    /// Follows the leading REST endpoint.
    fn cluster_rest_endpoint_leader_retriever(&self) -> Arc<dyn LeaderRetrievalService> {
        self.leader_retriever(ComponentId::rest_server())
    }

    /// The older name of [`Self::cluster_rest_endpoint_leader_retriever`].
    fn web_monitor_leader_retriever(&self) -> Arc<dyn LeaderRetrievalService> {
        self.cluster_rest_endpoint_leader_retriever()
    }

    /// Contends for the resource manager.
    fn resource_manager_leader_election(&self) -> Arc<dyn LeaderElectionService> {
        self.leader_election(ComponentId::resource_manager())
    }

    /// Contends for the dispatcher.
    fn dispatcher_leader_election(&self) -> Arc<dyn LeaderElectionService> {
        self.leader_election(ComponentId::dispatcher())
    }

    /// Contends for the job manager of a job.
    fn job_manager_leader_election(&self, job_id: JobId) -> Arc<dyn LeaderElectionService> {
        self.leader_election(ComponentId::job_manager(job_id))
    }

    /// Contends for the REST endpoint.
    fn rest_endpoint_leader_election(&self) -> Arc<dyn LeaderElectionService> {
        self.leader_election(ComponentId::rest_server())
    }

    /// The older name of [`Self::rest_endpoint_leader_election`].
    fn web_monitor_leader_election(&self) -> Arc<dyn LeaderElectionService> {
        self.rest_endpoint_leader_election()
    }

    /// Checkpoint stores and counters.
    fn checkpoint_recovery_factory(&self) -> Arc<dyn CheckpointRecoveryFactory>;

    /// A fresh, not yet started store of job graphs.
    fn job_graph_store(&self) -> Arc<dyn JobGraphStore>;

    /// The results of ended jobs; one store for all callers.
    fn job_result_store(&self) -> Arc<dyn JobResultStore>;

    /// Which jobs run, for observers.
    fn running_jobs_registry(&self) -> Arc<dyn RunningJobsRegistry>;

    /// Large objects.
    ///
    /// # Errors
    /// `Unavailable` when the storage cannot be used.
    async fn create_blob_store(&self) -> Result<Arc<dyn BlobStore>>;

    /// What is wrong right now.
    fn health(&self) -> HealthMonitor;

    /// How much longer this process may lead if nothing is answered from now on. `None`: it does not lead, or its
    /// leadership rests on no lease. For people and monitoring; what is to be decided is asked of the election.
    fn lease_left(&self) -> Option<Duration> {
        None
    }

    /// Cleans up after a job whose end is recorded: checkpoints and counter, then the job graph, then blobs,
    /// then registry and leader node. The caller marks the result clean afterwards. Each step may be repeated.
    ///
    /// # Errors
    /// `Invalid` (not applied) when no end is recorded for the job; `NotLeader`; the first failure of a step,
    /// after which a repetition goes on.
    async fn global_cleanup(&self, job_id: JobId) -> Result<()>;

    /// Gives up leadership, then closes everything. Keeps all data (I8). Idempotent.
    ///
    /// # Errors
    /// `Unavailable` when leadership could not be given up in the outside system; it ends there with the session.
    /// All is closed all the same.
    ///
    /// # Cancellation
    /// What was begun is closed in the background; repeat it to wait for it.
    async fn close(&self) -> Result<()>;

    /// Closes, and removes this cluster's znodes and files, nothing of another cluster. Idempotent.
    ///
    /// # Errors
    /// `NotLeader` where another process contends; `Conflict` naming by path what was left since it is not of the
    /// cluster's layout, or may be another cluster's; else the first failure, after which a repetition goes on.
    async fn close_and_cleanup_all_data(&self) -> Result<()>;
}
