use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::watch;

use super::loss::Lost;
use super::path;
use super::server::MemoryServer;
use super::sessions::Link;
use super::state::State;
use super::watches::WatchKind;
use crate::client::{
    CreateMode, MultiError, NodeWatch, Operation, OperationResult, SessionId, Stat, ZkCode, ZkError,
    ZkResult, ZooKeeperClient, request_size,
};

/// A client of one session. Clones are handles of one connection.
#[derive(Clone, Debug)]
pub struct MemoryClient {
    server: MemoryServer,
    believed: i64,
    session: i64,
    link: watch::Receiver<Link>,
}

impl MemoryClient {
    pub(super) fn new(
        server: MemoryServer,
        believed: i64,
        session: i64,
        link: watch::Receiver<Link>,
    ) -> Self {
        Self {
            server,
            believed,
            session,
            link,
        }
    }

    /// Applies all or nothing, at once and whatever is lost or cut.
    ///
    /// # Errors
    /// The first operation that refuses, and its code.
    pub fn apply(&self, operations: &[Operation]) -> Result<Vec<OperationResult>, (usize, ZkCode)> {
        self.server.lock().apply(self.session, operations)
    }

    /// Ends the session, as a close by its client does.
    pub fn close(&self) {
        let mut state = self.server.lock();
        state.end_session(self.session);
        state.tell_the_end(self.session);
    }

    /// Has the server handle a request, once it is connected. Without a fault that is at the first poll, so that
    /// requests are handled in the order in which they were first polled.
    async fn request<T>(&self, name: &str, handle: impl FnOnce(&mut State) -> T + Send) -> ZkResult<T> {
        let mut link = self.link.clone();
        while self.is_cut() {
            // The sender lives as long as the server.
            let _ = link.wait_for(|link| *link != Link::Cut).await;
        }
        let mut state = self.server.lock();
        if state.session(self.session).link() == Link::Over {
            return Err(ZkError::new(ZkCode::SessionOver, "the session is over"));
        }
        state.requests.push(name.to_owned());
        let answer = handle(&mut state);
        let zxid = state.zxid;
        state.session(self.session).last_zxid = zxid;
        Ok(answer)
    }

    fn is_cut(&self) -> bool {
        let mut state = self.server.lock();
        state.expire_due();
        state.session(self.session).link() == Link::Cut
    }

    async fn write(&self, name: &str, operation: Operation) -> ZkResult<OperationResult> {
        let operations = [operation];
        let written = self
            .request(name, |state| write(state, self.session, &operations))
            .await?;
        match written {
            Ok(results) => results
                .into_iter()
                .next()
                .ok_or_else(|| ZkError::new(ZkCode::Other, "no result")),
            Err(MultiError::Refused { error, .. } | MultiError::Failed(error)) => Err(error),
        }
    }

    async fn read(&self, name: &str, path: &str, watch: Option<WatchKind>) -> ZkResult<Read> {
        path::validate(path).map_err(refusal)?;
        self.request(name, |state| {
            let node = state.read(path).map_err(refusal)?;
            let read = Read {
                data: node.data.clone(),
                names: node.children.iter().cloned().collect(),
                stat: node.stat(),
                watch: None,
            };
            Ok(Read {
                watch: watch.map(|kind| state.watches.arm(self.session, path, kind)),
                ..read
            })
        })
        .await?
    }
}

/// What was read of a node, and the watch that was armed with it.
struct Read {
    data: Bytes,
    names: Vec<String>,
    stat: Stat,
    watch: Option<NodeWatch>,
}

impl Read {
    fn watch(self) -> ZkResult<NodeWatch> {
        self.watch
            .ok_or_else(|| ZkError::new(ZkCode::Other, "no watch was armed"))
    }
}

/// Applies, unless the request or its reply is lost.
fn write(
    state: &mut State,
    session: i64,
    operations: &[Operation],
) -> Result<Vec<OperationResult>, MultiError> {
    let lost = state.losses.pop_front();
    let loss = || MultiError::Failed(ZkError::new(ZkCode::ConnectionLoss, "the reply is lost"));
    if lost == Some(Lost::NotApplied) {
        return Err(loss());
    }
    let result = state
        .apply(session, operations)
        .map_err(|(index, code)| MultiError::Refused {
            index,
            error: refusal(code),
        });
    if lost.is_some() { Err(loss()) } else { result }
}

fn refusal(code: ZkCode) -> ZkError {
    ZkError::new(code, format!("{code:?}"))
}

/// What the client refuses before it sends anything.
fn check(operation: &Operation) -> Result<(), ZkCode> {
    match operation {
        Operation::Delete { path, .. } if path == "/" => Err(ZkCode::BadArguments),
        Operation::Create {
            path,
            mode: CreateMode::EphemeralSequential,
            ..
        } => path::validate_prefix(path),
        other => path::validate(other.path()),
    }
}

#[async_trait]
impl ZooKeeperClient for MemoryClient {
    fn session_id(&self) -> SessionId {
        SessionId(self.believed)
    }

