//! What became of a multi whose reply was lost (design §8, I12).

use std::sync::Arc;

use bytes::Bytes;

use super::{Fence, Proof};
use crate::client::{Stat, ZkCode, ZkError, ZkResult, ZooKeeperClient};
use crate::codec;

/// How often reading back is tried while the connection flaps; each attempt waits for the connection.
const ATTEMPTS: usize = 5;

/// What reading back showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It was applied.
    Applied,
    /// It certainly was not, and never will be.
    NotApplied,
    /// It cannot be told; `term_over`: because the term is over.
    Unknown {
        /// `NoNode`: the latch is gone. `BadVersion`: it is at another version. `SessionOver`: its session is.
        term_over: Option<ZkCode>,
    },
}

/// Reads target and latch at one moment, on the client that sent the multi: what that client had sent before
/// is through, or is refused for ever, once its `sync` is answered. `lost` is what the multi got for a reply.
pub(super) async fn resolve(
    client: &Arc<dyn ZooKeeperClient>,
    fence: Option<&Fence>,
    proof: &Proof,
    lost: &ZkError,
) -> Verdict {
    let session_over = |error: &ZkError| {
        (fence.is_some() && error.code == ZkCode::SessionOver).then_some(ZkCode::SessionOver)
    };
    let mut paths = proof.paths().to_vec();
    let Some(target) = paths.first().cloned() else {
        return Verdict::Unknown {
            term_over: session_over(lost),
        };
    };
    paths.extend(fence.map(|fence| fence.latch_path.clone()));
    for _ in 0..ATTEMPTS {
        let read = match client.sync(&target).await {
            Ok(()) => client.multi_get(&paths).await,
            Err(error) => Err(error),
        };
        match read {
            Ok(read) => return verdict(fence, proof, &read),
            Err(error) if error.code == ZkCode::ConnectionLoss => {}
            Err(error) => {
                return Verdict::Unknown {
                    term_over: session_over(&error),
                };
            }
        }
    }
    Verdict::Unknown { term_over: None }
}

fn verdict(fence: Option<&Fence>, proof: &Proof, read: &[ZkResult<(Bytes, Stat)>]) -> Verdict {
    let (targets, latch) = read.split_at_checked(proof.paths().len()).unwrap_or_default();
    let says_applied = |target: &ZkResult<(Bytes, Stat)>| match (proof, target) {
        (Proof::WriteId { write_id, .. }, Ok((data, _))) => codec::write_id_of(data) == Some(*write_id),
        (Proof::Content { data: mine, .. }, Ok((data, _))) => data == mine,
        (Proof::Gone { .. } | Proof::AllGone { .. }, Err(error)) => error.code == ZkCode::NoNode,
        _ => false,
    };
    if !targets.is_empty() && targets.iter().all(says_applied) {
        return Verdict::Applied;
    }
    let is_read = |target: &ZkResult<_>| !matches!(target, Err(error) if error.code != ZkCode::NoNode);
    let unread = targets.is_empty() || !targets.iter().all(is_read);
    match (fence, latch.first()) {
        // Without a latch nothing says that nobody wrote over it.
        _ if unread => Verdict::Unknown { term_over: None },
        (Some(fence), Some(Ok((_, stat)))) => {
            if stat.version == fence.version && stat.ephemeral_owner == fence.zookeeper_session.0 {
                Verdict::NotApplied
            } else {
                Verdict::Unknown {
                    term_over: Some(ZkCode::BadVersion),
                }
            }
        }
        (Some(_), Some(Err(error))) if error.code == ZkCode::NoNode => Verdict::Unknown {
            term_over: Some(ZkCode::NoNode),
        },
        _ => Verdict::Unknown { term_over: None },
    }
}

#[cfg(test)]
mod tests {
    use ha_core::ids::LeaderSessionId;
    use uuid::Uuid;

    use super::*;
    use crate::client::SessionId;

    fn fence() -> Fence {
        Fence {
            latch_path: "/latch".to_owned(),
            version: 4,
            session: LeaderSessionId::DEFAULT,
            zookeeper_session: SessionId(9),
        }
    }

    fn latch(version: i32, owner: i64) -> ZkResult<(Bytes, Stat)> {
        let stat = Stat {
            version,
            ephemeral_owner: owner,
            ..Stat::default()
        };
        Ok((Bytes::new(), stat))
    }

    fn node(data: &'static str) -> ZkResult<(Bytes, Stat)> {
        Ok((Bytes::from_static(data.as_bytes()), Stat::default()))
    }

    fn no_node() -> ZkResult<(Bytes, Stat)> {
        Err(ZkError::new(ZkCode::NoNode, "no node"))
    }

    #[test]
    fn my_mark_means_applied_whatever_became_of_the_latch() {
        let path = "/p".to_owned();
        let write_id = Proof::WriteId {
            path: path.clone(),
            write_id: Uuid::from_u128(1),
        };
        let mine = r#"{"writeId":"00000000-0000-0000-0000-000000000001"}"#;
        let fence = fence();
        assert_eq!(
            verdict(Some(&fence), &write_id, &[node(mine), no_node()]),
            Verdict::Applied
        );
        let gone = Proof::Gone { path: path.clone() };
        assert_eq!(verdict(None, &gone, &[no_node()]), Verdict::Applied);
        let content = Proof::Content {
            path,
            data: Bytes::from_static(b"DONE"),
        };
        assert_eq!(verdict(None, &content, &[node("DONE")]), Verdict::Applied);
    }

    #[test]
    fn no_mark_and_my_latch_unchanged_means_not_applied_else_unknown() {
        let proof = Proof::WriteId {
            path: "/p".to_owned(),
            write_id: Uuid::from_u128(1),
        };
        let fence = fence();
        let ask = |latch| verdict(Some(&fence), &proof, &[no_node(), latch]);
        assert_eq!(ask(latch(4, 9)), Verdict::NotApplied);
        for (latch, code) in [
            (latch(5, 9), ZkCode::BadVersion),
            (latch(4, 8), ZkCode::BadVersion),
            (no_node(), ZkCode::NoNode),
        ] {
            assert_eq!(
                ask(latch),
                Verdict::Unknown {
                    term_over: Some(code)
                }
            );
        }
        assert_eq!(
            verdict(None, &proof, &[no_node()]),
            Verdict::Unknown { term_over: None }
        );
    }

    #[test]
    fn deletions_are_proved_by_all_of_them_together() {
        let proof = Proof::AllGone {
            paths: vec!["/a".to_owned(), "/b".to_owned()],
        };
        let fence = fence();
        let gone = [no_node(), no_node(), no_node()];
        assert_eq!(verdict(Some(&fence), &proof, &gone), Verdict::Applied);
        // Somebody else deleted one, so that the multi was refused.
        for read in [
            [node(""), no_node(), latch(4, 9)],
            [no_node(), node(""), latch(4, 9)],
        ] {
            assert_eq!(verdict(Some(&fence), &proof, &read), Verdict::NotApplied);
        }
        let deposed = [no_node(), node(""), no_node()];
        assert_eq!(
            verdict(Some(&fence), &proof, &deposed),
            Verdict::Unknown {
                term_over: Some(ZkCode::NoNode)
            }
        );
    }
}
