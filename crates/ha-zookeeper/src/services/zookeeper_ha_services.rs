use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use ha_core::blobs::BlobStore;
use ha_core::checkpoints::CheckpointRecoveryFactory;
use ha_core::configuration::Configuration;
use ha_core::election::{DefaultLeaderElectionService, LeaderElectionService};
use ha_core::environment::{Environment, TaskScope};
use ha_core::health::HealthMonitor;
use ha_core::ids::{ComponentId, JobId};
use ha_core::jobs::{JobGraphStore, JobResultStore, RunningJobsRegistry};
use ha_core::retrieval::{DefaultLeaderRetrievalService, LeaderRetrievalService};
use ha_core::services::HighAvailabilityServices;
use ha_core::{Error, Result};
use ha_storage::{FileSystemJobResultStore, HaBlobStore, HaStorage, OrphanRules, sweep_by_age};
use tokio::sync::Mutex;
use uuid::Uuid;

use super::closable_retrieval::ClosableRetrievalFactory;
use super::cluster_cleanup::ClusterCleanup;
use super::describe_this_process;
use super::job_cleanup::clean_up_job;
use super::settings::Settings;
use crate::client::ClientSource;
use crate::codec::LatchData;
use crate::election::ZooKeeperLeaderElectionDriverFactory;
use crate::fence::{FencedWriter, LeadershipFence};
use crate::identity::{IdentityGuard, LeadershipPrecondition};
use crate::latch::LeaderLatch;
use crate::paths::ClusterPaths;
use crate::retrieval::{LeaderWatches, ZooKeeperLeaderRetrievalDriverFactory};
use crate::session::{SessionOptions, ZooKeeperSession};
use crate::stores::{
    CheckpointReads, JobGraphChanges, JobLocks, OrphanDetection, StoreContext, ZooKeeperBlobStore,
    ZooKeeperCheckpointRecoveryFactory, ZooKeeperJobGraphStore, ZooKeeperJobResultStore,
    ZooKeeperRunningJobsRegistry,
};

/// How services are made, beyond the configuration.
#[derive(Clone, Debug)]
pub struct ServicesOptions {
    /// How the session is made.
    pub session: SessionOptions,
    /// What the latch of this process says of it.
    pub contender: LatchData,
}

impl ServicesOptions {
    /// What the configuration says, for a process without a name.
    ///
    /// # Errors
    /// `Invalid` for a missing or wrong value.
    pub fn from_configuration(configuration: &Configuration) -> Result<Self> {
        Ok(Self {
            session: SessionOptions::from_configuration(configuration)?,
            contender: describe_this_process(None),
        })
    }
}

/// All HA services of one process in ZooKeeper mode, on one session.
pub struct ZooKeeperHaServices {
    session: ZooKeeperSession,
    environment: Environment,
    identity: Arc<IdentityGuard>,
    election: Arc<DefaultLeaderElectionService>,
    watches: LeaderWatches,
    context: StoreContext,
    result_files: Arc<FileSystemJobResultStore>,
    results: Arc<ZooKeeperJobResultStore>,
    closed: Arc<AtomicBool>,
    /// Of the task that removes what interrupted writes left, long ago by the storage's own clock.
    _sweeping: TaskScope,
    /// Held while the data is removed, never while elections are left: that waits for callbacks, which may close too.
    cleanup: Mutex<Cleanup>,
}

/// The removal of the cluster's data, over its attempts.
struct Cleanup {
    /// The latch that it is done under. A failed attempt may have left its node.
    latch: LeaderLatch,
    is_done: bool,
}

impl ZooKeeperHaServices {
    /// Opens a session and the storage, and makes the services.
    ///
    /// # Errors
    /// `Invalid` for the configuration, before anything is contacted; `Unavailable` or `Denied` when ZooKeeper or
    /// the storage cannot be used.
    pub async fn connect(configuration: &Configuration, environment: Environment) -> Result<Arc<Self>> {
        let options = ServicesOptions::from_configuration(configuration)?;
        Self::connect_with(options, configuration, environment).await
    }

    /// The same with other options than the configuration says.
    ///
    /// # Errors
    /// See [`ZooKeeperHaServices::connect`].
    pub async fn connect_with(
        options: ServicesOptions,
        configuration: &Configuration,
        environment: Environment,
    ) -> Result<Arc<Self>> {
        let settings = Settings::read(configuration)?;
        let health = HealthMonitor::default();
        let session = ZooKeeperSession::connect(options.session, environment.clone(), health).await?;
        let building = async {
            let storage = settings.open_storage(&environment).await?;
            Self::build(session.clone(), storage, settings, options.contender, environment).await
        };
        match building.await {
            Ok(services) => Ok(services),
            Err(error) => {
                session.close().await;
                Err(error)
            }
        }
    }

