//! A cluster with jobs, on either server, and a folder.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ha_core::blobs::BlobStore as _;
use ha_core::checkpoints::CheckpointRecoveryFactory as _;
use ha_core::environment::{Environment, IdSource as _, RandomIdSource, SystemClock};
use ha_core::health::{ConnectionState, HealthMonitor};
use ha_core::ids::{BlobKey, ClusterId, LeaderSessionId};
use ha_core::jobs::{ApplicationStatus, JobGraphStore as _, JobResultStore as _, RunningJobsRegistry as _};
use ha_core::{Follower, Result};
use ha_storage::{FileSystemJobResultStore, HaStorage, JobResultStoreSettings};
use ha_testkit::contract::{checkpoint, ended, graph, job};
use ha_testkit::fakes::RecordingJobGraphListener;
use ha_zookeeper::client::memory::MemoryServer;
use ha_zookeeper::client::{ClientSource, SessionId, ZooKeeperClient, connect_client};
use ha_zookeeper::fence::{FencedWriter, LeadershipFence};
use ha_zookeeper::identity::{IdentityGuard, LeadershipPrecondition as _};
use ha_zookeeper::latch::LeaderLatch;
use ha_zookeeper::paths::ClusterPaths;
use ha_zookeeper::services::describe_this_process;
use ha_zookeeper::session::SessionStatus;
use ha_zookeeper::stores::{
    CheckpointReads, JobGraphChanges, JobLocks, StoreContext, ZooKeeperBlobStore,
    ZooKeeperCheckpointRecoveryFactory, ZooKeeperJobGraphStore, ZooKeeperJobResultStore,
    ZooKeeperRunningJobsRegistry,
};
use integration_tests::{Ensemble, scaled, unique_name};
use tempfile::TempDir;
use tokio::sync::watch;

const LIMIT: Duration = Duration::from_secs(30);
/// The good jobs, and the one of which entries are spoilt.
pub(super) const JOBS: [u8; 3] = [1, 2, 5];
pub(super) const SPOILT: u8 = 5;

/// One client for all.
struct Fixed(Arc<dyn ZooKeeperClient>);

#[async_trait]
impl ClientSource for Fixed {
    async fn client(&self) -> Result<Arc<dyn ZooKeeperClient>> {
        Ok(Arc::clone(&self.0))
    }
}

pub(super) struct Place {
    pub(super) client: Arc<dyn ZooKeeperClient>,
    pub(super) paths: ClusterPaths,
    cluster_id: ClusterId,
    fence: LeadershipFence,
    pub(super) storage: TempDir,
    pub(super) local: TempDir,
    pub(super) blob: BlobKey,
    /// Kept so that the status lives.
    status: watch::Sender<SessionStatus>,
    _ensemble: Option<Ensemble>,
}

/// The stores of a process that has just started.
pub(super) struct Stores {
    pub(super) context: StoreContext,
    pub(super) guard: Arc<IdentityGuard>,
    pub(super) results: ZooKeeperJobResultStore,
}

impl Place {
    pub(super) async fn in_memory() -> Self {
        let client = MemoryServer::default().open_session(LIMIT);
        Self::new(Arc::new(client), None).await
    }

    pub(super) async fn on_a_server() -> Self {
        let ensemble = Ensemble::shared().await.unwrap();
        let address = ensemble.connect_string();
        let client = connect_client(&address, LIMIT, scaled(LIMIT), &SystemClock)
            .await
            .unwrap();
        Self::new(client, Some(ensemble)).await
    }

    async fn new(client: Arc<dyn ZooKeeperClient>, ensemble: Option<Ensemble>) -> Self {
        let cluster_id = ClusterId::new(&unique_name("foreign-hands")).unwrap();
        let paths = ClusterPaths::new("", "/", &cluster_id).unwrap();
        let (status, _) = watch::channel(SessionStatus {
            state: ConnectionState::Connected,
            session: Some(SessionId(1)),
            connects: 1,
            closed: false,
        });
        let local = tempfile::tempdir().unwrap();
        let source = local.path().join("library");
        std::fs::write(&source, b"library").unwrap();
        let mut place = Self {
            client,
            paths,
            cluster_id,
            fence: LeadershipFence::new(),
            storage: tempfile::tempdir().unwrap(),
            local,
            blob: BlobKey::new([0; 32], &RandomIdSource),
            status,
            _ensemble: ensemble,
        };
        let stores = place.stores().await;
        stores.guard.ensure().await.unwrap();
        place.lead().await;
        place.fill(&stores, &source).await;
        place
    }

