use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use ha_core::environment::Clock;
use zookeeper_client as zk;

use super::{
    CreateMode, MultiError, NodeEvent, NodeWatch, Operation, OperationResult, SessionId, Stat, ZkCode,
    ZkError, ZkResult, ZooKeeperClient, request_size,
};

/// The client of one session, over the crate `zookeeper-client`.
///
/// Only one-shot watches are used: the crate re-sends them after a reconnect, and loses persistent ones. It is
/// never given a chroot: paths carry it.
///
/// Dropping the last handle closes the session in the background; [`WireClient::close`] waits for it.
pub struct WireClient {
    /// `None` after the close, so that handles which are kept elsewhere do not keep the session.
    client: Mutex<Option<zk::Client>>,
    state: zk::StateWatcher,
    session: zk::SessionInfo,
    timeout: Duration,
}

impl WireClient {
    pub(super) fn new(client: zk::Client) -> Self {
        Self {
            state: client.state_watcher(),
            session: client.session().clone(),
            timeout: client.session_timeout(),
            client: Mutex::new(Some(client)),
        }
    }

    /// The session timeout that the server granted.
    pub fn session_timeout(&self) -> Duration {
        self.timeout
    }

    /// The ACL of a node as text: `scheme:id:permissions`, joined by commas. Of a user with a password the name only.
    ///
    /// # Errors
    /// As those of every read.
    pub async fn acl(&self, path: &str) -> ZkResult<String> {
        let (acl, _) = self.client()?.get_acl(path).await?;
        let entries = acl.iter().map(|entry| {
            let id = match entry.scheme() {
                // What follows the name is a hash of the password.
                "digest" => entry.id().split(':').next().unwrap_or_default(),
                _ => entry.id(),
            };
            format!("{}:{id}:{}", entry.scheme(), entry.permission())
        });
        Ok(entries.collect::<Vec<_>>().join(","))
    }

    /// Follows the client's own view of its connection. It says less than it seems: "expired" is
    /// late, and "disconnected" counts any received byte.
    pub(crate) fn state_watcher(&self) -> zk::StateWatcher {
        self.state.clone()
    }

    /// What is needed to attach to this session again; inside this process only.
    pub(super) fn session_info(&self) -> zk::SessionInfo {
        self.session.clone()
    }

    /// Lets go of the session: operations that start later fail, the server is told once those in flight are
    /// answered. Idempotent.
    pub(super) fn release(&self) {
        drop(self.lock().take());
    }

    /// Closes the session and waits until the server has confirmed it (or the session is over otherwise).
    /// While the connection is down this takes up to 1.4 session timeouts; cancelling the call leaves the close
    /// to the background.
    pub async fn close(&self) {
        let mut state = self.state.clone();
        self.release();
        while !state.state().is_terminated() {
            state.changed().await;
        }
    }

