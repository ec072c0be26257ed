use std::time::Duration;

use ha_core::environment::Clock;
use ha_core::{Error, ErrorKind};

use crate::client::{NodeEvent, SessionId, Stat, ZkCode, ZooKeeperClient};
use crate::codec::LatchData;

/// The wait after a read that failed.
const RETRY: Duration = Duration::from_millis(100);

/// Why waiting for a predecessor ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gone {
    /// Its node is gone.
    Node,
    /// The session is over.
    SessionOver,
}

/// Completes when the latch `path` is gone. It says in the log who stands there, once; one that goes with no session
/// is given to `report`.
pub(crate) async fn wait_until_gone(
    client: &dyn ZooKeeperClient,
    path: &str,
    clock: &dyn Clock,
    report: &(dyn Fn(Error) + Sync),
) -> Gone {
    let mut told = false;
    loop {
        let watch = match client.get_and_watch(path).await {
            Ok((data, stat, watch)) => {
                if !told {
                    told = true;
                    tell(path, &data, &stat);
                    if stat.ephemeral_owner == 0 {
                        report(squatter(path));
                    }
                }
                watch
            }
            Err(error) if error.code == ZkCode::NoNode => return Gone::Node,
            Err(error) if error.code == ZkCode::SessionOver => return Gone::SessionOver,
            Err(_) => {
                clock.sleep(RETRY).await;
                continue;
            }
        };
        match watch.await {
            NodeEvent::Deleted => return Gone::Node,
            NodeEvent::SessionOver => return Gone::SessionOver,
            NodeEvent::Changed => {}
        }
    }
}

fn tell(path: &str, data: &[u8], stat: &Stat) {
    let owner = SessionId(stat.ephemeral_owner);
    // By the server's clock, for people only.
    let created_ms = stat.ctime;
    match LatchData::decode(path, data) {
        Ok(LatchData {
            process,
            host,
            pid,
            tool: Some(tool),
            ..
        }) => tracing::warn!(
            path,
            process,
            host,
            pid,
            tool,
            %owner,
            created_ms,
            "waiting behind an operator's tool"
        ),
        Ok(LatchData {
            process, host, pid, ..
        }) => tracing::info!(
            path,
            process,
            host,
            pid,
            %owner,
            created_ms,
            "waiting in the election behind another process"
        ),
        // What stands there decides nothing.
        Err(error) => {
            tracing::info!(path, %error, %owner, created_ms, "waiting in the election behind an unreadable latch");
        }
    }
}

fn squatter(path: &str) -> Error {
    Error::new(
        ErrorKind::Conflict,
        "a persistent znode stands in the place of a latch; it ends with no session, so nobody behind it leads",
    )
    .at(path)
    .advise("find out who made it, and delete it")
}