    async fn lead(&self) {
        let ids = Arc::new(RandomIdSource);
        let mut latch = LeaderLatch::new(self.paths.clone(), describe_this_process(None), ids);
        let node = latch.enter(self.client.as_ref()).await.unwrap();
        let session = LeaderSessionId::from_uuid(RandomIdSource.uuid());
        let claim = latch.claim(self.client.as_ref(), &node, session).await.unwrap();
        self.fence.election_started();
        self.fence.granted(claim.unwrap().fence(&node));
    }

    async fn fill(&mut self, stores: &Stores, source: &std::path::Path) {
        let graphs = stores.graphs().await;
        let factory = ZooKeeperCheckpointRecoveryFactory::new(stores.context.clone());
        let registry = ZooKeeperRunningJobsRegistry::new(stores.context.clone());
        let blobs = stores.blobs();
        self.blob = blobs.create_key(source).await.unwrap();
        for number in JOBS {
            graphs.put_job_graph(&graph(job(number), "graph")).await.unwrap();
            let store = factory
                .create_recovered_completed_checkpoint_store(job(number), 3)
                .await
                .unwrap();
            for id in [1, 2] {
                store.add_and_subsume(checkpoint(job(number), id)).await.unwrap();
            }
            let counter = factory.create_checkpoint_id_counter(job(number)).await.unwrap();
            counter.start().await.unwrap();
            registry.set_job_running(job(number)).await.unwrap();
            assert!(blobs.put(source, job(number), &self.blob).await.unwrap());
        }
        for number in [6, 7, 8] {
            let end = ended(job(number), ApplicationStatus::Failed);
            stores.results.create_dirty_result(&end).await.unwrap();
        }
        stores.results.mark_result_as_clean(job(7)).await.unwrap();
        graphs.stop().await.unwrap();
    }

    pub(super) async fn stores(&self) -> Stores {
        let environment = Environment::system();
        let directory = self.storage.path().display().to_string();
        let storage = HaStorage::open(&directory, &self.cluster_id, &environment)
            .await
            .unwrap();
        let health = HealthMonitor::default();
        let clients: Arc<dyn ClientSource> = Arc::new(Fixed(Arc::clone(&self.client)));
        let guard = Arc::new(IdentityGuard::new(
            Arc::clone(&clients),
            self.paths.clone(),
            Arc::clone(&storage),
            health.clone(),
            &environment,
        ));
        let writer = FencedWriter::new(
            clients,
            self.fence.clone(),
            self.paths.clone(),
            Arc::clone(&guard) as _,
        );
        let context = StoreContext {
            writer,
            storage: Arc::clone(&storage),
            health: health.clone(),
            environment,
            status: Follower::new(self.status.subscribe()),
            orphan_age: Duration::from_secs(600),
            job_graph_changes: JobGraphChanges::default(),
            job_locks: JobLocks::default(),
            checkpoint_reads: CheckpointReads::default(),
        };
        let settings = JobResultStoreSettings {
            storage_path: None,
            delete_on_commit: false,
            ..JobResultStoreSettings::default()
        };
        let files = FileSystemJobResultStore::open(storage, settings, health)
            .await
            .unwrap();
        Stores {
            results: ZooKeeperJobResultStore::new(context.clone(), files),
            context,
            guard,
        }
    }
}

impl Stores {
    pub(super) async fn graphs(&self) -> ZooKeeperJobGraphStore {
        let graphs = ZooKeeperJobGraphStore::new(self.context.clone());
        graphs
            .start(Arc::new(RecordingJobGraphListener::new()))
            .await
            .unwrap();
        graphs
    }

    pub(super) fn blobs(&self) -> ZooKeeperBlobStore {
        ZooKeeperBlobStore::new(self.context.clone(), Arc::default())
    }
}
