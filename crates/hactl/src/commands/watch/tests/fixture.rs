use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use ha_core::Result;
use ha_core::environment::{Environment, SystemClock, TaskScope};
use ha_core::health::ConnectionState;
use ha_core::ids::{ClusterId, JobId};
use ha_flink::Pointer;
use ha_zookeeper::client::memory::{MemoryClient, MemoryServer};
use ha_zookeeper::client::{ClientSource, CreateMode, Operation, SessionId, ZooKeeperClient};
use ha_zookeeper::paths::ClusterPaths;
use ha_zookeeper::session::SessionStatus;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::super::event::{WatchEvent, WatchLine};
use super::super::follower::{Follower, Records};
use super::super::watched_tree::WatchedTree;
use crate::layout::Layout;

pub(super) const JOB: JobId = JobId::from_bytes([1; 16]);
pub(super) const OTHER: JobId = JobId::from_bytes([2; 16]);
pub(super) const CLUSTER: &str = "/flink/one";
/// The first session.
const FIRST: i64 = 1;
/// Longer than anything waits by itself.
const LONG: Duration = Duration::from_secs(60);

/// A cluster that is watched.
pub(super) struct Watched {
    pub(super) server: MemoryServer,
    admin: MemoryClient,
    source: Arc<Source>,
    pub(super) ends: Arc<Ends>,
    lines: mpsc::Receiver<WatchLine>,
    _tasks: TaskScope,
}

struct Source {
    client: Mutex<MemoryClient>,
    status: watch::Sender<SessionStatus>,
}

#[async_trait]
impl ClientSource for Source {
    async fn client(&self) -> Result<Arc<dyn ZooKeeperClient>> {
        Ok(Arc::new(self.client.lock().unwrap().clone()))
    }
}

/// What is recorded; who asks for an end or a name that is not there waits for ever where that is set.
#[derive(Default)]
pub(super) struct Ends {
    pub(super) recorded: Mutex<BTreeMap<JobId, String>>,
    /// The names of jobs, by the files that their pointers name.
    pub(super) names: Mutex<BTreeMap<String, String>>,
    pub(super) asked: Mutex<Vec<JobId>>,
    pub(super) hangs: Mutex<bool>,
}

#[async_trait]
impl Records for Ends {
    async fn name_of(&self, _job_id: JobId, graph: Pointer) -> Option<String> {
        let name = self.names.lock().unwrap().get(&graph.file).cloned();
        if name.is_none() && *self.hangs.lock().unwrap() {
            std::future::pending::<()>().await;
        }
        name
    }

    async fn end_of(&self, job_id: JobId) -> Option<String> {
        self.asked.lock().unwrap().push(job_id);
        let end = self.recorded.lock().unwrap().get(&job_id).cloned();
        if end.is_none() && *self.hangs.lock().unwrap() {
            std::future::pending::<()>().await;
        }
        end
    }
}

impl Watched {
    /// An empty cluster after `prepare`, watched.
    pub(super) fn new(prepare: impl FnOnce(&Self)) -> Self {
        Self::of(Layout::Native, prepare)
    }

    /// The same in a layout.
    pub(super) fn of(layout: Layout, prepare: impl FnOnce(&Self)) -> Self {
        let server = MemoryServer::with(&["/flink", CLUSTER]);
        let status = SessionStatus {
            state: ConnectionState::Connected,
            session: Some(SessionId(FIRST)),
            connects: 1,
            closed: false,
        };
        let source = Arc::new(Source {
            client: Mutex::new(server.client(FIRST)),
            status: watch::Sender::new(status),
        });
        let environment = Environment::system();
        let (sender, lines) = mpsc::channel(4);
        let watched = Self {
            admin: server.client(99),
            server,
            source: Arc::clone(&source),
            ends: Arc::new(Ends::default()),
            lines,
            _tasks: environment.task_scope(),
        };
        prepare(&watched);
        let paths = ClusterPaths::new("", "/flink", &ClusterId::new("one").unwrap()).unwrap();
        let status = ha_core::Follower::new(source.status.subscribe());
        let ends = Arc::clone(&watched.ends) as Arc<dyn Records>;
        let tree = WatchedTree::new(paths, layout);
        let follower = Follower::new(source, status, Arc::new(SystemClock), ends, sender, tree);
        watched._tasks.spawn("follower", async move {
            let _ = follower.run().await;
        });
        watched
    }

    /// Creates or changes a node below the cluster's, with all above it.
    pub(super) fn put(&self, path: &str, data: impl ToString) {
        self.put_bytes(path, data.to_string().into());
    }

    /// The same.
    pub(super) fn put_bytes(&self, path: &str, data: Bytes) {
        let path = format!("{CLUSTER}/{path}");
        let (parents, _) = path.rsplit_once('/').unwrap();
        let mut parent = String::new();
        for segment in parents.split('/').skip(1) {
            parent = format!("{parent}/{segment}");
            let _ = self.admin.apply(&[create(&parent, Bytes::new())]);
        }
        if self.admin.apply(&[create(&path, data.clone())]).is_err() {
            let version = None;
            self.admin
                .apply(&[Operation::Set { path, data, version }])
                .unwrap();
        }
    }

