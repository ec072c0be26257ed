use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ha_core::environment::Environment;
use ha_core::health::HealthMonitor;
use ha_core::ids::{CheckpointId, ClusterId, ComponentId, JobId, LeaderSessionId};
use ha_core::jobs::{ApplicationStatus, JobResult, JobResultEntry, JobResultStore as _};
use ha_storage::{FileSystemJobResultStore, HaStorage, StateFile, StateKind};
use ha_zookeeper::client::memory::{MemoryClient, MemoryServer};
use ha_zookeeper::client::{CreateMode, ZooKeeperClient as _};
use ha_zookeeper::codec::{IdentityData, LatchData, Pointer};
use ha_zookeeper::paths::ClusterPaths;
use tempfile::TempDir;
use uuid::Uuid;

use crate::cluster::Nodes;
use crate::doctor::check::{Verdict, judge};
use crate::doctor::read_storage::{StorageReader, unreached};
use crate::doctor::reading::read_znodes;
use crate::doctor::snapshot::{ServerSettings, SessionFacts, Snapshot, Unreached};

pub(super) const JOB: JobId = JobId::from_bytes([1; 16]);
/// A job that ended, and whose clean-up is under way.
pub(super) const ENDED: JobId = JobId::from_bytes([2; 16]);
/// A job that ended, and is cleaned up.
pub(super) const DONE: JobId = JobId::from_bytes([3; 16]);
pub(super) const TERM: LeaderSessionId = LeaderSessionId::from_bits(0, 7);
pub(super) const DIRTY_AFTER: Duration = Duration::from_secs(600);

/// A cluster: a leader and a standby, a running job with two checkpoints, one that ended and one that is cleaned up.
pub(super) struct World {
    pub(super) directory: TempDir,
    pub(super) server: MemoryServer,
    pub(super) leader: MemoryClient,
    pub(super) standby: MemoryClient,
    pub(super) standby_latch: String,
    pub(super) storage: Arc<HaStorage>,
    pub(super) results: Arc<FileSystemJobResultStore>,
    pub(super) paths: ClusterPaths,
    pub(super) checkpoints: Vec<StateFile>,
}

impl World {
    pub(super) async fn healthy() -> Self {
        let directory = TempDir::new().unwrap();
        let id = ClusterId::new("c").unwrap();
        let paths = ClusterPaths::new("", "/flink", &id).unwrap();
        let uri = directory.path().display().to_string();
        let storage = HaStorage::open(&uri, &id, &Environment::system()).await.unwrap();
        let results =
            FileSystemJobResultStore::in_storage(Arc::clone(&storage), false, HealthMonitor::default());
        let dispatcher = ComponentId::dispatcher();
        let parents = [
            "/flink".to_owned(),
            paths.cluster().to_owned(),
            paths.leader(),
            paths.latches(),
            paths.leader_of(&dispatcher),
            paths.job_graphs(),
            paths.jobs(),
            paths.job(JOB),
            paths.checkpoints(JOB),
            paths.running_jobs(),
        ];
        let server = MemoryServer::with(&parents.each_ref().map(String::as_str));
        let (leader, standby) = (server.client(0x10), server.client(0x20));
        let mut world = Self {
            standby_latch: String::new(),
            checkpoints: Vec::new(),
            directory,
            server,
            leader,
            standby,
            storage,
            results,
            paths,
        };
        world.write_identity(false).await;
        world.latch(&world.leader, Some(TERM)).await;
        world.standby_latch = world.latch(&world.standby, None).await;
        world.publish(&world.leader, TERM).await;
        let graph = world
            .put(StateKind::JobGraph, JOB, &JOB.to_string(), b"graph")
            .await;
        world.point(&world.paths.job_graph(JOB), graph, None).await;
        for (number, payload) in [(1, &b"one"[..]), (2, b"second")] {
            let id = CheckpointId::new(number).unwrap();
            let file = world
                .put(StateKind::Checkpoint, JOB, &id.to_name(), payload)
                .await;
            world
                .point(&world.paths.checkpoint(JOB, id), file.clone(), None)
                .await;
            world.checkpoints.push(file);
        }
        world.create(&world.paths.checkpoint_id_counter(JOB), "3").await;
        world.create(&world.paths.running_job(JOB), "RUNNING").await;
        let graph = world
            .put(StateKind::JobGraph, ENDED, &ENDED.to_string(), b"graph")
            .await;
        world
            .point(&world.paths.job_graph(ENDED), graph, Some(end(ENDED)))
            .await;
        for job_id in [ENDED, DONE] {
            world.results.create_dirty_result(&end(job_id)).await.unwrap();
        }
        world.results.mark_result_as_clean(DONE).await.unwrap();
        world
    }

    /// Writes the identity into the tree; the storage's is made when there is none.
    pub(super) async fn write_identity(&self, tree_lost: bool) {
        let file = self
            .storage
            .identity_of_tree(Some(self.paths.cluster()))
            .await
            .unwrap();
        let data = IdentityData {
            cluster_uuid: file.cluster_uuid,
            storage_dir: file.storage_dir,
            created_by: file.created_by,
            tree_lost,
        };
        self.write(&self.paths.identity(), data.encode("/i").unwrap())
            .await;
    }

