//! A client that counts requests and loses replies.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use ha_core::Result as HaResult;
use ha_core::environment::BoxFuture;
use ha_zookeeper::client::{
    ClientSource, CreateMode, MultiError, NodeWatch, Operation, OperationResult, SessionId, Stat, ZkCode,
    ZkError, ZkResult, ZooKeeperClient,
};

type Hook = Box<dyn FnOnce() -> BoxFuture<()> + Send>;

/// What becomes of a multi.
pub(crate) enum Fault {
    /// Nothing special.
    None,
    /// It is applied, and its reply is lost.
    LoseReply,
    /// It never arrives.
    LoseRequest,
    /// It never arrives, and something else happens before anybody can look.
    LoseRequestAnd(Hook),
    /// It is applied, its reply is lost, and something else happens before anybody can look.
    LoseReplyAnd(Hook),
}

#[derive(Default)]
struct Shared {
    faults: Mutex<VecDeque<Fault>>,
    counts: Mutex<BTreeMap<&'static str, usize>>,
}

/// Gives clients that do what the next fault says.
#[derive(Clone)]
pub(crate) struct FaultyClients {
    inner: Arc<dyn ClientSource>,
    shared: Arc<Shared>,
}

impl FaultyClients {
    pub(crate) fn new(inner: Arc<dyn ClientSource>) -> Self {
        Self {
            inner,
            shared: Arc::default(),
        }
    }

    /// The next multis, in this order.
    pub(crate) fn next(&self, faults: impl IntoIterator<Item = Fault>) {
        self.shared.faults.lock().unwrap().extend(faults);
    }

    /// How many requests were sent, by kind, since the last call.
    pub(crate) fn take_counts(&self) -> BTreeMap<&'static str, usize> {
        std::mem::take(&mut self.shared.counts.lock().unwrap())
    }
}

#[async_trait]
impl ClientSource for FaultyClients {
    async fn client(&self) -> HaResult<Arc<dyn ZooKeeperClient>> {
        Ok(Arc::new(FaultyClient {
            inner: self.inner.client().await?,
            shared: Arc::clone(&self.shared),
        }))
    }
}

struct FaultyClient {
    inner: Arc<dyn ZooKeeperClient>,
    shared: Arc<Shared>,
}

impl FaultyClient {
    fn count(&self, kind: &'static str) {
        *self.shared.counts.lock().unwrap().entry(kind).or_default() += 1;
    }
}

fn lost<T>() -> Result<T, MultiError> {
    Err(MultiError::Failed(ZkError::new(
        ZkCode::ConnectionLoss,
        "the reply is lost",
    )))
}

#[async_trait]
impl ZooKeeperClient for FaultyClient {
    fn session_id(&self) -> SessionId {
        self.inner.session_id()
    }

    async fn get(&self, path: &str) -> ZkResult<(Bytes, Stat)> {
        self.count("get");
        self.inner.get(path).await
    }

    async fn get_and_watch(&self, path: &str) -> ZkResult<(Bytes, Stat, NodeWatch)> {
        self.count("get");
        self.inner.get_and_watch(path).await
    }

    async fn exists(&self, path: &str) -> ZkResult<Option<Stat>> {
        self.count("exists");
        self.inner.exists(path).await
    }

    async fn exists_and_watch(&self, path: &str) -> ZkResult<(Option<Stat>, NodeWatch)> {
        self.count("exists");
        self.inner.exists_and_watch(path).await
    }

    async fn list(&self, path: &str) -> ZkResult<(Vec<String>, Stat)> {
        self.count("list");
        self.inner.list(path).await
    }

    async fn list_and_watch(&self, path: &str) -> ZkResult<(Vec<String>, Stat, NodeWatch)> {
        self.count("watch");
        self.inner.list_and_watch(path).await
    }

    async fn create(&self, path: &str, data: Bytes, mode: CreateMode) -> ZkResult<String> {
        self.count("write");
        self.inner.create(path, data, mode).await
    }

    async fn set(&self, path: &str, data: Bytes, version: Option<i32>) -> ZkResult<Stat> {
        self.count("write");
        self.inner.set(path, data, version).await
    }

    async fn delete(&self, path: &str, version: Option<i32>) -> ZkResult<()> {
        self.count("write");
        self.inner.delete(path, version).await
    }

    async fn sync(&self, path: &str) -> ZkResult<()> {
        self.count("sync");
        self.inner.sync(path).await
    }

    async fn multi(&self, operations: Vec<Operation>) -> Result<Vec<OperationResult>, MultiError> {
        self.count("multi");
        let fault = self.shared.faults.lock().unwrap().pop_front();
        match fault.unwrap_or(Fault::None) {
            Fault::None => self.inner.multi(operations).await,
            Fault::LoseReply => {
                drop(self.inner.multi(operations).await);
                lost()
            }
            Fault::LoseRequest => lost(),
            Fault::LoseRequestAnd(hook) => {
                hook().await;
                lost()
            }
            Fault::LoseReplyAnd(hook) => {
                drop(self.inner.multi(operations).await);
                hook().await;
                lost()
            }
        }
    }

    async fn multi_get(&self, paths: &[String]) -> ZkResult<Vec<ZkResult<(Bytes, Stat)>>> {
        self.count("multi_get");
        self.inner.multi_get(paths).await
    }

    async fn multi_list(&self, paths: &[String]) -> ZkResult<Vec<ZkResult<Vec<String>>>> {
        self.count("multi_list");
        self.inner.multi_list(paths).await
    }
}
