//! A server in memory with one history, for tests of what is built on [`ZooKeeperClient`]. It does what a real
//! one does with data, versions, owners, sequence numbers, zxids and one-shot watches; and it loses replies where
//! a test asks for it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::oneshot;

use super::{
    CreateMode, MultiError, NodeEvent, NodeWatch, Operation, OperationResult, SessionId, Stat, ZkCode,
    ZkError, ZkResult, ZooKeeperClient,
};

#[derive(Clone, Default)]
struct Tree {
    nodes: BTreeMap<String, (Bytes, Stat)>,
    zxid: i64,
}

/// What happens to a request whose reply is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    Applied,
    NotApplied,
}

#[derive(Default)]
struct State {
    tree: Tree,
    watches: Vec<(String, oneshot::Sender<NodeEvent>)>,
    /// For the next writes of any client.
    losses: VecDeque<Lost>,
    requests: Vec<String>,
    /// Done by somebody else just before the next multi.
    before_multi: Option<Vec<Operation>>,
}

/// The server.
#[derive(Clone, Default)]
pub(crate) struct MemoryServer {
    state: Arc<Mutex<State>>,
}

impl MemoryServer {
    /// A server with these persistent nodes.
    pub(crate) fn with(paths: &[&str]) -> Self {
        let server = Self::default();
        for path in paths {
            server
                .client(0)
                .apply(&[Operation::Create {
                    path: (*path).to_owned(),
                    data: Bytes::new(),
                    mode: CreateMode::Persistent,
                }])
                .unwrap();
        }
        server
    }

    pub(crate) fn client(&self, session: i64) -> MemoryClient {
        self.swapped_client(session, session)
    }

    /// A client that believes in one session, and was given another one.
    pub(crate) fn swapped_client(&self, believed: i64, session: i64) -> MemoryClient {
        MemoryClient {
            server: self.clone(),
            believed,
            session,
        }
    }

    /// Loses the reply of the next write.
    pub(crate) fn lose_next_reply(&self, lost: Lost) {
        self.lock().losses.push_back(lost);
    }

    /// Has somebody else do this just before the next multi.
    pub(crate) fn before_next_multi(&self, operations: Vec<Operation>) {
        self.lock().before_multi = Some(operations);
    }

