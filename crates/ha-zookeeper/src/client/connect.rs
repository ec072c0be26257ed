use std::sync::Arc;
use std::time::Duration;

use ha_core::environment::Clock;
use ha_core::{Error, ErrorKind, Result};
use zookeeper_client as zk;

use super::WireClient;

/// Opens a new session: one attempt over all of `servers` (`host:port[,host:port]…`, without chroot), which
/// takes at most `connection_timeout`.
///
/// For tools and tests. A process that stands in an election uses the session module, which replaces the client
/// when its session is over.
///
/// # Errors
/// `Unavailable` with the addresses; `Denied` when the credentials are refused. Not applied.
///
/// # Cancellation
/// A session that the server had opened by then ends there after its timeout.
pub async fn connect_client(
    servers: &str,
    session_timeout: Duration,
    connection_timeout: Duration,
    clock: &dyn Clock,
) -> Result<Arc<WireClient>> {
    let connector = zk::Client::connector()
        .with_session_timeout(session_timeout)
        .with_fail_eagerly();
    connect(connector, servers, connection_timeout, clock).await
}

/// Attaches to the session of `old` again, whose client has come to its end; two living clients on one session
/// would take the connection from each other for ever. Tries all servers over and over for at most `bound`.
pub(crate) async fn attach_client(
    old: &WireClient,
    servers: &str,
    session_timeout: Duration,
    bound: Duration,
    clock: &dyn Clock,
) -> Result<Arc<WireClient>> {
    let connector = zk::Client::connector()
        .with_session_timeout(session_timeout)
        .with_session(old.session_info());
    connect(connector, servers, bound, clock).await
}

async fn connect(
    connector: zk::Connector,
    servers: &str,
    connection_timeout: Duration,
    clock: &dyn Clock,
) -> Result<Arc<WireClient>> {
    let unavailable = |reason: String| {
        Error::new(ErrorKind::Unavailable, reason)
            .at(servers)
            .advise(
                "check that the ZooKeeper servers run and that high-availability.zookeeper.quorum names them",
            )
            .not_applied()
    };
    tokio::select! {
        biased;
        connected = connector.connect(servers) => match connected {
            Ok(client) => Ok(Arc::new(WireClient::new(client))),
            Err(zk::Error::AuthFailed) => Err(Error::new(ErrorKind::Denied, "ZooKeeper refused the credentials")
                .at(servers)
                .not_applied()),
            Err(error) => Err(unavailable(format!("could not connect to ZooKeeper: {error}"))),
        },
        () = clock.sleep(connection_timeout) => Err(unavailable(format!(
            "no ZooKeeper server let us in within {} ms",
            connection_timeout.as_millis()
        ))),
    }
}
