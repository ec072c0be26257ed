//! The observation of a tree in memory, and what two of them find.

mod found;
mod order;
mod refused;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;
use ha_core::Result;
use ha_core::environment::{BootInstant, BoxFuture, Clock, Environment, RandomIdSource};
use ha_core::health::HealthMonitor;
use ha_core::ids::{BlobKey, CheckpointId, ClusterId, JobId};
use ha_core::lease::LeaseTerms;
use ha_storage::{
    FileSystemJobResultStore, HaStorage, OrphanReport, OrphanRules, Refusal, StateFile, StateKind,
};
use tempfile::TempDir;
use uuid::Uuid;

use super::OrphanDetection;
use crate::client::memory::MemoryServer;
use crate::client::{ClientSource, CreateMode, Operation, ZooKeeperClient};
use crate::codec::{IdentityData, Pointer};
use crate::identity::IdentityGuard;
use crate::paths::ClusterPaths;

const HOUR: Duration = Duration::from_secs(3600);

fn rules() -> OrphanRules {
    let terms = LeaseTerms::new(Duration::from_secs(20), None).unwrap();
    OrphanRules::new(HOUR / 2, &terms)
}

const fn job(number: u8) -> JobId {
    JobId::from_bytes([number; 16])
}

struct Clients(MemoryServer);

#[async_trait]
impl ClientSource for Clients {
    async fn client(&self) -> Result<Arc<dyn ZooKeeperClient>> {
        Ok(Arc::new(self.0.client(1)))
    }
}

/// A clock on which sleeping takes no time.
#[derive(Clone, Default)]
struct SleeplessClock(Arc<Mutex<Duration>>);

impl Clock for SleeplessClock {
    fn now(&self) -> BootInstant {
        BootInstant::from_boot(*self.0.lock().unwrap())
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<()> {
        *self.0.lock().unwrap() += duration;
        Box::pin(async {})
    }

    fn wall_time_millis(&self) -> u64 {
        0
    }
}

/// A cluster: a tree in memory and files in a temporary directory.
struct Cluster {
    server: MemoryServer,
    paths: ClusterPaths,
    storage: Arc<HaStorage>,
    directory: TempDir,
    clock: SleeplessClock,
}

impl Cluster {
    /// One with an identity, and the job 1 with a graph.
    async fn new() -> Self {
        let cluster = Self::empty().await;
        let graph = cluster.put(StateKind::JobGraph, 1, 0).await;
        cluster.publish(1, 0, &graph).await;
        cluster
    }

    async fn empty() -> Self {
        let server = MemoryServer::default();
        let environment = Environment::system();
        let id = ClusterId::new("c").unwrap();
        let paths = ClusterPaths::new("", "/", &id).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let storage = HaStorage::open(directory.path().to_str().unwrap(), &id, &environment)
            .await
            .unwrap();
        let guard = IdentityGuard::new(
            Arc::new(Clients(server.clone())),
            paths.clone(),
            Arc::clone(&storage),
            HealthMonitor::default(),
            &environment,
        );
        guard.establish().await.unwrap();
        Self {
            server,
            paths,
            storage,
            directory,
            clock: SleeplessClock::default(),
        }
    }

    /// Puts a state file, an hour old.
    async fn put(&self, kind: StateKind, number: u8, id: u64) -> StateFile {
        let name = match kind {
            StateKind::JobGraph => job(number).to_string(),
            _ => CheckpointId::new(id).unwrap().to_name(),
        };
        let file = self
            .storage
            .put_state(kind, job(number), &name, Default::default(), Bytes::from("x"))
            .await
            .unwrap();
        self.age(&file.path);
        file
    }

    fn age(&self, path: &str) {
        let path = self.folder().join(path);
        let file = std::fs::File::options().write(true).open(path).unwrap();
        let now = file.metadata().unwrap().modified().unwrap();
        file.set_modified(now.checked_sub(HOUR).unwrap_or(SystemTime::UNIX_EPOCH))
            .unwrap();
    }

    fn folder(&self) -> std::path::PathBuf {
        self.directory.path().join("c")
    }

    /// Puts a blob of a job, an hour old.
    fn blob(&self, number: u8) -> String {
        let key = BlobKey::new([number; 32], &RandomIdSource);
        let path = format!("blobs/{}/{key}", job(number));
        self.write(&path);
        path
    }

    /// Writes any file, an hour old.
    fn write(&self, path: &str) {
        let place = self.folder().join(path);
        std::fs::create_dir_all(place.parent().unwrap_or(Path::new("/"))).unwrap();
        std::fs::write(&place, "x").unwrap();
        self.age(path);
    }

    fn pointer(file: &StateFile) -> Pointer {
        Pointer {
            file: file.clone(),
            write_id: Uuid::from_u128(1),
            name: None,
            terminal: None,
        }
    }

    /// Publishes the graph (`id` 0) or a checkpoint of a job.
    async fn publish(&self, number: u8, id: u64, file: &StateFile) {
        let path = match id {
            0 => self.paths.job_graph(job(number)),
            _ => self.paths.checkpoint(job(number), CheckpointId::new(id).unwrap()),
        };
        let data = Self::pointer(file).encode(&path).unwrap();
        self.node(&path, data).await;
    }

    /// Makes a node, and its parents, or gives it other data.
    async fn node(&self, path: &str, data: impl Into<Bytes>) {
        let client = self.server.client(1);
        for parent in self.paths.parents_below_cluster(path) {
            let _ = client.create(&parent, Bytes::new(), CreateMode::Persistent).await;
        }
        let data = data.into();
        if client
            .create(path, data.clone(), CreateMode::Persistent)
            .await
            .is_err()
        {
            client.set(path, data, None).await.unwrap();
        }
    }

    fn results(&self) -> Arc<FileSystemJobResultStore> {
        FileSystemJobResultStore::in_storage(Arc::clone(&self.storage), false, HealthMonitor::default())
    }

    fn detection(&self) -> OrphanDetection {
        self.detection_with(Arc::new(Clients(self.server.clone())))
    }

    fn detection_with(&self, clients: Arc<dyn ClientSource>) -> OrphanDetection {
        OrphanDetection::new(
            clients,
            self.paths.clone(),
            Arc::clone(&self.storage),
            self.results(),
            self.environment(),
            rules(),
        )
    }

    /// A detection in another tree, with another storage or by other rules.
    fn detection_of(
        &self,
        paths: &ClusterPaths,
        storage: &Arc<HaStorage>,
        rules: OrphanRules,
    ) -> OrphanDetection {
        let clients = Arc::new(Clients(self.server.clone()));
        OrphanDetection::new(
            clients,
            paths.clone(),
            Arc::clone(storage),
            self.results(),
            self.environment(),
            rules,
        )
    }

    fn environment(&self) -> Environment {
        Environment {
            clock: Arc::new(self.clock.clone()),
            ..Environment::system()
        }
    }

    async fn find(&self) -> OrphanReport {
        self.detection().find().await.unwrap()
    }

    /// The paths of the orphans; there must be no refusal.
    async fn orphans(&self) -> Vec<String> {
        let report = self.find().await;
        assert_eq!(report.refusal, None);
        report.orphans.into_iter().map(|orphan| orphan.path).collect()
    }
}
