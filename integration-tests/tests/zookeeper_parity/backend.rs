//! The two servers, and what a case does to a session on either.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ha_core::environment::SystemClock;
use ha_zookeeper::client::memory::{Lost, MemoryClient, MemoryServer};
use ha_zookeeper::client::{
    CreateMode, NodeEvent, NodeWatch, Operation, WireClient, ZkCode, ZooKeeperClient, connect_client,
};
use integration_tests::proxy::{FaultProxy, RequestFilter, RequestKind};
use integration_tests::{Ensemble, eventually, scaled, unique_name};

/// Of sessions that must not end by themselves.
const LONG_LIVED: Duration = Duration::from_secs(30);
/// Of sessions that are to expire.
const SHORT_LIVED: Duration = Duration::from_secs(10);
const LIMIT: Duration = Duration::from_secs(30);

enum Server {
    Memory(MemoryServer),
    Real(Ensemble),
}

/// A node of a case's own, on one of the servers.
pub(crate) struct Place {
    server: Server,
    root: String,
}

impl Place {
    pub(crate) async fn in_memory() -> Self {
        Self::new(Server::Memory(MemoryServer::default())).await
    }

    pub(crate) async fn on_a_server() -> Self {
        Self::new(Server::Real(Ensemble::shared().await.unwrap())).await
    }

    async fn new(server: Server) -> Self {
        let place = Self {
            server,
            root: format!("/{}", unique_name("parity")),
        };
        let session = place.connect().await;
        session.create(&place.root).await;
        session.close().await;
        place
    }

    /// The node.
    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    /// A node below it.
    pub(crate) fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.root)
    }

    /// A session that lives until it is closed.
    pub(crate) async fn connect(&self) -> Session {
        self.connect_for(LONG_LIVED).await
    }

    /// A session that can expire soon.
    pub(crate) async fn connect_briefly(&self) -> Session {
        self.connect_for(SHORT_LIVED).await
    }

    async fn connect_for(&self, timeout: Duration) -> Session {
        let (client, link): (Arc<dyn ZooKeeperClient>, Link) = match &self.server {
            Server::Memory(server) => {
                let client = server.open_session(timeout);
                (Arc::new(client.clone()), Link::Memory(server.clone(), client))
            }
            Server::Real(ensemble) => {
                let proxy = FaultProxy::start(&ensemble.connect_string()).await.unwrap();
                let address = proxy.address();
                let client = connect_client(&address, timeout, scaled(LIMIT), &SystemClock)
                    .await
                    .unwrap();
                (Arc::clone(&client) as _, Link::Wire(client, proxy))
            }
        };
        Session {
            client,
            link,
            root: self.root.clone(),
        }
    }
}

enum Link {
    Memory(MemoryServer, MemoryClient),
    Wire(Arc<WireClient>, FaultProxy),
}

/// A session on the server of the case.
pub(crate) struct Session {
    pub(crate) client: Arc<dyn ZooKeeperClient>,
    link: Link,
    root: String,
}

impl Session {
    pub(crate) fn id(&self) -> i64 {
        self.client.session_id().0
    }

    /// Creates a persistent node without data.
    pub(crate) async fn create(&self, path: &str) {
        self.create_as(path, CreateMode::Persistent).await;
    }

    /// Creates a node without data; gives its path.
    pub(crate) async fn create_as(&self, path: &str, mode: CreateMode) -> String {
        self.client.create(path, Bytes::new(), mode).await.unwrap()
    }

    /// Sets a node that is there.
    pub(crate) async fn set(&self, path: &str, data: &'static str) {
        self.client.set(path, data.into(), None).await.unwrap();
    }

    /// Deletes a node that is there.
    pub(crate) async fn delete(&self, path: &str) {
        self.client.delete(path, None).await.unwrap();
    }

    /// Watches the data of a node that is there.
    pub(crate) async fn watch_data(&self, path: &str) -> NodeWatch {
        self.client.get_and_watch(path).await.unwrap().2
    }

    /// Watches the children of a node that is there.
    pub(crate) async fn watch_children(&self, path: &str) -> NodeWatch {
        self.client.list_and_watch(path).await.unwrap().2
    }