    /// The services on a connected session, which [`HighAvailabilityServices::close`] closes. It serves no other
    /// services: the lease of a session carries the leadership of one election.
    ///
    /// # Errors
    /// `Invalid` for the configuration; `Unavailable` or `Denied` when the storage cannot be used.
    pub async fn create(
        session: ZooKeeperSession,
        configuration: &Configuration,
        environment: Environment,
    ) -> Result<Arc<Self>> {
        let storage = Settings::read(configuration)?.open_storage(&environment).await?;
        Self::create_over(storage, session, configuration, environment).await
    }

    /// The same over a storage that is open already: one on an object store of the caller's, say.
    ///
    /// # Errors
    /// See [`ZooKeeperHaServices::create`].
    pub async fn create_over(
        storage: Arc<HaStorage>,
        session: ZooKeeperSession,
        configuration: &Configuration,
        environment: Environment,
    ) -> Result<Arc<Self>> {
        let settings = Settings::read(configuration)?;
        Self::build(
            session,
            storage,
            settings,
            describe_this_process(None),
            environment,
        )
        .await
    }

    async fn build(
        session: ZooKeeperSession,
        storage: Arc<HaStorage>,
        settings: Settings,
        contender: LatchData,
        environment: Environment,
    ) -> Result<Arc<Self>> {
        let health = session.health();
        let result_files =
            FileSystemJobResultStore::open(Arc::clone(&storage), settings.results, health.clone()).await?;
        let clients: Arc<dyn ClientSource> = Arc::new(session.clone());
        let identity = Arc::new(IdentityGuard::new(
            Arc::clone(&clients),
            settings.paths.clone(),
            Arc::clone(&storage),
            health.clone(),
            &environment,
        ));
        let precondition: Arc<dyn LeadershipPrecondition> = Arc::clone(&identity) as _;
        let fence = LeadershipFence::new();
        let context = StoreContext {
            writer: FencedWriter::new(
                clients,
                fence.clone(),
                settings.paths.clone(),
                Arc::clone(&precondition),
            ),
            storage,
            health,
            environment: environment.clone(),
            status: session.status(),
            orphan_age: settings.orphan_age,
            job_graph_changes: JobGraphChanges::default(),
            job_locks: JobLocks::default(),
            checkpoint_reads: CheckpointReads::default(),
        };
        let cleanup = Cleanup {
            latch: LeaderLatch::new(
                settings.paths.clone(),
                contender.clone(),
                Arc::clone(&environment.ids),
            ),
            is_done: false,
        };
        let drivers = ZooKeeperLeaderElectionDriverFactory::new(
            session.clone(),
            settings.paths.clone(),
            fence,
            contender,
            precondition,
            environment.clone(),
        );
        let sweeping = environment.task_scope();
        let cancelled = sweeping.cancellation();
        let (storage, results) = (Arc::clone(&context.storage), Arc::clone(&result_files));
        let orphan_age = context.orphan_age;
        sweeping.spawn("ha-zookeeper.sweep", async move {
            tokio::select! {
                () = cancelled.cancelled() => {}
                () = sweep_by_age(&storage, &results, orphan_age) => {}
            }
        });
        Ok(Arc::new(Self {
            _sweeping: sweeping,
            identity,
            election: DefaultLeaderElectionService::new(
                Arc::new(drivers),
                environment.clone(),
                settings.revoke_timeout,
            ),
            watches: LeaderWatches::new(session.clone(), settings.paths, environment.clone()),
            results: Arc::new(ZooKeeperJobResultStore::new(
                context.clone(),
                Arc::clone(&result_files),
            )),
            result_files,
            context,
            session,
            environment,
            closed: Arc::default(),
            cleanup: Mutex::new(cleanup),
        }))
    }

    /// The session, Flink's `getClient`.
    pub const fn session(&self) -> &ZooKeeperSession {
        &self.session
    }

    /// The paths of the cluster.
    pub const fn paths(&self) -> &ClusterPaths {
        self.context.writer.paths()
    }

    /// The storage of the cluster.
    pub const fn storage(&self) -> &Arc<HaStorage> {
        &self.context.storage
    }

    /// The parent of a component's leader information, Flink's `getLeaderPath`.
    pub fn leader_path(&self, component: &ComponentId) -> String {
        self.paths().leader_of(component)
    }

    /// Reserved, Flink's `getClusterConfigurationStorePath`; nothing is written there.
    pub fn cluster_configuration_store_path(&self) -> String {
        self.paths().configuration()
    }