    pub(super) fn delete(&self, path: &str) {
        let path = format!("{CLUSTER}/{path}");
        self.admin
            .apply(&[Operation::Delete { path, version: None }])
            .unwrap();
    }

    pub(super) fn lead(&self, component: &str, epoch: u64) {
        self.put(&format!("leader/{component}/connection_info"), leader(epoch));
    }

    pub(super) fn add_job(&self, job_id: JobId) {
        self.put(&format!("jobgraphs/{job_id}"), pointer(job_id));
    }

    pub(super) fn complete(&self, job_id: JobId, checkpoint: u64) {
        self.put(&format!("jobs/{job_id}/checkpoints/{checkpoint:019}"), "");
    }

    fn set_status(&self, change: impl FnOnce(&mut SessionStatus)) {
        self.source.status.send_modify(change);
    }

    /// The connection goes down.
    pub(super) fn cut(&self) {
        let session = self.session();
        self.server.cut(session);
        self.set_status(|status| status.state = ConnectionState::Suspended);
    }

    /// It is back, in the same session.
    pub(super) fn reconnect(&self) {
        let session = self.session();
        self.server.reconnect(session);
        self.set_status(|status| {
            status.state = ConnectionState::Connected;
            status.connects += 1;
        });
    }

    /// The session expires.
    pub(super) fn expire(&self) {
        let session = self.session();
        self.server.expire(session);
        self.server.reconnect(session);
        self.set_status(|status| {
            status.state = ConnectionState::Lost;
            status.session = None;
        });
    }

    /// Another session takes its place.
    pub(super) fn replace(&self) {
        let session = self.session() + 1;
        *self.source.client.lock().unwrap() = self.server.client(session);
        self.set_status(|status| {
            status.state = ConnectionState::Connected;
            status.session = Some(SessionId(session));
            status.connects += 1;
        });
    }

    fn session(&self) -> i64 {
        self.source.client.lock().unwrap().session_id().0
    }

    /// The next event, short.
    pub(super) async fn next(&mut self) -> String {
        let line = timeout(LONG, self.lines.recv()).await.expect("an event").unwrap();
        assert!(line.time > 1_700_000_000_000);
        let there = if line.present { "there: " } else { "" };
        format!("{there}{}", short(&line.event))
    }

    /// The next events.
    pub(super) async fn expect<const N: usize>(&mut self, events: [&str; N]) {
        for event in events {
            assert_eq!(self.next().await, event);
        }
    }

    /// That there is no event, however long one waits.
    pub(super) async fn expect_nothing(&mut self) {
        if let Ok(line) = timeout(LONG, self.lines.recv()).await {
            panic!("{line:?}");
        }
    }
}

pub(super) fn leader(epoch: u64) -> Value {
    let session = format!("11111111-2222-3333-4444-{epoch:012}");
    json!({"format":1,"leaderAddress":format!("http://h:{epoch}"),"leaderSessionId":session,"epoch":epoch})
}

pub(super) fn pointer(job_id: JobId) -> Value {
    let write_id = "99999999-2222-3333-4444-555555555555";
    json!({
        "format": 1,
        "kind": "jobGraph",
        "path": format!("jobgraphs/{job_id}-{write_id}"),
        "size": 1,
        "crc32c": 1,
        "writeId": write_id,
        "name": "wordcount",
    })
}

pub(super) fn ended(job_id: JobId, status: &str) -> Value {
    let mut pointer = pointer(job_id);
    pointer["terminal"] = json!({"result": {
        "id": job_id.to_string(), "name": "wordcount", "application-status": status, "net-runtime": 1,
    }});
    pointer
}

fn create(path: &str, data: Bytes) -> Operation {
    Operation::Create {
        path: path.to_owned(),
        data,
        mode: CreateMode::Persistent,
    }
}

fn short(event: &WatchEvent) -> String {
    let job = |id: &JobId| match *id {
        JOB => "job".to_owned(),
        OTHER => "other".to_owned(),
        id => id.to_string(),
    };
    match event {
        WatchEvent::LeaderChanged {
            component,
            address: Some(address),
            epoch: None,
            ..
        } => format!("{component}={address}"),
        WatchEvent::LeaderChanged { component, epoch, .. } => format!("{component}={}", epoch.unwrap_or(0)),
        WatchEvent::JobAdded { job_id, name } => {
            format!("+{} {}", job(job_id), name.as_deref().unwrap_or("-"))
        }
        WatchEvent::JobEnded { job_id, status, .. } => format!("-{} {status}", job(job_id)),
        WatchEvent::CheckpointCompleted {
            job_id,
            checkpoint_id,
        } => format!("{}#{checkpoint_id}", job(job_id)),
        WatchEvent::Unreadable { path, .. } => format!("unreadable {}", path.trim_start_matches(CLUSTER)),
        WatchEvent::ConnectionLost => "lost".to_owned(),
        WatchEvent::ConnectionBack { new_session: true } => "back, new session".to_owned(),
        WatchEvent::ConnectionBack { new_session: false } => "back".to_owned(),
    }
}
