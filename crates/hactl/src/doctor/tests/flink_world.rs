use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ha_core::environment::Environment;
use ha_core::health::HealthMonitor;
use ha_core::ids::ClusterId;
use ha_flink::Generation;
use ha_storage::{FileSystemJobResultStore, HaStorage, JobResultStoreSettings};
use ha_testkit::FlinkRecording;
use ha_zookeeper::client::memory::{MemoryClient, MemoryServer};
use ha_zookeeper::client::{CreateMode, ZooKeeperClient as _};
use ha_zookeeper::paths::ClusterPaths;
use tempfile::TempDir;

use super::world::{DIRTY_AFTER, expect, server};
use crate::cluster::Nodes;
use crate::doctor::check::{Verdict, judge};
use crate::doctor::read_flink_results;
use crate::doctor::read_storage::unreached;
use crate::doctor::read_tree::TreeReader;
use crate::doctor::snapshot::{SessionFacts, Snapshot};
use crate::layout::{Layout, PathMappings};

/// A recording on the server in memory, with its files in a folder of the test's own.
pub(super) struct World {
    pub(super) server: MemoryServer,
    /// Owns what is persistent.
    pub(super) admin: MemoryClient,
    pub(super) paths: ClusterPaths,
    pub(super) generation: Generation,
    pub(super) folder: TempDir,
    pub(super) mappings: PathMappings,
}

impl World {
    pub(super) async fn load(recording: FlinkRecording) -> Self {
        let server = MemoryServer::with(&[]);
        for znode in &recording.znodes {
            let owner = znode.ephemeral_owner();
            let mode = match owner {
                0 => CreateMode::Persistent,
                _ => CreateMode::Ephemeral,
            };
            let client = server.client(owner);
            let data = znode.data().into();
            client.create(&znode.path, data, mode).await.unwrap();
        }
        let folder = TempDir::new().unwrap();
        for (path, content) in recording.files() {
            let below = path.strip_prefix(&recording.storage_dir).unwrap();
            let path = folder.path().join(below.trim_start_matches('/'));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let id = ClusterId::new(recording.cluster_id()).unwrap();
        let mapping = format!("{}={}", recording.storage_dir, folder.path().display());
        Self {
            admin: server.client(98),
            paths: ClusterPaths::new("", "/flink", &id).unwrap(),
            generation: match recording.cluster_id() {
                "live-1.14.6" => Generation::LatchPerComponent,
                _ => Generation::OneLatch,
            },
            folder,
            mappings: PathMappings(vec![mapping.parse().unwrap()]),
            server,
        }
    }

    pub(super) async fn running() -> Self {
        Self::load(FlinkRecording::running_2_3()).await
    }

    pub(super) fn at(&self, below: &str) -> String {
        format!("{}/{below}", self.paths.cluster())
    }

    pub(super) fn id(&self) -> &str {
        self.paths.cluster().strip_prefix("/flink/").unwrap()
    }

    pub(super) async fn write(&self, below: &str, data: &[u8]) {
        let (path, data) = (self.at(below), Bytes::copy_from_slice(data));
        if self.admin.exists(&path).await.unwrap().is_some() {
            self.admin.set(&path, data, None).await.unwrap();
        } else {
            let mode = CreateMode::Persistent;
            self.admin.create(&path, data, mode).await.unwrap();
        }
    }

    pub(super) async fn read(&self, below: &str) -> Bytes {
        self.admin.get(&self.at(below)).await.unwrap().0
    }

    pub(super) async fn delete(&self, below: &str) {
        self.admin.delete(&self.at(below), None).await.unwrap();
    }

    /// Writes a node again as another session's.
    pub(super) async fn own(&self, below: &str, session: i64) {
        let data = self.read(below).await;
        self.delete(below).await;
        let client = self.server.client(session);
        let (path, mode) = (self.at(below), CreateMode::Ephemeral);
        client.create(&path, data, mode).await.unwrap();
    }

    /// The children of a node.
    pub(super) async fn names(&self, below: &str) -> Vec<String> {
        let mut names = self.admin.list(&self.at(below)).await.unwrap().0;
        names.sort();
        names
    }

    /// The files whose names begin so.
    pub(super) fn files(&self, prefix: &str) -> Vec<PathBuf> {
        let folder = self.folder.path().join(self.id());
        let paths = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = paths
            .filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(prefix))
            .collect();
        files.sort();
        files
    }

    pub(super) fn result(&self, name: &str) -> PathBuf {
        let folder = self.folder.path().join("job-result-store").join(self.id());
        std::fs::create_dir_all(&folder).unwrap();
        folder.join(name)
    }

    pub(super) async fn snapshot(&self) -> Snapshot {
        let environment = Environment::system();
        let clock = environment.clock.as_ref();
        let id = ClusterId::new(self.id()).unwrap();
        let uri = self.folder.path().display().to_string();
        let stored = async {
            let storage = HaStorage::open_existing(&*uri, &id, &environment).await?;
            let settings = JobResultStoreSettings {
                storage_path: Some(format!("{uri}/job-result-store/{id}").as_str().into()),
                ..JobResultStoreSettings::default()
            };
            let health = HealthMonitor::default();
            let results = FileSystemJobResultStore::open_existing(Arc::clone(&storage), settings, health);
            let results = results.await.ok();
            read_flink_results::read(&storage, results.as_deref(), clock).await
        };
        let stored = stored.await.map_err(|error| unreached(&error, "storage"));
        let nodes = Nodes::new(Arc::new(self.server.client(99)));
        let mut reader = TreeReader::new(&nodes, &self.paths, None);
        let named = reader.read_flinks_nodes(self.generation, clock).await.unwrap();
        let folder = format!("{uri}/{id}");
        reader
            .look_at_flinks_files(named, &folder, &self.mappings)
            .await
            .unwrap();
        let read = reader.into_read();
        assert!(read.broken.is_empty(), "{:?}", read.broken);
        let mut tree = read.tree;
        // What the connection tells.
        let granted = Duration::from_secs(60);
        let asked = granted;
        tree.session = Ok(SessionFacts { asked, granted });
        let owners = tree.elections.iter().flat_map(|election| &election.latches);
        let owners: Vec<_> = owners
            .map(|latch| latch.owner)
            .filter(|owner| *owner != 0)
            .collect();
        let told = server(Duration::from_secs(2), owners.into_iter().chain([99]));
        tree.servers = vec![("h:1".to_owned(), Ok(told))];
        let open = "world:anyone:ALL".to_owned();
        tree.acls = Ok(BTreeMap::from([(open, (20, "/flink/c".to_owned()))]));
        Snapshot {
            layout: Layout::Flink(self.generation),
            tree: Ok(tree),
            storage: stored,
            jobs: read.jobs,
            dirty_after: DIRTY_AFTER,
        }
    }

    pub(super) async fn verdict(&self) -> Verdict {
        judge(&self.snapshot().await)
    }

    pub(super) async fn expect(&self, id: &str, below: &str, file: Option<&PathBuf>) -> Verdict {
        let verdict = self.verdict().await;
        let file = file.map(|file| file.display().to_string());
        expect(&verdict, id, Some(&self.at(below)), file);
        verdict
    }
}
