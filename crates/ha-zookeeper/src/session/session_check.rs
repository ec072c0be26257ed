//! Whose session a connection is of. No reply of a server names it after the connect, and the client crate keeps
//! that one to itself when it connects again; the owner of an ephemeral node does name it.

use bytes::Bytes;

use crate::client::{CreateMode, MultiError, Operation, OperationResult, SessionId, ZooKeeperClient};
use crate::fence::Fence;

/// What an answer says of the connection that it came over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Checked {
    /// It is of the session of the client.
    Mine,
    /// It is of this session, which the server has put in the place of the client's.
    Another(SessionId),
    /// It is of the session of the client, and is not the one that stands now: ask again.
    Elsewhere,
    /// There is no answer.
    Unknown,
}

/// Makes an ephemeral node, looks who owns it, and takes it away again, in one multi: nobody ever sees the node.
/// (The Stat that servers send with a create in a multi is wrong, hence the set: ZOOKEEPER-4026.) While leading, the
/// fence comes first, as with every write of a leader.
pub(super) async fn ask(
    client: &dyn ZooKeeperClient,
    fence: Option<&Fence>,
    path: &str,
) -> Result<Option<SessionId>, MultiError> {
    let path = path.to_owned();
    let check = fence.map(Fence::check);
    let operations = check.into_iter().chain([
        Operation::Create {
            path: path.clone(),
            data: Bytes::new(),
            mode: CreateMode::Ephemeral,
        },
        Operation::Set {
            path: path.clone(),
            data: Bytes::new(),
            version: Some(0),
        },
        Operation::Delete {
            path,
            version: Some(1),
        },
    ]);
    let results = client.multi(operations.collect()).await?;
    Ok(results.into_iter().find_map(|result| match result {
        OperationResult::Set { stat } => Some(SessionId(stat.ephemeral_owner)),
        _ => None,
    }))
}
