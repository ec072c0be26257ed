use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use ha_core::environment::Environment;
use ha_core::health::HealthMonitor;
use ha_core::ids::{CheckpointId, ClusterId, JobId};
use ha_core::jobs::{ApplicationStatus, JobResult, JobResultEntry};
use ha_storage::{FileSystemJobResultStore, HaStorage, StateKind};
use ha_zookeeper::client::memory::MemoryServer;
use ha_zookeeper::client::{CreateMode, ZooKeeperClient as _};
use ha_zookeeper::codec::{IdentityData, Pointer};
use ha_zookeeper::paths::ClusterPaths;
use tempfile::TempDir;
use uuid::Uuid;

use crate::writes::View;

pub(super) const JOB: JobId = JobId::from_bytes([1; 16]);

/// A tree in memory and files in a folder: a job with the checkpoints 1 and 2, whose next one is 5.
pub(super) struct World {
    pub(super) directory: TempDir,
    pub(super) server: MemoryServer,
    pub(super) storage: Arc<HaStorage>,
    pub(super) results: Arc<FileSystemJobResultStore>,
    pub(super) paths: ClusterPaths,
}

impl World {
    pub(super) async fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let id = ClusterId::new("c").unwrap();
        let paths = ClusterPaths::new("", "/flink", &id).unwrap();
        let uri = directory.path().display().to_string();
        let storage = HaStorage::open(&uri, &id, &Environment::system()).await.unwrap();
        let results =
            FileSystemJobResultStore::in_storage(Arc::clone(&storage), false, HealthMonitor::default());
        let parents = [
            "/flink".to_owned(),
            paths.cluster().to_owned(),
            paths.leader(),
            paths.latches(),
            paths.job_graphs(),
            paths.jobs(),
            paths.job(JOB),
            paths.checkpoints(JOB),
            paths.running_jobs(),
        ];
        let server = MemoryServer::with(&parents.each_ref().map(String::as_str));
        let world = Self {
            directory,
            server,
            storage,
            results,
            paths,
        };
        world.write_identity(false).await;
        world
            .put(
                StateKind::JobGraph,
                &JOB.to_string(),
                &world.paths.job_graph(JOB),
                None,
            )
            .await;
        for number in [1, 2] {
            let id = CheckpointId::new(number).unwrap();
            let path = world.paths.checkpoint(JOB, id);
            world.put(StateKind::Checkpoint, &id.to_name(), &path, None).await;
        }
        world
            .write(&world.paths.checkpoint_id_counter(JOB), "5".into())
            .await;
        world.write(&world.paths.running_job(JOB), "RUNNING".into()).await;
        world
    }

    pub(super) fn view(&self) -> View {
        View::of_a_test(
            Arc::new(self.server.client(9)),
            self.paths.clone(),
            Arc::clone(&self.storage),
            Arc::clone(&self.results),
        )
    }

    pub(super) async fn write_identity(&self, tree_lost: bool) {
        let file = self.storage.identity_of_tree(Some(self.paths.cluster()));
        let file = file.await.unwrap();
        let data = IdentityData {
            cluster_uuid: file.cluster_uuid,
            storage_dir: file.storage_dir,
            created_by: file.created_by,
            tree_lost,
        };
        self.write(&self.paths.identity(), data.encode("/i").unwrap())
            .await;
    }

    /// Makes a znode, or gives it other data.
    pub(super) async fn write(&self, path: &str, data: Bytes) {
        let client = self.server.client(1);
        if client
            .create(path, data.clone(), CreateMode::Persistent)
            .await
            .is_err()
        {
            client.set(path, data, None).await.unwrap();
        }
    }

    /// Puts a file, and the pointer that names it.
    pub(super) async fn put(
        &self,
        kind: StateKind,
        name: &str,
        path: &str,
        terminal: Option<JobResultEntry>,
    ) {
        let payload = Bytes::from_static(b"payload");
        let file = self
            .storage
            .put_state(kind, JOB, name, Default::default(), payload);
        let pointer = Pointer {
            file: file.await.unwrap(),
            write_id: Uuid::from_u128(1),
            name: None,
            terminal,
        };
        self.write(path, pointer.encode(path).unwrap()).await;
    }

    /// All znodes with their data, and all files with theirs.
    pub(super) async fn everything(&self) -> (Vec<(String, Bytes)>, Vec<(String, Vec<u8>)>) {
        let client = self.server.client(1);
        let mut znodes = Vec::new();
        for path in self.server.paths() {
            let (data, _) = client.get(&path).await.unwrap();
            znodes.push((path, data));
        }
        (znodes, files(self.directory.path()))
    }
}

/// All files below a folder with their content, by path.
pub(super) fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push((path.display().to_string(), std::fs::read(&path).unwrap())),
        }
    }
    found.sort();
    found
}

pub(super) fn end() -> JobResultEntry {
    JobResultEntry {
        result: JobResult {
            job_id: JOB,
            name: "j".to_owned(),
            application_status: ApplicationStatus::Succeeded,
            net_runtime: 1,
            end_time: 1,
            failure_cause: None,
        },
        job_digest: None,
    }
}
