//! One cluster of a test, and processes of it inside the test process.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ha_core::checkpoints::{CheckpointIdCounter, CheckpointRecoveryFactory as _, CompletedCheckpointStore};
use ha_core::configuration::Configuration;
use ha_core::environment::{Environment, IdSource as _, RandomIdSource};
use ha_core::health::HealthMonitor;
use ha_core::ids::{ClusterId, ComponentId, JobId, LeaderSessionId};
use ha_core::jobs::JobGraphStore;
use ha_core::services::HighAvailabilityServices as _;
use ha_storage::{FileSystemJobResultStore, HaStorage, JobResultStoreSettings};
use ha_testkit::condition::eventually;
use ha_testkit::fakes::{RecordingContender, RecordingJobGraphListener};
use ha_zookeeper::client::ClientSource;
use ha_zookeeper::fence::{FencedWriter, LeadershipFence};
use ha_zookeeper::identity::{IdentityGuard, LeadershipPrecondition as _};
use ha_zookeeper::latch::LeaderLatch;
use ha_zookeeper::paths::ClusterPaths;
use ha_zookeeper::services::{ZooKeeperHaServices, describe_this_process};
use ha_zookeeper::session::{SessionOptions, ZooKeeperSession};
use ha_zookeeper::stores::{
    CheckpointReads, JobGraphChanges, JobLocks, StoreContext, ZooKeeperCheckpointRecoveryFactory,
    ZooKeeperJobGraphStore, ZooKeeperJobResultStore, ZooKeeperRunningJobsRegistry,
};
use integration_tests::{AdminClient, Ensemble, NodeSnapshot, unique_name};
use tempfile::TempDir;

use crate::faulty_client::FaultyClients;

/// A cluster that no other test uses: its own cluster id and storage directory.
pub(crate) struct Rig {
    pub(crate) admin: AdminClient,
    pub(crate) cluster_id: ClusterId,
    pub(crate) paths: ClusterPaths,
    pub(crate) directory: TempDir,
    ensemble: Ensemble,
}

impl Rig {
    pub(crate) async fn new() -> Self {
        let ensemble = Ensemble::shared().await.unwrap();
        let cluster_id = ClusterId::new(&unique_name("stores")).unwrap();
        Self {
            admin: AdminClient::connect(&ensemble.connect_string()).await.unwrap(),
            paths: ClusterPaths::new("/ha-test", "/stores", &cluster_id).unwrap(),
            cluster_id,
            directory: tempfile::tempdir().unwrap(),
            ensemble,
        }
    }

    pub(crate) fn configuration(&self) -> Configuration {
        self.configuration_of(&self.cluster_id, self.directory.path())
    }

    pub(crate) fn configuration_of(&self, cluster_id: &ClusterId, storage_dir: &Path) -> Configuration {
        let quorum = format!("{}/ha-test", self.ensemble.connect_string());
        Configuration::new()
            .with("high-availability", "zookeeper")
            .with("high-availability.cluster-id", cluster_id.to_string())
            .with("high-availability.storageDir", storage_dir.display().to_string())
            .with("high-availability.zookeeper.quorum", quorum)
            .with("high-availability.zookeeper.path.root", "/stores")
            .with("high-availability.zookeeper.client.session-timeout", "20 s")
            .with("job-result-store.delete-on-commit", "false")
    }

    /// Services of this cluster that contend for nothing.
    pub(crate) async fn services(&self) -> Arc<ZooKeeperHaServices> {
        let configuration = self.configuration();
        ZooKeeperHaServices::connect(&configuration, Environment::system())
            .await
            .unwrap()
    }

    /// Services of this cluster that lead.
    pub(crate) async fn leading_services(&self) -> Arc<ZooKeeperHaServices> {
        let services = self.services().await;
        let election = services.leader_election(ComponentId::dispatcher());
        let contender = RecordingContender::confirming("http://leader:1");
        contender.contend(&election).await;
        contender.wait_for_grant().await;
        // Nothing of the start is under way any more when a test looks at the tree.
        let info = self.paths.connection_info(&ComponentId::dispatcher());
        eventually("the leader is published", async || {
            self.admin.get(&info).await.unwrap()
        })
        .await;
        services
    }

