use std::time::Duration;

use ha_core::environment::Clock;

use crate::client::{NodeEvent, ZkCode, ZooKeeperClient};
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

/// Completes when the latch `path` is gone. It says in the log who stands there, once.
pub(crate) async fn wait_until_gone(client: &dyn ZooKeeperClient, path: &str, clock: &dyn Clock) -> Gone {
    let mut told = false;
    loop {
        let watch = match client.get_and_watch(path).await {
            Ok((data, _, watch)) => {
                if !told {
                    told = true;
                    tell(path, &data);
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

fn tell(path: &str, data: &[u8]) {
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
            "waiting behind an operator's tool"
        ),
        Ok(LatchData {
            process, host, pid, ..
        }) => tracing::info!(
            path,
            process,
            host,
            pid,
            "waiting in the election behind another process"
        ),
        // What stands there decides nothing.
        Err(error) => tracing::info!(path, %error, "waiting in the election behind an unreadable latch"),
    }
}