    /// The paths of all nodes.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.lock().tree.nodes.keys().cloned().collect()
    }

    /// The names of the requests so far, and forgets them.
    pub(crate) fn take_requests(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().requests)
    }

    /// The nodes that somebody watches, one entry a watch.
    pub(crate) fn watches(&self) -> Vec<String> {
        let mut state = self.lock();
        state.watches.retain(|(_, sender)| !sender.is_closed());
        state.watches.iter().map(|(path, _)| path.clone()).collect()
    }

    /// Ends a session: its ephemeral nodes go.
    pub(crate) fn expire(&self, session: i64) {
        let mut state = self.lock();
        state.tree.zxid += 1;
        let gone: Vec<_> = state
            .tree
            .nodes
            .iter()
            .filter(|(_, (_, stat))| stat.ephemeral_owner == session)
            .map(|(path, _)| path.clone())
            .collect();
        for path in gone {
            state.tree.nodes.remove(&path);
            state.fire(&path, NodeEvent::Deleted);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl State {
    fn fire(&mut self, path: &str, event: NodeEvent) {
        let parent = parent(path).to_owned();
        let (fired, kept) = std::mem::take(&mut self.watches)
            .into_iter()
            .partition(|(watched, _)| watched == path || (*watched == parent && event == NodeEvent::Deleted));
        self.watches = kept;
        for (_, sender) in fired as Vec<(String, oneshot::Sender<NodeEvent>)> {
            let _ = sender.send(event);
        }
    }

    fn watch(&mut self, path: &str) -> NodeWatch {
        let (sender, receiver) = oneshot::channel();
        self.watches.push((path.to_owned(), sender));
        Box::pin(async move { receiver.await.unwrap_or(NodeEvent::SessionOver) })
    }
}

impl Tree {
    fn apply(&mut self, session: i64, operation: &Operation) -> Result<OperationResult, ZkCode> {
        let zxid = self.zxid;
        let path = operation.path().to_owned();
        let version_of = |tree: &Self, path: &str, wanted: Option<i32>| match tree.nodes.get(path) {
            None => Err(ZkCode::NoNode),
            Some((_, stat)) if wanted.is_some_and(|wanted| wanted != stat.version) => Err(ZkCode::BadVersion),
            Some(_) => Ok(()),
        };
        match operation {
            Operation::Check { version, .. } => {
                version_of(self, &path, Some(*version)).map(|()| OperationResult::Checked)
            }
            Operation::Create { data, mode, .. } => {
                let mut path = path;
                if !parent(&path).is_empty() {
                    let (_, stat) = self.nodes.get_mut(parent(&path)).ok_or(ZkCode::NoNode)?;
                    if *mode == CreateMode::EphemeralSequential {
                        path = format!("{path}{:010}", stat.cversion);
                    }
                    stat.cversion += 1;
                }
                if self.nodes.contains_key(&path) {
                    return Err(ZkCode::NodeExists);
                }
                let stat = Stat {
                    czxid: zxid,
                    mzxid: zxid,
                    ephemeral_owner: if *mode == CreateMode::Persistent {
                        0
                    } else {
                        session
                    },
                    ..Stat::default()
                };
                self.nodes.insert(path.clone(), (data.clone(), stat));
                Ok(OperationResult::Created { path })
            }
            Operation::Set { data, version, .. } => {
                version_of(self, &path, *version)?;
                let (old, stat) = self.nodes.get_mut(&path).ok_or(ZkCode::NoNode)?;
                *old = data.clone();
                stat.version += 1;
                stat.mzxid = zxid;
                Ok(OperationResult::Set { stat: *stat })
            }
            Operation::Delete { version, .. } => {
                version_of(self, &path, *version)?;
                let prefix = format!("{path}/");
                if self.nodes.keys().any(|other| other.starts_with(&prefix)) {
                    return Err(ZkCode::NotEmpty);
                }
                self.nodes.remove(&path);
                Ok(OperationResult::Deleted)
            }
        }
    }
}

/// A client of one session.
#[derive(Clone)]
pub(crate) struct MemoryClient {
    server: MemoryServer,
    believed: i64,
    session: i64,
}

impl MemoryClient {
    /// Applies all or nothing.
    pub(crate) fn apply(&self, operations: &[Operation]) -> Result<Vec<OperationResult>, (usize, ZkCode)> {
        let mut state = self.server.lock();
        let mut tree = state.tree.clone();
        tree.zxid += 1;
        state.tree.zxid += 1;
        let mut results = Vec::new();
        for (index, operation) in operations.iter().enumerate() {
            results.push(
                tree.apply(self.session, operation)
                    .map_err(|code| (index, code))?,
            );
        }
        state.tree = tree;
        for operation in operations {
            match operation {
                Operation::Check { .. } => {}
                Operation::Delete { path, .. } => state.fire(path, NodeEvent::Deleted),
                Operation::Create { path, .. } | Operation::Set { path, .. } => {
                    state.fire(path, NodeEvent::Changed);
                }
            }
        }
        Ok(results)
    }

    /// Applies, unless the request or its reply is lost.
    fn send(&self, operations: &[Operation]) -> Result<Vec<OperationResult>, MultiError> {
        let lost = self.server.lock().losses.pop_front();
        let loss = || MultiError::Failed(ZkError::new(ZkCode::ConnectionLoss, "the reply is lost"));
        if lost == Some(Lost::NotApplied) {
            return Err(loss());
        }
        let result = self
            .apply(operations)
            .map_err(|(index, code)| MultiError::Refused {
                index,
                error: refusal(code),
            });
        if lost.is_some() { Err(loss()) } else { result }
    }

    fn one(&self, operation: Operation) -> ZkResult<OperationResult> {
        match self.send(&[operation]) {
            Ok(mut results) => Ok(results.remove(0)),
            Err(MultiError::Refused { error, .. } | MultiError::Failed(error)) => Err(error),
        }
    }

    fn note(&self, request: &str) {
        self.server.lock().requests.push(request.to_owned());
    }

    fn read(&self, path: &str) -> ZkResult<(Bytes, Stat)> {
        let found = self.server.lock().tree.nodes.get(path).cloned();
        found.ok_or_else(|| refusal(ZkCode::NoNode))
    }
}

fn refusal(code: ZkCode) -> ZkError {
    ZkError::new(code, format!("{code:?}"))
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

#[async_trait]
impl ZooKeeperClient for MemoryClient {
    fn session_id(&self) -> SessionId {
        SessionId(self.believed)
    }

    async fn get(&self, path: &str) -> ZkResult<(Bytes, Stat)> {
        self.note("get");
        self.read(path)
    }

    async fn get_and_watch(&self, path: &str) -> ZkResult<(Bytes, Stat, NodeWatch)> {
        self.note("get_and_watch");
        let (data, stat) = self.read(path)?;
        let watch = self.server.lock().watch(path);
        Ok((data, stat, watch))
    }

    async fn exists(&self, path: &str) -> ZkResult<Option<Stat>> {
        self.note("exists");
        Ok(self.read(path).ok().map(|(_, stat)| stat))
    }

    async fn exists_and_watch(&self, path: &str) -> ZkResult<(Option<Stat>, NodeWatch)> {
        self.note("exists_and_watch");
        let stat = self.read(path).ok().map(|(_, stat)| stat);
        Ok((stat, self.server.lock().watch(path)))
    }

    async fn list(&self, path: &str) -> ZkResult<(Vec<String>, Stat)> {
        self.note("list");
        let (_, stat) = self.read(path)?;
        let prefix = format!("{path}/");
        let names = self
            .server
            .paths()
            .iter()
            .filter_map(|other| other.strip_prefix(&prefix))
            .filter(|name| !name.contains('/'))
            .map(str::to_owned)
            .collect();
        Ok((names, stat))
    }

    async fn list_and_watch(&self, path: &str) -> ZkResult<(Vec<String>, Stat, NodeWatch)> {
        let (names, stat) = self.list(path).await?;
        let watch = self.server.lock().watch(path);
        Ok((names, stat, watch))
    }

    async fn create(&self, path: &str, data: Bytes, mode: CreateMode) -> ZkResult<String> {
        self.note("create");
        let path = path.to_owned();
        match self.one(Operation::Create { path, data, mode })? {
            OperationResult::Created { path } => Ok(path),
            other => panic!("{other:?}"),
        }
    }

    async fn set(&self, path: &str, data: Bytes, version: Option<i32>) -> ZkResult<Stat> {
        self.note("set");
        let path = path.to_owned();
        match self.one(Operation::Set { path, data, version })? {
            OperationResult::Set { stat } => Ok(stat),
            other => panic!("{other:?}"),
        }
    }

    async fn delete(&self, path: &str, version: Option<i32>) -> ZkResult<()> {
        self.note("delete");
        let path = path.to_owned();
        self.one(Operation::Delete { path, version }).map(drop)
    }

    async fn sync(&self, _path: &str) -> ZkResult<()> {
        self.note("sync");
        Ok(())
    }

    async fn multi(&self, operations: Vec<Operation>) -> Result<Vec<OperationResult>, MultiError> {
        self.note("multi");
        let before = self.server.lock().before_multi.take();
        if let Some(before) = before {
            self.server.client(-1).apply(&before).unwrap();
        }
        self.send(&operations)
    }

    async fn multi_get(&self, paths: &[String]) -> ZkResult<Vec<ZkResult<(Bytes, Stat)>>> {
        self.note("multi_get");
        Ok(paths.iter().map(|path| self.read(path)).collect())
    }
}
