use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use ha_core::blobs::BlobStore as _;
use ha_core::environment::Environment;
use ha_core::health::{BrokenEntry, HealthMonitor};
use ha_core::ids::{CheckpointId, ClusterId, JobId};
use ha_core::jobs::{ApplicationStatus, JobResult, JobResultEntry, JobResultStore as _};
use ha_storage::{Carrier, FileSystemJobResultStore, HaBlobStore, HaStorage, StateFile, StateKind};
use ha_zookeeper::client::memory::{MemoryClient, MemoryServer};
use ha_zookeeper::client::{CreateMode, ZooKeeperClient as _};
use ha_zookeeper::codec::Pointer;
use ha_zookeeper::paths::ClusterPaths;
use tempfile::TempDir;
use uuid::Uuid;

use super::copying::Archiving;
use crate::archive::{ArchiveReader, ArchiveWriter, Contents, Head, Znode};
use crate::cluster::Nodes;

mod exported;
mod imported;
mod restless;

const JOB: JobId = JobId::from_bytes([1; 16]);
/// A job that ended, and whose clean-up is under way.
const ENDED: JobId = JobId::from_bytes([2; 16]);
/// A job that ended, and is cleaned up.
const DONE: JobId = JobId::from_bytes([3; 16]);

/// A cluster in memory and in a folder: a running job with two checkpoints and a blob, one that ended and one that is
/// cleaned up.
struct World {
    directory: TempDir,
    server: MemoryServer,
    client: MemoryClient,
    paths: ClusterPaths,
    storage: Arc<HaStorage>,
    results: Arc<FileSystemJobResultStore>,
}

impl World {
    async fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let id = ClusterId::new("c").unwrap();
        let paths = ClusterPaths::new("", "/flink", &id).unwrap();
        let uri = directory.path().join("ha").display().to_string();
        let storage = HaStorage::open(&uri, &id, &Environment::system()).await.unwrap();
        let results =
            FileSystemJobResultStore::in_storage(Arc::clone(&storage), false, HealthMonitor::default());
        let parents = [
            "/flink".to_owned(),
            paths.cluster().to_owned(),
            paths.leader(),
            paths.job_graphs(),
            paths.jobs(),
            paths.job(JOB),
            paths.checkpoints(JOB),
            paths.running_jobs(),
        ];
        let server = MemoryServer::with(&parents.each_ref().map(String::as_str));
        let world = Self {
            client: server.client(0x10),
            directory,
            server,
            paths,
            storage,
            results,
        };
        world.fill().await;
        world
    }

    async fn fill(&self) {
        self.add_graph(JOB, None).await;
        self.add_checkpoint(1).await;
        self.add_checkpoint(2).await;
        self.write(&self.paths.checkpoint_id_counter(JOB), "5").await;
        self.write(&self.paths.running_job(JOB), "RUNNING").await;
        self.add_graph(ENDED, Some(end(ENDED))).await;
        for job_id in [ENDED, DONE] {
            self.results.create_dirty_result(&end(job_id)).await.unwrap();
        }
        self.results.mark_result_as_clean(DONE).await.unwrap();
        let local = self.directory.path().join("local");
        std::fs::write(&local, vec![7; 600_000]).unwrap();
        let blobs = HaBlobStore::new(Arc::clone(&self.storage));
        let key = blobs.create_key(&local).await.unwrap();
        blobs.put(&local, JOB, &key).await.unwrap();
    }

    async fn add_graph(&self, job_id: JobId, terminal: Option<JobResultEntry>) {
        let file = self.put(StateKind::JobGraph, job_id, &job_id.to_string()).await;
        self.point(&self.paths.job_graph(job_id), file, terminal).await;
    }

    /// Publishes a checkpoint; gives its file.
    async fn add_checkpoint(&self, number: u64) -> StateFile {
        let id = CheckpointId::new(number).unwrap();
        let file = self.put(StateKind::Checkpoint, JOB, &id.to_name()).await;
        self.point(&self.paths.checkpoint(JOB, id), file.clone(), None)
            .await;
        file
    }

    async fn put(&self, kind: StateKind, owner: JobId, name: &str) -> StateFile {
        let payload = Bytes::from(format!("{name} of {owner}"));
        let put = self
            .storage
            .put_state(kind, owner, name, BTreeMap::new(), payload);
        put.await.unwrap()
    }

    async fn point(&self, path: &str, file: StateFile, terminal: Option<JobResultEntry>) {
        let pointer = Pointer {
            file,
            write_id: Uuid::from_u128(9),
            name: None,
            terminal,
        };
        self.write(path, pointer.encode(path).unwrap()).await;
    }

    /// Writes a node, whether or not it is there.
    async fn write(&self, path: &str, data: impl Into<Bytes>) {
        let data = data.into();
        if self.client.exists(path).await.unwrap().is_some() {
            self.client.set(path, data, None).await.unwrap();
        } else {
            let created = self.client.create(path, data, CreateMode::Persistent);
            created.await.unwrap();
        }
    }

    async fn delete(&self, path: &str) {
        self.client.delete(path, None).await.unwrap();
    }

    /// Where a file of the cluster's folder lies.
    fn file(&self, path: &str) -> PathBuf {
        self.storage.local_folder().unwrap().join(path)
    }

    /// Where a result lies.
    fn result(&self, name: &str) -> PathBuf {
        self.directory.path().join("ha/job-results-store/c").join(name)
    }

    fn archiving(&self, path: &std::path::Path) -> Archiving {
        let head = Head::new(
            "c".to_owned(),
            "zookeeper".to_owned(),
            String::new(),
            String::new(),
        );
        let archive = ArchiveWriter::create(path, &head).unwrap();
        let carrier = Carrier::new(Arc::clone(&self.storage), Arc::clone(&self.results));
        Archiving::new(archive, carrier)
    }

    /// What an export of the tree holds, and what it says to be broken.
    async fn export(&self) -> (Contents, Vec<BrokenEntry>) {
        let path = self.directory.path().join("export.tar");
        let _ = std::fs::remove_file(&path);
        let mut archiving = self.archiving(&path);
        let nodes = Nodes::new(Arc::new(self.server.client(0x30)));
        let mut broken = Vec::new();
        let znodes = archiving
            .add_tree(&nodes, &self.paths, &self.storage, &self.results, &mut broken)
            .await
            .unwrap();
        archiving.archive.finish(Some(&znodes)).unwrap();
        (ArchiveReader::open(&path).unwrap().verify().unwrap(), broken)
    }
}

fn end(job_id: JobId) -> JobResultEntry {
    JobResultEntry {
        result: JobResult {
            job_id,
            name: String::new(),
            application_status: ApplicationStatus::Succeeded,
            net_runtime: 1,
            end_time: 1,
            failure_cause: None,
        },
        job_digest: None,
    }
}

/// The znodes of an archive, in words.
fn znodes(contents: &Contents) -> Vec<String> {
    contents.znodes.iter().map(Znode::name).collect()
}

/// The files of an archive: what each is of, and of which job.
fn kinds(contents: &Contents) -> Vec<String> {
    let names = contents.files.keys();
    names
        .map(|name| name.split('/').take(2).collect::<Vec<_>>().join("/"))
        .collect()
}