    /// Adds a latch, the last of the election; gives its path.
    pub(super) async fn latch(&self, client: &MemoryClient, claim: Option<LeaderSessionId>) -> String {
        let prefix = self.paths.latch_prefix(Uuid::from_u128(5));
        let data = latch_data(claim);
        client
            .create(&prefix, data, CreateMode::EphemeralSequential)
            .await
            .unwrap()
    }

    /// Publishes the leader of the dispatcher.
    pub(super) async fn publish(&self, client: &MemoryClient, session: LeaderSessionId) {
        let data =
            format!(r#"{{"format":1,"leaderAddress":"http://h:1","leaderSessionId":"{session}","epoch":1}}"#);
        client
            .create(&self.information(), data.into(), CreateMode::Ephemeral)
            .await
            .unwrap();
    }

    pub(super) fn information(&self) -> String {
        self.paths.connection_info(&ComponentId::dispatcher())
    }

    pub(super) async fn put(
        &self,
        kind: StateKind,
        owner: JobId,
        name: &str,
        payload: &'static [u8],
    ) -> StateFile {
        let (attributes, payload) = (BTreeMap::new(), Bytes::from_static(payload));
        self.storage
            .put_state(kind, owner, name, attributes, payload)
            .await
            .unwrap()
    }

    pub(super) async fn point(&self, path: &str, file: StateFile, terminal: Option<JobResultEntry>) {
        let pointer = Pointer {
            file,
            write_id: Uuid::from_u128(9),
            name: None,
            terminal,
        };
        self.write(path, pointer.encode(path).unwrap()).await;
    }

    pub(super) async fn create(&self, path: &str, data: impl Into<Bytes>) {
        self.leader
            .create(path, data.into(), CreateMode::Persistent)
            .await
            .unwrap();
    }

    /// Writes a node, whether or not it is there.
    pub(super) async fn write(&self, path: &str, data: impl Into<Bytes>) {
        let data = data.into();
        if self.leader.exists(path).await.unwrap().is_some() {
            self.leader.set(path, data, None).await.unwrap();
        } else {
            self.create(path, data).await;
        }
    }

    pub(super) async fn delete(&self, path: &str) {
        self.leader.delete(path, None).await.unwrap();
    }

    /// Where a file of the cluster's folder lies.
    pub(super) fn file(&self, path: &str) -> PathBuf {
        self.storage.local_folder().unwrap().join(path)
    }

    /// Where a result file lies.
    pub(super) fn result(&self, name: &str) -> PathBuf {
        self.directory.path().join("job-results-store/c").join(name)
    }

    pub(super) async fn snapshot(&self) -> Snapshot {
        let clock = Environment::system().clock;
        let reader = StorageReader::read(&self.storage, &self.results, clock.as_ref()).await;
        self.snapshot_with(reader.map_err(|error| unreached(&error, "storage")))
            .await
    }

    pub(super) async fn snapshot_with(&self, reader: Result<StorageReader<'_>, Unreached>) -> Snapshot {
        let clock = Environment::system().clock;
        let nodes = Nodes::new(Arc::new(self.server.client(0x30)));
        let storage = reader.is_ok().then_some(self.storage.as_ref());
        let (mut snapshot, broken) = read_znodes(
            &nodes,
            &self.paths,
            None,
            storage,
            reader,
            clock.as_ref(),
            DIRTY_AFTER,
        )
        .await
        .unwrap();
        assert!(broken.is_empty(), "{broken:?}");
        // What the connection tells.
        let tree = snapshot.tree.as_mut().unwrap();
        let granted = Duration::from_secs(60);
        tree.session = Ok(SessionFacts {
            asked: granted,
            granted,
        });
        let tick = Duration::from_secs(2);
        tree.servers = vec![("h:1".to_owned(), Ok(server(tick, [0x10, 0x20])))];
        let open = "world:anyone:ALL".to_owned();
        tree.acls = Ok(BTreeMap::from([(open, (20, "/flink/c".to_owned()))]));
        snapshot
    }

    pub(super) async fn verdict(&self) -> Verdict {
        judge(&self.snapshot().await)
    }
}

/// What a server that stands alone says of itself.
pub(super) fn server(tick: Duration, connected: impl IntoIterator<Item = i64>) -> ServerSettings {
    ServerSettings {
        tick,
        members: 1,
        connected: Ok(connected.into_iter().collect()),
    }
}

pub(super) fn latch_data(claim: Option<LeaderSessionId>) -> Bytes {
    let latch = LatchData {
        process: "p".to_owned(),
        host: "h".to_owned(),
        pid: 1,
        tool: None,
        leader_session_id: claim,
    };
    latch.encode("/l").unwrap()
}

pub(super) fn end(job_id: JobId) -> JobResultEntry {
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

/// The ids of the findings, each once for each of them.
pub(super) fn ids(verdict: &Verdict) -> Vec<&'static str> {
    verdict.findings.iter().map(|finding| finding.id).collect()
}

/// That there is this one finding, at this znode and file.
pub(super) fn expect(verdict: &Verdict, id: &str, znode: Option<&str>, file: Option<String>) {
    let [finding] = verdict.findings.as_slice() else {
        panic!("one {id} is expected: {:?}", verdict.findings);
    };
    assert_eq!(finding.id, id);
    assert_eq!(finding.znode.as_deref(), znode, "{finding:?}");
    assert_eq!(finding.file, file, "{finding:?}");
    for text in [&finding.found, finding.why, finding.advice] {
        assert!(text.len() > 10, "{finding:?}");
    }
}
