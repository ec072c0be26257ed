use std::time::Duration;

/// How servers of a test's own are set up.
#[derive(Clone, Debug)]
pub struct EnsembleOptions {
    /// How many servers.
    pub servers: usize,
    /// ZooKeeper's `tickTime`; a session's timeout is at least two of them.
    pub tick_time: Duration,
    /// ZooKeeper's `syncLimit`: after so many ticks a follower notices that its leader is gone.
    pub sync_limit: u32,
    /// The longest session timeout that a server grants.
    pub max_session_timeout: Duration,
    /// Whether the transaction log is fsynced. Off for speed: no test cuts the power.
    pub force_sync: bool,
    /// Whether servers reach each other's quorum ports through links that a test can cut.
    pub peer_links: bool,
    /// The most memory that a server's heap takes, in MiB.
    pub heap: u32,
}

impl EnsembleOptions {
    /// ZooKeeper's `initLimit`: generous, for servers that start on a busy machine.
    pub(super) const INIT_LIMIT: u32 = 20;

    /// The heap as an option of Java.
    pub(super) fn heap_flag(&self) -> String {
        format!("-Xmx{}m", self.heap)
    }

    /// One server that stands alone.
    pub fn standalone() -> Self {
        Self {
            servers: 1,
            tick_time: Duration::from_millis(500),
            sync_limit: 5,
            max_session_timeout: Duration::from_secs(60),
            force_sync: false,
            peer_links: false,
            heap: 128,
        }
    }

    /// Three servers.
    pub fn three() -> Self {
        Self {
            servers: 3,
            ..Self::standalone()
        }
    }

    /// The same with another tick.
    #[must_use]
    pub fn with_tick_time(mut self, tick_time: Duration) -> Self {
        self.tick_time = tick_time;
        self
    }

    /// The same with the transaction log fsynced or not.
    #[must_use]
    pub fn with_force_sync(mut self, force_sync: bool) -> Self {
        self.force_sync = force_sync;
        self
    }

    /// The same with another number of ticks after which a follower notices that its leader is gone.
    #[must_use]
    pub fn with_sync_limit(mut self, sync_limit: u32) -> Self {
        self.sync_limit = sync_limit;
        self
    }

    /// The same with another bound on session timeouts.
    #[must_use]
    pub fn with_max_session_timeout(mut self, max_session_timeout: Duration) -> Self {
        self.max_session_timeout = max_session_timeout;
        self
    }

    /// The same with another bound of the heap, in MiB.
    #[must_use]
    pub fn with_heap(mut self, heap: u32) -> Self {
        self.heap = heap;
        self
    }

    /// The same with links between the servers, to be cut.
    #[must_use]
    pub fn with_peer_links(mut self) -> Self {
        self.peer_links = true;
        self
    }
}