    /// The uuid of the cluster, made where there is none yet. With an epoch it is a fencing token for outside
    /// systems (I3).
    ///
    /// # Errors
    /// Those of [`IdentityGuard::establish`].
    pub async fn cluster_uuid(&self) -> Result<Uuid> {
        self.identity.establish().await
    }

    /// What finds the files of this cluster that no pointer names. By the configured orphan age and the timeout that
    /// the servers granted; it contends for nothing, and deletes nothing.
    ///
    /// # Errors
    /// `Closed`; `Invalid` when the granted timeout leaves no lease.
    pub fn orphan_detection(&self) -> Result<OrphanDetection> {
        self.check_open()?;
        let rules = OrphanRules::new(self.context.orphan_age, &self.session.lease_terms()?);
        Ok(self.orphan_detection_by(rules))
    }

    /// The same by other rules.
    pub fn orphan_detection_by(&self, rules: OrphanRules) -> OrphanDetection {
        OrphanDetection::new(
            Arc::new(self.session.clone()),
            self.paths().clone(),
            Arc::clone(&self.context.storage),
            Arc::clone(&self.result_files),
            self.environment.clone(),
            rules,
        )
    }

    fn check_open(&self) -> Result<()> {
        match self.closed.load(Ordering::Acquire) {
            true => Err(Error::closed("the HA services")),
            false => Ok(()),
        }
    }
}

#[async_trait]
impl HighAvailabilityServices for ZooKeeperHaServices {
    fn leader_retriever(&self, component: ComponentId) -> Arc<dyn LeaderRetrievalService> {
        let factory = ClosableRetrievalFactory {
            inner: ZooKeeperLeaderRetrievalDriverFactory::new(self.watches.clone(), component),
            closed: Arc::clone(&self.closed),
        };
        DefaultLeaderRetrievalService::new(
            Arc::new(factory),
            self.session.tolerates_suspension(),
            self.environment.clone(),
        )
    }

    fn leader_election(&self, component: ComponentId) -> Arc<dyn LeaderElectionService> {
        self.election.election(component)
    }

    fn checkpoint_recovery_factory(&self) -> Arc<dyn CheckpointRecoveryFactory> {
        Arc::new(ZooKeeperCheckpointRecoveryFactory::new(self.context.clone()))
    }

    fn job_graph_store(&self) -> Arc<dyn JobGraphStore> {
        Arc::new(ZooKeeperJobGraphStore::new(self.context.clone()))
    }

    fn job_result_store(&self) -> Arc<dyn JobResultStore> {
        Arc::clone(&self.results) as _
    }

    fn running_jobs_registry(&self) -> Arc<dyn RunningJobsRegistry> {
        Arc::new(ZooKeeperRunningJobsRegistry::new(self.context.clone()))
    }

    async fn create_blob_store(&self) -> Result<Arc<dyn BlobStore>> {
        self.check_open()?;
        Ok(Arc::new(ZooKeeperBlobStore::new(
            self.context.clone(),
            Arc::clone(&self.closed),
        )))
    }

    fn health(&self) -> HealthMonitor {
        self.context.health.clone()
    }

    fn lease_left(&self) -> Option<Duration> {
        let gate = self.session.gate();
        gate.current()?;
        let end = gate.lease_end()?;
        Some(end.saturating_since(self.environment.clock.now()))
    }

    async fn global_cleanup(&self, job_id: JobId) -> Result<()> {
        self.check_open()?;
        let blobs = HaBlobStore::new(Arc::clone(&self.context.storage));
        clean_up_job(&self.context, &self.results, &blobs, job_id).await
    }

    async fn close(&self) -> Result<()> {
        self.closed.store(true, Ordering::Release);
        let left = self.election.close().await;
        self.session.close().await;
        left
    }

    async fn close_and_cleanup_all_data(&self) -> Result<()> {
        self.closed.store(true, Ordering::Release);
        self.election.close().await?;
        let mut cleanup = self.cleanup.lock().await;
        if cleanup.is_done {
            return Ok(());
        }
        if self.session.status().latest().closed {
            return Err(Error::closed("the ZooKeeper session")
                .advise("make new services; close_and_cleanup_all_data takes the place of close"));
        }
        // The session stays open where it fails, so that it can be repeated; `close` ends it.
        ClusterCleanup {
            context: self.context.clone(),
            clients: Arc::new(self.session.clone()),
            identity: Arc::clone(&self.identity),
            results: Arc::clone(&self.result_files),
        }
        .run(&mut cleanup.latch)
        .await?;
        cleanup.is_done = true;
        self.session.close().await;
        Ok(())
    }
}
