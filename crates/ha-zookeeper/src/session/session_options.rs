use std::time::Duration;

use ha_core::configuration::{Configuration, HighAvailabilityOptions};
use ha_core::lease::LeaseTerms;
use ha_core::{Error, Result};

/// How a session is made and kept.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// `host:port[,host:port]…`, without chroot: paths carry it.
    pub servers: String,
    /// The session timeout that is asked for; servers bound it to 2 to 20 ticks.
    pub session_timeout: Duration,
    /// The longest that one attempt to connect takes.
    pub connection_timeout: Duration,
    /// The wait between attempts at start; it doubles up to 30 s.
    pub retry_wait: Duration,
    /// The number of further attempts at start, after the first.
    pub max_retry_attempts: u32,
    /// Try for ever at start.
    pub wait_for_zookeeper: bool,
    /// The tick of the servers, which no client can ask for; by default `min(2 s, session timeout / 2)`.
    pub server_tick_time: Option<Duration>,
    /// Whether a suspension that heals inside the lease is invisible.
    pub tolerate_suspended_connections: bool,
}

impl SessionOptions {
    /// The defaults, for these servers.
    pub fn new(servers: impl Into<String>) -> Self {
        Self {
            servers: servers.into(),
            session_timeout: Duration::from_secs(60),
            connection_timeout: Duration::from_secs(15),
            retry_wait: Duration::from_secs(5),
            max_retry_attempts: 3,
            wait_for_zookeeper: false,
            server_tick_time: None,
            tolerate_suspended_connections: true,
        }
    }

    /// The values of a configuration.
    ///
    /// # Errors
    /// `Invalid` for a missing quorum or a value of the wrong type.
    pub fn from_configuration(configuration: &Configuration) -> Result<Self> {
        type Options = HighAvailabilityOptions;
        Ok(Self {
            servers: configuration.get(&Options::HA_ZOOKEEPER_QUORUM)?.servers(),
            session_timeout: configuration.get(&Options::HA_ZOOKEEPER_SESSION_TIMEOUT)?,
            connection_timeout: configuration.get(&Options::HA_ZOOKEEPER_CONNECTION_TIMEOUT)?,
            retry_wait: configuration.get(&Options::HA_ZOOKEEPER_RETRY_WAIT)?,
            max_retry_attempts: configuration.get(&Options::HA_ZOOKEEPER_MAX_RETRY_ATTEMPTS)?,
            wait_for_zookeeper: false,
            server_tick_time: configuration.get_optional(&Options::HA_ZOOKEEPER_SERVER_TICK_TIME)?,
            tolerate_suspended_connections: configuration
                .get(&Options::HA_ZOOKEEPER_TOLERATE_SUSPENDED_CONNECTIONS)?,
        })
    }

    /// Checks the values before anything is contacted.
    ///
    /// # Errors
    /// `Invalid` (not applied) for no servers, a timeout of zero, or a session timeout that leaves no lease.
    pub fn validate(&self) -> Result<()> {
        if self.servers.trim().is_empty() {
            return Err(
                Error::invalid("no ZooKeeper server is named").at("high-availability.zookeeper.quorum")
            );
        }
        for (key, value) in [
            (
                "high-availability.zookeeper.client.session-timeout",
                self.session_timeout,
            ),
            (
                "high-availability.zookeeper.client.connection-timeout",
                self.connection_timeout,
            ),
        ] {
            if value.is_zero() {
                return Err(Error::invalid("must be longer than zero").at(key));
            }
        }
        LeaseTerms::new(self.session_timeout, self.server_tick_time).map(drop)
    }
}
