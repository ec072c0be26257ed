use std::sync::Arc;

use ha_core::election::LeaderInformation;
use ha_core::ids::{ComponentId, LeaderSessionId};
use ha_core::{Error, ErrorKind, Result};

use super::shared::{Command, Shared};
use crate::client::{ClientSource, CreateMode, Operation, SessionId, ZkCode};
use crate::codec::ConnectionInfo;
use crate::fence::{Commit, FencedWriter, Proof, Term};
use crate::identity::LeadershipPrecondition;

/// How often a write is sent again after somebody else was faster.
const ATTEMPTS: usize = 10;

/// Writes and removes leader information, fenced by the present grant (design §4.5).
pub(super) struct Publisher {
    shared: Arc<Shared>,
    writer: FencedWriter,
}

/// What stands where the information belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    /// Of this session, at this version.
    Mine(i32),
    /// Of another session, or of none. It goes with its owner, so it is never set.
    Foreign(i32),
}

impl Publisher {
    pub(super) fn new(shared: Arc<Shared>, precondition: Arc<dyn LeadershipPrecondition>) -> Self {
        let writer = FencedWriter::new(
            Arc::new(shared.session.clone()),
            shared.fence.clone(),
            shared.paths.clone(),
            precondition,
        );
        Self { shared, writer }
    }

    pub(super) async fn publish(
        &self,
        component: &ComponentId,
        information: &LeaderInformation,
    ) -> Result<()> {
        let path = self.shared.paths.connection_info(component);
        let data = ConnectionInfo::encode(&path, information)?;
        let proof = Proof::Content {
            path: path.clone(),
            data: data.clone(),
        };
        // What an earlier leader had written went with his latch, as a rule: send at once, read when refused.
        let mut found = Found::Nothing;
        for _ in 0..ATTEMPTS {
            let term = self.term(information.leader_session_id).await?;
            let create = Operation::Create {
                path: path.clone(),
                data: data.clone(),
                mode: CreateMode::Ephemeral,
            };
            let operations = match found {
                Found::Nothing => vec![create],
                Found::Mine(version) => vec![Operation::Set {
                    path: path.clone(),
                    data: data.clone(),
                    version: Some(version),
                }],
                Found::Foreign(version) => vec![delete(&path, version), create],
            };
            // Before it is sent, so that it is taken away at the end even when the reply is lost.
            self.shared.note_published(component);
            match self.writer.commit(&term, operations, &proof).await? {
                Commit::Applied(_) => {
                    self.shared.command(Command::Published(component.clone()));
                    return Ok(());
                }
                Commit::Refused(refusal) if refusal.code == ZkCode::NotEmpty => return Err(occupied(&path)),
                Commit::Refused(_) => found = self.find(&path, &term).await?,
            }
        }
        Err(contended(&path))
    }

    pub(super) async fn withdraw(&self, component: &ComponentId) -> Result<()> {
        let path = self.shared.paths.connection_info(component);
        let proof = Proof::Gone { path: path.clone() };
        for _ in 0..ATTEMPTS {
            let term = self.writer.begin().await?;
            let Found::Mine(version) = self.find(&path, &term).await? else {
                return Ok(());
            };
            match self
                .writer
                .commit(&term, vec![delete(&path, version)], &proof)
                .await?
            {
                Commit::Applied(_) => return Ok(()),
                Commit::Refused(_) => {}
            }
        }
        Err(contended(&path))
    }

    /// The present term, if it is that of `session`.
    async fn term(&self, session: LeaderSessionId) -> Result<Term> {
        let term = self.writer.begin().await?;
        if term.fence().is_none_or(|fence| fence.session != session) {
            return Err(
                Error::not_leader("this leader information belongs to another term")
                    .at(self.shared.paths.latches()),
            );
        }
        Ok(term)
    }

    async fn find(&self, path: &str, term: &Term) -> Result<Found> {
        let client = self.shared.session.client().await?;
        let owner = term.fence().map(|fence| fence.zookeeper_session);
        match client.exists(path).await {
            Ok(None) => Ok(Found::Nothing),
            Ok(Some(stat)) if Some(SessionId(stat.ephemeral_owner)) == owner => Ok(Found::Mine(stat.version)),
            Ok(Some(stat)) => {
                tracing::info!(
                    path,
                    owner = %SessionId(stat.ephemeral_owner),
                    "leader information of another session stands there"
                );
                Ok(Found::Foreign(stat.version))
            }
            Err(error) => Err(error.at(path).not_applied()),
        }
    }
}

fn delete(path: &str, version: i32) -> Operation {
    Operation::Delete {
        path: path.to_owned(),
        version: Some(version),
    }
}

fn contended(path: &str) -> Error {
    Error::new(
        ErrorKind::Unavailable,
        "somebody else changes this leader information faster than it can be written",
    )
    .at(path)
    .not_applied()
}

/// What stands there cannot be replaced: it has children, which are not ours to delete. `Unavailable`, so that it
/// is tried again.
fn occupied(path: &str) -> Error {
    Error::new(
        ErrorKind::Unavailable,
        "a znode of somebody else that has children stands where this leader information belongs",
    )
    .at(path)
    .advise("find out who made it, and delete its children")
    .not_applied()
}