    /// [`WireClient::close`], for at most `bound`; the session then ends in the background or by its timeout.
    pub(crate) async fn close_within(&self, bound: Duration, clock: &dyn Clock) {
        tokio::select! {
            () = self.close() => {}
            () = clock.sleep(bound) => {
                tracing::warn!(session = %self.session_id(), "ZooKeeper did not confirm the end of the session in time");
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<zk::Client>> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn client(&self) -> ZkResult<zk::Client> {
        self.lock()
            .clone()
            .ok_or_else(|| ZkError::new(ZkCode::SessionOver, "the session was closed by this process"))
    }
}

#[async_trait]
impl ZooKeeperClient for WireClient {
    fn session_id(&self) -> SessionId {
        SessionId(self.session.id().0)
    }

    async fn get(&self, path: &str) -> ZkResult<(Bytes, Stat)> {
        let (data, stat) = self.client()?.get_data(path).await?;
        Ok((data.into(), stat.into()))
    }

    async fn get_and_watch(&self, path: &str) -> ZkResult<(Bytes, Stat, NodeWatch)> {
        let (data, stat, watch) = self.client()?.get_and_watch_data(path).await?;
        Ok((data.into(), stat.into(), node_watch(watch)))
    }

    async fn exists(&self, path: &str) -> ZkResult<Option<Stat>> {
        Ok(self.client()?.check_stat(path).await?.map(Stat::from))
    }

    async fn exists_and_watch(&self, path: &str) -> ZkResult<(Option<Stat>, NodeWatch)> {
        let (stat, watch) = self.client()?.check_and_watch_stat(path).await?;
        Ok((stat.map(Stat::from), node_watch(watch)))
    }

    async fn list(&self, path: &str) -> ZkResult<(Vec<String>, Stat)> {
        let (names, stat) = self.client()?.get_children(path).await?;
        Ok((names, stat.into()))
    }

    async fn list_and_watch(&self, path: &str) -> ZkResult<(Vec<String>, Stat, NodeWatch)> {
        let (names, stat, watch) = self.client()?.get_and_watch_children(path).await?;
        Ok((names, stat.into(), node_watch(watch)))
    }

    async fn create(&self, path: &str, data: Bytes, mode: CreateMode) -> ZkResult<String> {
        request_size::check([(path.len(), data.len())])?;
        let client = self.client()?;
        let (_, sequence) = client.create(path, &data, &options(mode)).await?;
        Ok(match mode {
            CreateMode::EphemeralSequential => format!("{path}{sequence}"),
            CreateMode::Persistent | CreateMode::Ephemeral => path.to_owned(),
        })
    }

    async fn set(&self, path: &str, data: Bytes, version: Option<i32>) -> ZkResult<Stat> {
        request_size::check([(path.len(), data.len())])?;
        Ok(self.client()?.set_data(path, &data, version).await?.into())
    }

    async fn delete(&self, path: &str, version: Option<i32>) -> ZkResult<()> {
        Ok(self.client()?.delete(path, version).await?)
    }

    async fn sync(&self, path: &str) -> ZkResult<()> {
        Ok(self.client()?.sync(path).await?)
    }

    async fn multi(&self, operations: Vec<Operation>) -> Result<Vec<OperationResult>, MultiError> {
        request_size::check_multi(&operations).map_err(MultiError::Failed)?;
        let client = self.client().map_err(MultiError::Failed)?;
        let mut writer = client.new_multi_writer();
        for (index, operation) in operations.iter().enumerate() {
            add(&mut writer, operation).map_err(|error| MultiError::Refused {
                index,
                error: error.into(),
            })?;
        }
        drop(operations);
        let results = writer.commit().await.map_err(|error| match error {
            zk::MultiWriteError::RequestFailed { source } => MultiError::Failed(source.into()),
            zk::MultiWriteError::OperationFailed { index, source } => MultiError::Refused {
                index,
                error: source.into(),
            },
        })?;
        results.into_iter().map(result).collect()
    }

    async fn multi_get(&self, paths: &[String]) -> ZkResult<Vec<ZkResult<(Bytes, Stat)>>> {
        request_size::check(paths.iter().map(|path| (path.len(), 0)))?;
        let client = self.client()?;
        let mut reader = client.new_multi_reader();
        for path in paths {
            reader.add_get_data(path)?;
        }
        let results = answers(paths, reader.commit().await?)?;
        Ok(results
            .into_iter()
            .map(|result| match result {
                zk::MultiReadResult::Data { data, stat } => Ok((data.into(), stat.into())),
                zk::MultiReadResult::Error { err } => Err(err.into()),
                _ => Err(ZkError::new(ZkCode::Other, "an answer of another kind than data")),
            })
            .collect())
    }

    async fn multi_list(&self, paths: &[String]) -> ZkResult<Vec<ZkResult<Vec<String>>>> {
        request_size::check(paths.iter().map(|path| (path.len(), 0)))?;
        let client = self.client()?;
        let mut reader = client.new_multi_reader();
        for path in paths {
            reader.add_get_children(path)?;
        }
        let results = answers(paths, reader.commit().await?)?;
        Ok(results
            .into_iter()
            .map(|result| match result {
                zk::MultiReadResult::Children { children } => Ok(children),
                zk::MultiReadResult::Error { err } => Err(err.into()),
                _ => Err(ZkError::new(
                    ZkCode::Other,
                    "an answer of another kind than names",
                )),
            })
            .collect())
    }
}

/// As many as there are paths.
fn answers(paths: &[String], results: Vec<zk::MultiReadResult>) -> ZkResult<Vec<zk::MultiReadResult>> {
    if results.len() == paths.len() {
        return Ok(results);
    }
    Err(ZkError::new(
        ZkCode::Other,
        format!("{} answers to {} reads", results.len(), paths.len()),
    ))
}

fn node_watch(watch: zk::OneshotWatcher) -> NodeWatch {
    Box::pin(async move {
        match watch.changed().await.event_type {
            zk::EventType::Session => NodeEvent::SessionOver,
            zk::EventType::NodeDeleted => NodeEvent::Deleted,
            _ => NodeEvent::Changed,
        }
    })
}

fn options(mode: CreateMode) -> zk::CreateOptions<'static> {
    let mode = match mode {
        CreateMode::Persistent => zk::CreateMode::Persistent,
        CreateMode::Ephemeral => zk::CreateMode::Ephemeral,
        CreateMode::EphemeralSequential => zk::CreateMode::EphemeralSequential,
    };
    mode.with_acls(zk::Acls::anyone_all())
}

fn add(writer: &mut zk::MultiWriter<'_>, operation: &Operation) -> Result<(), zk::Error> {
    match operation {
        Operation::Check { path, version } => writer.add_check_version(path, *version),
        Operation::Create { path, data, mode } => writer.add_create(path, data, &options(*mode)),
        Operation::Set { path, data, version } => writer.add_set_data(path, data, *version),
        Operation::Delete { path, version } => writer.add_delete(path, *version),
    }
}

fn result(result: zk::MultiWriteResult) -> Result<OperationResult, MultiError> {
    Ok(match result {
        zk::MultiWriteResult::Check => OperationResult::Checked,
        zk::MultiWriteResult::Delete => OperationResult::Deleted,
        zk::MultiWriteResult::Create { path, .. } => OperationResult::Created { path },
        zk::MultiWriteResult::SetData { stat } => OperationResult::Set { stat: stat.into() },
        _ => {
            return Err(MultiError::Failed(ZkError::new(
                ZkCode::Other,
                "an answer of unknown kind to an operation of a multi",
            )));
        }
    })
}