    /// A process of which every request may be disturbed.
    pub(crate) async fn process(&self) -> Process {
        let environment = Environment::system();
        let health = HealthMonitor::default();
        let options = SessionOptions {
            session_timeout: Duration::from_secs(20),
            ..SessionOptions::new(self.ensemble.connect_string())
        };
        let session = ZooKeeperSession::connect(options, environment.clone(), health.clone())
            .await
            .unwrap();
        let directory = self.directory.path().display().to_string();
        let storage = HaStorage::open(&directory, &self.cluster_id, &environment)
            .await
            .unwrap();
        let clients = FaultyClients::new(Arc::new(session.clone()));
        let guard = Arc::new(IdentityGuard::new(
            Arc::new(session.clone()),
            self.paths.clone(),
            Arc::clone(&storage),
            health.clone(),
            &environment,
        ));
        guard.ensure().await.unwrap();
        let fence = LeadershipFence::new();
        let context = StoreContext {
            writer: FencedWriter::new(
                Arc::new(clients.clone()),
                fence.clone(),
                self.paths.clone(),
                guard,
            ),
            storage: Arc::clone(&storage),
            health: health.clone(),
            environment,
            status: session.status(),
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
        Process {
            results: ZooKeeperJobResultStore::new(context.clone(), files),
            registry: ZooKeeperRunningJobsRegistry::new(context.clone()),
            latch: LeaderLatch::new(
                self.paths.clone(),
                describe_this_process(None),
                Arc::new(RandomIdSource),
            ),
            listener: RecordingJobGraphListener::new(),
            context,
            clients,
            fence,
            session,
        }
    }

    /// The process, leading.
    pub(crate) async fn leader(&self) -> Process {
        let mut process = self.process().await;
        process.lead().await;
        process
    }

    /// Everything of the cluster in ZooKeeper but what elections write.
    pub(crate) async fn znodes(&self) -> Vec<NodeSnapshot> {
        let leader = self.paths.leader();
        let mut nodes = self.admin.walk(self.paths.cluster()).await.unwrap();
        nodes.retain(|node| !node.path.starts_with(&leader));
        nodes
    }

    /// Everything of the cluster in the storage, sorted.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = vec![self.directory.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => files.push(path),
                }
            }
        }
        files.sort();
        files
    }

    /// The files of the cluster whose path has `part` in it.
    pub(crate) fn files_with(&self, part: &str) -> Vec<PathBuf> {
        let mut files = self.files();
        files.retain(|file| file.display().to_string().contains(part));
        files
    }
}

/// The stores of one process, without the machinery of elections: it leads when it is told to, and believes so
/// until it is told otherwise.
pub(crate) struct Process {
    pub(crate) context: StoreContext,
    pub(crate) clients: FaultyClients,
    pub(crate) fence: LeadershipFence,
    pub(crate) results: ZooKeeperJobResultStore,
    pub(crate) registry: ZooKeeperRunningJobsRegistry,
    pub(crate) listener: RecordingJobGraphListener,
    pub(crate) session: ZooKeeperSession,
    latch: LeaderLatch,
}

impl Process {
    /// Stands in the election and claims, whoever stands before. Gives the path of the latch.
    pub(crate) async fn lead(&mut self) -> String {
        let client = self.session.client().await.unwrap();
        let node = self.latch.enter(client.as_ref()).await.unwrap();
        let session = LeaderSessionId::from_uuid(RandomIdSource.uuid());
        let claim = self
            .latch
            .claim(client.as_ref(), &node, session)
            .await
            .unwrap()
            .unwrap();
        self.fence.election_started();
        self.fence.granted(claim.fence(&node));
        node.path
    }

    /// The latch of the present term.
    pub(crate) fn latch(&self) -> String {
        self.fence.current().unwrap().unwrap().latch_path
    }

    /// A started job graph store.
    pub(crate) async fn job_graphs(&self) -> ZooKeeperJobGraphStore {
        let store = ZooKeeperJobGraphStore::new(self.context.clone());
        store.start(Arc::new(self.listener.clone())).await.unwrap();
        store
    }

    pub(crate) async fn try_checkpoints(
        &self,
        job_id: JobId,
        max_retained: usize,
    ) -> ha_core::Result<Arc<dyn CompletedCheckpointStore>> {
        ZooKeeperCheckpointRecoveryFactory::new(self.context.clone())
            .create_recovered_completed_checkpoint_store(job_id, max_retained)
            .await
    }

    pub(crate) async fn checkpoints(
        &self,
        job_id: JobId,
        max_retained: usize,
    ) -> Arc<dyn CompletedCheckpointStore> {
        self.try_checkpoints(job_id, max_retained).await.unwrap()
    }

    /// A started counter.
    pub(crate) async fn counter(&self, job_id: JobId) -> Arc<dyn CheckpointIdCounter> {
        let counter = ZooKeeperCheckpointRecoveryFactory::new(self.context.clone())
            .create_checkpoint_id_counter(job_id)
            .await
            .unwrap();
        counter.start().await.unwrap();
        counter
    }
}