    async fn get(&self, path: &str) -> ZkResult<(Bytes, Stat)> {
        let read = self.read("get", path, None).await?;
        Ok((read.data, read.stat))
    }

    async fn get_and_watch(&self, path: &str) -> ZkResult<(Bytes, Stat, NodeWatch)> {
        let read = self.read("get_and_watch", path, Some(WatchKind::Data)).await?;
        Ok((read.data.clone(), read.stat, read.watch()?))
    }

    async fn exists(&self, path: &str) -> ZkResult<Option<Stat>> {
        match self.read("exists", path, None).await {
            Ok(read) => Ok(Some(read.stat)),
            Err(error) if error.code == ZkCode::NoNode => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn exists_and_watch(&self, path: &str) -> ZkResult<(Option<Stat>, NodeWatch)> {
        path::validate(path).map_err(refusal)?;
        self.request("exists_and_watch", |state| {
            let stat = state.tree.get(path).ok().map(super::node::Node::stat);
            let kind = match stat {
                Some(_) => WatchKind::Data,
                None => WatchKind::Absence,
            };
            (stat, state.watches.arm(self.session, path, kind))
        })
        .await
    }

    async fn list(&self, path: &str) -> ZkResult<(Vec<String>, Stat)> {
        let read = self.read("list", path, None).await?;
        Ok((read.names, read.stat))
    }

    async fn list_and_watch(&self, path: &str) -> ZkResult<(Vec<String>, Stat, NodeWatch)> {
        let mut read = self
            .read("list_and_watch", path, Some(WatchKind::Children))
            .await?;
        Ok((std::mem::take(&mut read.names), read.stat, read.watch()?))
    }

    async fn create(&self, path: &str, data: Bytes, mode: CreateMode) -> ZkResult<String> {
        request_size::check([(path.len(), data.len())])?;
        let path = path.to_owned();
        if path == "/" {
            return Err(refusal(ZkCode::BadArguments));
        }
        let operation = Operation::Create { path, data, mode };
        check(&operation).map_err(refusal)?;
        match self.write("create", operation).await? {
            OperationResult::Created { path } => Ok(path),
            other => Err(unexpected(&other)),
        }
    }

    async fn set(&self, path: &str, data: Bytes, version: Option<i32>) -> ZkResult<Stat> {
        request_size::check([(path.len(), data.len())])?;
        let path = path.to_owned();
        let operation = Operation::Set { path, data, version };
        check(&operation).map_err(refusal)?;
        match self.write("set", operation).await? {
            OperationResult::Set { stat } => Ok(stat),
            other => Err(unexpected(&other)),
        }
    }

    async fn delete(&self, path: &str, version: Option<i32>) -> ZkResult<()> {
        let path = path.to_owned();
        let operation = Operation::Delete { path, version };
        check(&operation).map_err(refusal)?;
        self.write("delete", operation).await.map(drop)
    }

    async fn sync(&self, path: &str) -> ZkResult<()> {
        path::validate(path).map_err(refusal)?;
        self.request("sync", |_| ()).await
    }

    async fn multi(&self, operations: Vec<Operation>) -> Result<Vec<OperationResult>, MultiError> {
        request_size::check_multi(&operations).map_err(MultiError::Failed)?;
        for (index, operation) in operations.iter().enumerate() {
            check(operation).map_err(|code| MultiError::Refused {
                index,
                error: refusal(code),
            })?;
        }
        self.request("multi", |state| {
            if let Some(before) = state.before_multi.take() {
                let done = state.apply(-1, &before);
                assert!(done.is_ok(), "before a multi: {done:?}");
            }
            write(state, self.session, &operations)
        })
        .await
        .map_err(MultiError::Failed)?
    }

    async fn multi_get(&self, paths: &[String]) -> ZkResult<Vec<ZkResult<(Bytes, Stat)>>> {
        request_size::check(paths.iter().map(|path| (path.len(), 0)))?;
        for path in paths {
            path::validate(path).map_err(refusal)?;
        }
        self.request("multi_get", |state| {
            let read = |path: &String| {
                let node = state.read(path).map_err(refusal)?;
                Ok((node.data.clone(), node.stat()))
            };
            paths.iter().map(read).collect()
        })
        .await
    }

    async fn multi_list(&self, paths: &[String]) -> ZkResult<Vec<ZkResult<Vec<String>>>> {
        request_size::check(paths.iter().map(|path| (path.len(), 0)))?;
        for path in paths {
            path::validate(path).map_err(refusal)?;
        }
        self.request("multi_list", |state| {
            let list = |path: &String| {
                let node = state.read(path).map_err(refusal)?;
                Ok(node.children.iter().cloned().collect())
            };
            paths.iter().map(list).collect()
        })
        .await
    }
}

fn unexpected(result: &OperationResult) -> ZkError {
    ZkError::new(ZkCode::Other, format!("{result:?}"))
}
