use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use ha_core::environment::{BootInstant, Clock};

use super::activity::Activity;
use crate::client::{
    CreateMode, MultiError, NodeWatch, Operation, OperationResult, SessionId, Stat, ZkCode, ZkError,
    ZkResult, ZooKeeperClient,
};

/// A client whose answers are evidence for the lease (design §3): every answered request is a heartbeat, every
/// write that was applied is a proof too. Send times are taken before the request is handed over.
pub(super) struct ObservedClient {
    inner: Arc<dyn ZooKeeperClient>,
    clock: Arc<dyn Clock>,
    activity: Arc<Activity>,
}

impl ObservedClient {
    pub(super) fn new(
        inner: Arc<dyn ZooKeeperClient>,
        clock: Arc<dyn Clock>,
        activity: Arc<Activity>,
    ) -> Self {
        Self {
            inner,
            clock,
            activity,
        }
    }

    fn read<T>(&self, sent: BootInstant, result: ZkResult<T>) -> ZkResult<T> {
        match &result {
            Ok(_) => self.activity.heartbeat(sent),
            Err(error) => self.failed(sent, error),
        }
        result
    }

    fn write<T>(&self, sent: BootInstant, result: ZkResult<T>) -> ZkResult<T> {
        match &result {
            Ok(_) => self.activity.proof(sent),
            Err(error) => self.failed(sent, error),
        }
        result
    }

    fn failed(&self, sent: BootInstant, error: &ZkError) {
        match error.code {
            // The server answered. That a refused write was a transaction too is not relied upon.
            ZkCode::NoNode | ZkCode::NodeExists | ZkCode::BadVersion | ZkCode::NotEmpty => {
                self.activity.heartbeat(sent);
            }
            ZkCode::ConnectionLoss => self.activity.connection_lost(sent),
            _ => {}
        }
    }
}

#[async_trait]
impl ZooKeeperClient for ObservedClient {
    fn session_id(&self) -> SessionId {
        self.inner.session_id()
    }

    async fn get(&self, path: &str) -> ZkResult<(Bytes, Stat)> {
        let sent = self.clock.now();
        self.read(sent, self.inner.get(path).await)
    }

    async fn get_and_watch(&self, path: &str) -> ZkResult<(Bytes, Stat, NodeWatch)> {
        let sent = self.clock.now();
        self.read(sent, self.inner.get_and_watch(path).await)
    }

    async fn exists(&self, path: &str) -> ZkResult<Option<Stat>> {
        let sent = self.clock.now();
        self.read(sent, self.inner.exists(path).await)
    }

    async fn exists_and_watch(&self, path: &str) -> ZkResult<(Option<Stat>, NodeWatch)> {
        let sent = self.clock.now();
        self.read(sent, self.inner.exists_and_watch(path).await)
    }

    async fn list(&self, path: &str) -> ZkResult<(Vec<String>, Stat)> {
        let sent = self.clock.now();
        self.read(sent, self.inner.list(path).await)
    }

    async fn list_and_watch(&self, path: &str) -> ZkResult<(Vec<String>, Stat, NodeWatch)> {
        let sent = self.clock.now();
        self.read(sent, self.inner.list_and_watch(path).await)
    }

    async fn create(&self, path: &str, data: Bytes, mode: CreateMode) -> ZkResult<String> {
        let sent = self.clock.now();
        self.write(sent, self.inner.create(path, data, mode).await)
    }

    async fn set(&self, path: &str, data: Bytes, version: Option<i32>) -> ZkResult<Stat> {
        let sent = self.clock.now();
        self.write(sent, self.inner.set(path, data, version).await)
    }

    async fn delete(&self, path: &str, version: Option<i32>) -> ZkResult<()> {
        let sent = self.clock.now();
        self.write(sent, self.inner.delete(path, version).await)
    }

    async fn sync(&self, path: &str) -> ZkResult<()> {
        let sent = self.clock.now();
        self.read(sent, self.inner.sync(path).await)
    }

    async fn multi(&self, operations: Vec<Operation>) -> Result<Vec<OperationResult>, MultiError> {
        let sent = self.clock.now();
        let result = self.inner.multi(operations).await;
        match &result {
            Ok(_) => self.activity.proof(sent),
            Err(MultiError::Refused { error, .. } | MultiError::Failed(error)) => self.failed(sent, error),
        }
        result
    }

    async fn multi_get(&self, paths: &[String]) -> ZkResult<Vec<ZkResult<(Bytes, Stat)>>> {
        let sent = self.clock.now();
        self.read(sent, self.inner.multi_get(paths).await)
    }

    async fn multi_list(&self, paths: &[String]) -> ZkResult<Vec<ZkResult<Vec<String>>>> {
        let sent = self.clock.now();
        self.read(sent, self.inner.multi_list(paths).await)
    }
}
