use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use ha_core::environment::{Clock, SystemClock};

use super::state::State;
use super::{Lost, MemoryClient};
use crate::client::{CreateMode, Operation, ZkCode};

/// The server. Clones are handles of one.
#[derive(Clone)]
pub struct MemoryServer {
    state: Arc<Mutex<State>>,
}

impl Default for MemoryServer {
    fn default() -> Self {
        Self::with_clock(Arc::new(SystemClock), Duration::from_millis(500))
    }
}

impl MemoryServer {
    /// An empty server that goes by this clock and tick.
    pub fn with_clock(clock: Arc<dyn Clock>, tick: Duration) -> Self {
        Self {
            state: Arc::new(Mutex::new(State::new(clock, tick))),
        }
    }

    /// A server with these persistent nodes, parents first.
    ///
    /// # Panics
    /// When one cannot be created.
    pub fn with(paths: &[&str]) -> Self {
        let server = Self::default();
        for path in paths {
            let created = server.lock().apply(
                0,
                &[Operation::Create {
                    path: (*path).to_owned(),
                    data: Bytes::new(),
                    mode: CreateMode::Persistent,
                }],
            );
            assert!(created.is_ok(), "{path}: {created:?}");
        }
        server
    }

    /// A new session that expires when it is cut off for this long, kept between 2 and 20 ticks; one tick later at
    /// most. See [`MemoryServer::expire_due`].
    pub fn open_session(&self, timeout: Duration) -> MemoryClient {
        let session = self.lock().open_session(timeout);
        self.client(session)
    }

    /// A client of this session, which no clock ends. It is made when it is not known yet.
    pub fn client(&self, session: i64) -> MemoryClient {
        self.swapped_client(session, session)
    }

    /// A client that believes in one session, and was given another one.
    pub fn swapped_client(&self, believed: i64, session: i64) -> MemoryClient {
        let link = self.lock().session(session).follow();
        MemoryClient::new(self.clone(), believed, session, link)
    }

    /// Loses the request or the reply of the next write of any client. The client stays connected.
    pub fn lose_next_reply(&self, lost: Lost) {
        self.lock().losses.push_back(lost);
    }

    /// Has somebody else do this just before the next multi.
    pub fn before_next_multi(&self, operations: Vec<Operation>) {
        self.lock().before_multi = Some(operations);
    }

    /// From now on nodes whose path begins with `prefix` are not created, as by an ACL or a quota.
    pub fn refuse_creates(&self, prefix: &str, code: ZkCode) {
        self.lock().refused = Some((prefix.to_owned(), code));
    }

    /// From now on nobody may read this node, as by an ACL; `None`: everybody may read every node.
    pub fn deny_reads(&self, path: Option<&str>) {
        self.lock().unreadable = path.map(str::to_owned);
    }

    /// The paths of all nodes but the root.
    pub fn paths(&self) -> Vec<String> {
        self.lock().tree.paths().cloned().collect()
    }

    /// The number of the newest transaction.
    pub fn zxid(&self) -> i64 {
        self.lock().zxid
    }

    /// The nodes that somebody watches, one entry a watch.
    pub fn watches(&self) -> Vec<String> {
        self.lock().watches.paths()
    }

    /// The names of the requests so far, and forgets them.
    pub fn take_requests(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().requests)
    }

    /// Ends a session: its ephemeral nodes go. Its client knows at once, or when it is connected again.
    pub fn expire(&self, session: i64) {
        self.lock().end_session(session);
    }

    /// Ends the sessions that are due by the clock. Every request does so first.
    pub fn expire_due(&self) {
        self.lock().expire_due();
    }

    /// Ends sessions when they are due, for as long as it is polled.
    pub async fn keep_time(&self) {
        loop {
            let sleep = {
                let mut state = self.lock();
                state.expire_due();
                state.clock.sleep(state.tick)
            };
            sleep.await;
        }
    }

    /// Cuts the connection of a session: what its client asks waits, and its watches are silent.
    pub fn cut(&self, session: i64) {
        self.lock().cut(session);
    }

    /// Lets a session that was cut off back in: its client learns what its watches missed, or that it has ended.
    pub fn reconnect(&self, session: i64) {
        let mut state = self.lock();
        state.expire_due();
        state.reconnect(session);
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for MemoryServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryServer")
            .field("zxid", &self.zxid())
            .finish_non_exhaustive()
    }
}
