//! One cluster of a test, and its processes, each behind a proxy of its own.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ha_core::checkpoints::{CheckpointIdCounter, CompletedCheckpointStore};
use ha_core::configuration::{Configuration, HighAvailabilityOptions as Options, JobResultStoreOptions};
use ha_core::election::LeaderElectionService;
use ha_core::environment::Environment;
use ha_core::ids::{ClusterId, ComponentId, JobId};
use ha_core::jobs::JobGraphStore;
use ha_core::services::HighAvailabilityServices as _;
use ha_testkit::contract::files_below;
use ha_testkit::fakes::{RecordingContender, RecordingJobGraphListener};
use ha_zookeeper::paths::ClusterPaths;
use ha_zookeeper::services::ZooKeeperHaServices;
use integration_tests::proxy::FaultProxy;
use integration_tests::{AdminClient, Ensemble, NodeSnapshot, unique_name};
use tempfile::TempDir;

use crate::held_clock::HeldClock;

const ROOT: &str = "/ha-test";

/// A cluster that no other test uses.
pub(crate) struct Cluster {
    pub(crate) admin: AdminClient,
    pub(crate) paths: ClusterPaths,
    pub(crate) storage: TempDir,
    /// For files of the test's own.
    pub(crate) local: TempDir,
    pub(crate) ensemble: Ensemble,
    /// Of the processes to come. It outlives any stall of the machine where nothing waits for its end.
    pub(crate) session_timeout: Duration,
    id: String,
}

impl Cluster {
    pub(crate) async fn new() -> Self {
        Self::on(Ensemble::shared().await.unwrap()).await
    }

    pub(crate) async fn on(ensemble: Ensemble) -> Self {
        let id = unique_name("store-faults");
        Self {
            admin: AdminClient::connect(&ensemble.connect_string()).await.unwrap(),
            paths: ClusterPaths::new("", ROOT, &ClusterId::new(&id).unwrap()).unwrap(),
            storage: tempfile::tempdir().unwrap(),
            local: tempfile::tempdir().unwrap(),
            session_timeout: Duration::from_secs(40),
            id,
            ensemble,
        }
    }

    /// A process that contends for nothing yet.
    pub(crate) async fn member(&self, name: &str) -> Member {
        let servers = self.ensemble.connect_string();
        self.member_with(name, &servers, &self.storage.path().display().to_string())
            .await
    }

    /// The same at this server, with the storage directory written so.
    pub(crate) async fn member_with(&self, name: &str, server: &str, storage_dir: &str) -> Member {
        let proxy = FaultProxy::start(server).await.unwrap();
        let configuration = Configuration::new()
            .with(Options::HA_MODE.key(), "zookeeper")
            .with(Options::HA_CLUSTER_ID.key(), &self.id)
            .with(Options::HA_STORAGE_PATH.key(), storage_dir)
            .with(Options::HA_ZOOKEEPER_QUORUM.key(), proxy.address())
            .with(Options::HA_ZOOKEEPER_ROOT.key(), ROOT)
            .with(
                Options::HA_ZOOKEEPER_SESSION_TIMEOUT.key(),
                format!("{} ms", self.session_timeout.as_millis()),
            )
            .with(Options::HA_ZOOKEEPER_SERVER_TICK_TIME.key(), "500 ms")
            .with(JobResultStoreOptions::DELETE_ON_COMMIT.key(), "false");
        let clock = Arc::new(HeldClock::default());
        let environment = Environment {
            clock: Arc::clone(&clock) as _,
            ..Environment::system()
        };
        let services = ZooKeeperHaServices::connect(&configuration, environment)
            .await
            .unwrap();
        Member {
            name: name.to_owned(),
            election: services.leader_election(ComponentId::dispatcher()),
            services,
            proxy,
            clock,
            contender: RecordingContender::confirming(&format!("http://{name}:1")),
        }
    }

    /// A process that leads.
    pub(crate) async fn leader(&self, name: &str) -> Member {
        let member = self.member(name).await;
        member.contend().await;
        member.contender.wait_for_grant().await;
        member
    }

    /// Everything of the cluster in ZooKeeper but what elections write.
    pub(crate) async fn znodes(&self) -> Vec<NodeSnapshot> {
        let leader = self.paths.leader();
        let mut nodes = self.admin.walk(self.paths.cluster()).await.unwrap();
        nodes.retain(|node| !node.path.starts_with(&leader));
        nodes
    }

    /// The content of the file that a pointer names; `None` when it is not there.
    pub(crate) fn file_of(&self, pointer: &str) -> Option<Vec<u8>> {
        let pointer: serde_json::Value = serde_json::from_str(pointer).unwrap();
        let path = self
            .storage
            .path()
            .join(&self.id)
            .join(pointer["path"].as_str().unwrap());
        std::fs::read(path).ok()
    }

    /// Everything of the cluster in the storage, sorted.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        files_below(self.storage.path())
    }
}

/// A process of the cluster.
pub(crate) struct Member {
    pub(crate) name: String,
    election: Arc<dyn LeaderElectionService>,
    pub(crate) services: Arc<ZooKeeperHaServices>,
    pub(crate) proxy: FaultProxy,
    pub(crate) clock: Arc<HeldClock>,
    pub(crate) contender: Arc<RecordingContender>,
}

impl Member {
    pub(crate) async fn contend(&self) {
        self.contender.contend(&self.election).await;
    }

    pub(crate) async fn leads(&self) -> bool {
        match self.contender.sessions().last() {
            Some(session) => self.election.has_leadership(*session).await,
            None => false,
        }
    }

    /// Publishes another address in the present term.
    pub(crate) async fn confirm(&self, address: &str) -> ha_core::Result<bool> {
        let session = *self.contender.sessions().last().unwrap();
        self.election.confirm_leadership(session, Some(address)).await
    }

    /// A started job graph store, whose listener nobody asks.
    pub(crate) async fn job_graphs(&self) -> Arc<dyn JobGraphStore> {
        let graphs = self.services.job_graph_store();
        graphs
            .start(Arc::new(RecordingJobGraphListener::new()))
            .await
            .unwrap();
        graphs
    }

    pub(crate) async fn checkpoints(
        &self,
        job_id: JobId,
        max_retained: usize,
    ) -> Arc<dyn CompletedCheckpointStore> {
        self.services
            .checkpoint_recovery_factory()
            .create_recovered_completed_checkpoint_store(job_id, max_retained)
            .await
            .unwrap()
    }

    /// A started counter.
    pub(crate) async fn counter(&self, job_id: JobId) -> Arc<dyn CheckpointIdCounter> {
        let factory = self.services.checkpoint_recovery_factory();
        let counter = factory.create_checkpoint_id_counter(job_id).await.unwrap();
        counter.start().await.unwrap();
        counter
    }
}
