use std::ops::AddAssign;
use std::time::Duration;

use ha_services::environment::Clock;
use ha_services::{Error, ErrorKind, Result};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The longest that the server may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a server must hear nothing to count as left alone.
const QUIET: Duration = Duration::from_millis(20);
/// How often that is looked for.
const LOOKS: u64 = 500;

/// What a server has counted so far, by its four-letter word `srvr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ServerCounters {
    /// Packets that it received, this question too.
    received: u64,
    /// Its newest transaction.
    zxid: u64,
}

/// What a server counted from one question to a later one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) requests: u64,
    pub(crate) transactions: u64,
}

impl AddAssign for Counted {
    fn add_assign(&mut self, more: Self) {
        self.requests += more.requests;
        self.transactions += more.transactions;
    }
}

impl ServerCounters {
    /// Asks the first server of a connection string.
    ///
    /// # Errors
    /// `Unavailable` when it does not answer, or not in the way that ZooKeeper does.
    pub(crate) async fn ask(servers: &str) -> Result<Self> {
        let server = first_of(servers);
        let unavailable = |reason: &'static str| {
            Error::new(ErrorKind::Unavailable, reason)
                .at(server.to_owned())
                .advise("name a ZooKeeper server that answers the four-letter word srvr")
                .not_applied()
        };
        let answer = tokio::time::timeout(PATIENCE, ask(server))
            .await
            .map_err(|_| unavailable("the server does not answer"))?
            .map_err(|error| unavailable("the server cannot be asked for its counters").caused_by(error))?;
        Self::parse(&answer).ok_or_else(|| unavailable("the answer has no counters"))
    }

    fn parse(answer: &str) -> Option<Self> {
        let field = |name: &str| answer.lines().find_map(|line| line.strip_prefix(name));
        let zxid = field("Zxid: 0x")?.trim();
        Some(Self {
            received: field("Received: ")?.trim().parse().ok()?,
            zxid: u64::from_str_radix(zxid, 16).ok()?,
        })
    }

    /// Waits until the server is left alone: what follows a change by itself is over. Gives the counters by then, and
    /// what was counted from these on.
    ///
    /// # Errors
    /// `Unavailable` as of [`ServerCounters::ask`], or when somebody uses the server all the time.
    pub(crate) async fn until_quiet(self, servers: &str, clock: &dyn Clock) -> Result<(Self, Counted)> {
        let mut newest = self;
        let mut counted = Counted::default();
        for _ in 0..LOOKS {
            clock.sleep(QUIET).await;
            let now = Self::ask(servers).await?;
            let since = now.since(newest);
            if since == Counted::default() {
                return Ok((now, counted));
            }
            counted += since;
            newest = now;
        }
        Err(Error::new(
            ErrorKind::Unavailable,
            "somebody else uses the server all the time",
        )
        .at(first_of(servers).to_owned())
        .advise("measure on a server that has no other clients"))
    }

    /// What was counted since `earlier`, without the question itself.
    pub(crate) fn since(self, earlier: Self) -> Counted {
        Counted {
            requests: self.received.saturating_sub(earlier.received).saturating_sub(1),
            transactions: self.zxid.saturating_sub(earlier.zxid),
        }
    }
}

async fn ask(server: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(server).await?;
    stream.write_all(b"srvr").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

/// The first server of `host:port,host:port/chroot`.
fn first_of(servers: &str) -> &str {
    let servers = servers.split('/').next().unwrap_or_default();
    servers.split(',').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_and_the_question_is_not_counted() {
        let answer = "Zookeeper version: 3.8.0\nLatency min/avg/max: 0/0.5/3\nReceived: 12\nSent: 11\n\
                      Connections: 1\nOutstanding: 0\nZxid: 0x1f\nMode: standalone\nNode count: 5\n";
        let earlier = ServerCounters::parse(answer).unwrap();
        assert_eq!((earlier.received, earlier.zxid), (12, 31));
        let later = ServerCounters {
            received: 16,
            zxid: 33,
        };
        let counted = later.since(earlier);
        assert_eq!((counted.requests, counted.transactions), (3, 2));
        assert_eq!(
            ServerCounters::parse("srvr is not executed because it is not in the whitelist."),
            None
        );
    }

    #[test]
    fn the_first_server_is_asked() {
        assert_eq!(first_of("a:1,b:2/c/d"), "a:1");
        assert_eq!(first_of("a:1"), "a:1");
    }
}