    /// Watches a node, there or not.
    pub(crate) async fn watch_existence(&self, path: &str) -> NodeWatch {
        self.client.exists_and_watch(path).await.unwrap().1
    }

    /// Waits until everything that others did before is told to this session: its events come before an answer.
    pub(crate) async fn barrier(&self) {
        self.client.sync(&self.root).await.unwrap();
        self.client.exists(&self.root).await.unwrap();
    }

    /// That a watch is silent, although everything was told.
    pub(crate) async fn expect_silent(&self, watch: &mut NodeWatch) {
        self.barrier().await;
        assert!(futures::poll!(watch).is_pending(), "the watch fired");
    }

    /// Closes the session.
    pub(crate) async fn close(&self) {
        match &self.link {
            Link::Memory(_, client) => client.close(),
            Link::Wire(client, _) => client.close().await,
        }
    }

    /// Cuts the client off, until it is let back in. It knows.
    pub(crate) async fn cut(&self) {
        match &self.link {
            Link::Memory(server, _) => server.cut(self.id()),
            Link::Wire(client, proxy) => {
                proxy.refuse(true);
                proxy.swallow_reply_and_cut(RequestKind::Sync, 1);
                let lost = client.sync(&self.root).await.unwrap_err();
                assert_eq!(lost.code, ZkCode::ConnectionLoss);
            }
        }
    }

    /// Lets the client back in, and waits until it has its session again or knows that it has none.
    pub(crate) async fn let_back_in(&self) {
        match &self.link {
            Link::Memory(server, _) => server.reconnect(self.id()),
            Link::Wire(client, proxy) => {
                proxy.refuse(false);
                eventually("the client is back", LIMIT, async || {
                    match client.sync(&self.root).await {
                        Err(error) if error.code == ZkCode::ConnectionLoss => Err(error.into()),
                        _ => Ok(()),
                    }
                })
                .await
                .unwrap();
            }
        }
    }

    /// Has the server end the session because it heard nothing of it, while the client is cut off.
    pub(crate) async fn expire_while_cut_off(&self, observer: &Self) {
        let marker = format!("{}/marker-{}", self.root, self.id());
        self.create_as(&marker, CreateMode::Ephemeral).await;
        self.cut().await;
        if let Link::Memory(server, _) = &self.link {
            server.expire(self.id());
        }
        eventually("the session is gone", LIMIT, async || {
            anyhow::ensure!(observer.client.exists(&marker).await?.is_none());
            Ok(())
        })
        .await
        .unwrap();
    }

    /// Loses the reply of the next write, or the write itself.
    pub(crate) fn lose_next_write(&self, lost: Lost) {
        match &self.link {
            Link::Memory(server, _) => server.lose_next_reply(lost),
            Link::Wire(_, proxy) => {
                let writes = RequestFilter::matching(|request| {
                    matches!(
                        request.kind,
                        RequestKind::Create | RequestKind::SetData | RequestKind::Delete | RequestKind::Multi
                    )
                });
                match lost {
                    Lost::Applied => proxy.swallow_reply_and_cut(writes, 1),
                    Lost::NotApplied => proxy.swallow_request_and_cut(writes, 1),
                };
            }
        }
    }
}

/// What a watch tells, in time.
pub(crate) async fn fired(watch: NodeWatch) -> NodeEvent {
    tokio::time::timeout(scaled(LIMIT), watch).await.unwrap()
}

pub(crate) fn check(path: &str, version: i32) -> Operation {
    Operation::Check {
        path: path.to_owned(),
        version,
    }
}

pub(crate) fn create(path: &str) -> Operation {
    Operation::Create {
        path: path.to_owned(),
        data: Bytes::new(),
        mode: CreateMode::Persistent,
    }
}

pub(crate) fn set(path: &str, data: &'static str, version: Option<i32>) -> Operation {
    Operation::Set {
        path: path.to_owned(),
        data: data.into(),
        version,
    }
}

pub(crate) fn delete(path: &str, version: Option<i32>) -> Operation {
    Operation::Delete {
        path: path.to_owned(),
        version,
    }
}
