use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use ha_core::environment::IdSource;
use ha_core::ids::LeaderSessionId;
use ha_core::{Effect, Error, ErrorKind, Result};
use uuid::Uuid;

use super::{Claim, LatchNode};
use crate::client::{CreateMode, SessionId, Stat, ZkCode, ZkError, ZkResult, ZooKeeperClient};
use crate::codec::LatchData;
use crate::paths::ClusterPaths;

/// How often a lost reply or a lost parent is met in one call before the caller begins anew.
const ATTEMPTS: usize = 5;
/// Nodes a multi-read.
const READ_CHUNK: usize = 500;

/// The latch of one process: at most one node of a session at a time.
///
/// # Cancellation
/// No call may be dropped half-way and forgotten: the node that it made would stand there. The next call to
/// [`LeaderLatch::enter`] or [`LeaderLatch::leave`] finds it.
pub struct LeaderLatch {
    pub(super) paths: ClusterPaths,
    data: LatchData,
    ids: Arc<dyn IdSource>,
    /// The newest node that was asked for, from before its create was sent.
    pub(super) own: Option<Own>,
    /// Every node that was asked for in the session of `own` and that may stand. Other latches of the session are
    /// none of this one's business: another election driver of the process may have made them.
    pub(super) asked: BTreeSet<Uuid>,
    /// The name of the node that was made last, as the server told it.
    pub(super) made: Option<String>,
}

/// A node that may exist.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own {
    pub(super) session: SessionId,
    pub(super) uuid: Uuid,
    /// The version of the own last write; `None` while that is in doubt.
    version: Option<i32>,
    /// It led: as long as it stands, it is the lowest, and nobody else leads.
    pub(super) granted: bool,
}

impl LeaderLatch {
    /// A latch below [`ClusterPaths::latches`]; `data` says who stands there.
    pub fn new(paths: ClusterPaths, data: LatchData, ids: Arc<dyn IdSource>) -> Self {
        Self {
            paths,
            data,
            ids,
            own: None,
            asked: BTreeSet::new(),
            made: None,
        }
    }

    /// Whether a node of this process may stand in the session of `client`.
    pub fn may_stand(&self, client: &dyn ZooKeeperClient) -> bool {
        self.own.is_some_and(|own| own.session == client.session_id())
    }

    /// The claimed node was granted a term.
    pub fn note_granted(&mut self) {
        if let Some(own) = &mut self.own {
            own.granted = true;
        }
    }

    /// The node of this process: the one that stands there already, or a new one, under a fresh uuid each time it
    /// is created. "Mine" means made by this latch and owned by the session of `client`; all other such nodes are
    /// deleted, and so is one that somebody else has set (a request to step down).
    ///
    /// The parents `leader` and `leader/latch` are made where they are missing.
    ///
    /// # Errors
    /// `NotFound` when the cluster node is missing; `Unavailable`.
    pub async fn enter(&mut self, client: &dyn ZooKeeperClient) -> Result<LatchNode> {
        let mut last = None;
        for _ in 0..ATTEMPTS {
            if let Some(node) = self.find(client).await? {
                return Ok(node);
            }
            let uuid = self.ids.uuid();
            let prefix = self.paths.latch_prefix(uuid);
            let data = self.data_of(&prefix, None)?;
            self.asked.insert(uuid);
            self.own = Some(Own {
                session: client.session_id(),
                uuid,
                version: Some(0),
                granted: false,
            });
            match client
                .create(&prefix, data, CreateMode::EphemeralSequential)
                .await
            {
                Ok(path) => {
                    let node = made(client, &path)?;
                    self.made = Some(node.name.clone());
                    return Ok(node);
                }
                Err(error) if error.code == ZkCode::NoNode => {
                    self.own = None;
                    self.make_parents(client).await?;
                    last = Some(error);
                }
                Err(error) if error.code == ZkCode::ConnectionLoss => last = Some(error),
                Err(error) => return Err(error.at(&prefix)),
            }
        }
        let last = last.unwrap_or_else(|| ZkError::new(ZkCode::Other, "the latch could not be made"));
        Err(last.at(&self.paths.latches()))
    }

    /// Looks for the node that may stand there, and deletes every other one that was asked for.
    async fn find(&mut self, client: &dyn ZooKeeperClient) -> Result<Option<LatchNode>> {
        let Some(own) = self.own.filter(|own| own.session == client.session_id()) else {
            // Nothing was asked for in this session.
            self.forget();
            return Ok(None);
        };
        let mine = self.mine(client).await?;
        let mut kept = None;
        for (name, uuid, stat) in mine {
            let path = self.paths.latch(&name);
            let untouched = own.version.is_none_or(|version| version == stat.version);
            if uuid == own.uuid && untouched {
                kept = Some(LatchNode {
                    name,
                    path,
                    version: stat.version,
                    session: own.session,
                });
                continue;
            }
            tracing::info!(
                path,
                "deleting a latch of this process that is not the present one"
            );
            match client.delete(&path, None).await {
                Ok(()) => {}
                Err(error) if error.code == ZkCode::NoNode => {}
                Err(error) => return Err(error.at(&path)),
            }
        }
        // What did not stand after the `sync` never will.
        self.asked.retain(|uuid| *uuid == own.uuid);
        Ok(kept)
    }

    /// Nothing of this latch stands.
    pub(super) fn forget(&mut self) {
        self.own = None;
        self.asked.clear();
        self.made = None;
    }

    /// The nodes of this latch in the session of `client`, read after a `sync`.
    pub(super) async fn mine(&self, client: &dyn ZooKeeperClient) -> Result<Vec<(String, Uuid, Stat)>> {
        let parent = self.paths.latches();
        let listed = match client.sync(&parent).await {
            Ok(()) => client.list(&parent).await,
            Err(error) => Err(error),
        };
        let names = match listed {
            Ok((names, _)) => names,
            Err(error) if error.code == ZkCode::NoNode => return Ok(Vec::new()),
            Err(error) => return Err(error.at(&parent)),
        };
        let latches: Vec<_> = names
            .into_iter()
            .filter_map(|name| ClusterPaths::parse_latch_name(&name).map(|(uuid, _)| (name, uuid)))
            .filter(|(_, uuid)| self.asked.contains(uuid))
            .collect();
        let mut mine = Vec::new();
        for chunk in latches.chunks(READ_CHUNK) {
            let paths: Vec<_> = chunk.iter().map(|(name, _)| self.paths.latch(name)).collect();
            let read = client
                .multi_get(&paths)
                .await
                .map_err(|error| error.at(&parent))?;
            for ((name, uuid), read) in chunk.iter().zip(read) {
                match read {
                    Ok((_, stat)) if stat.ephemeral_owner == client.session_id().0 => {
                        mine.push((name.clone(), *uuid, stat));
                    }
                    Ok(_) => {}
                    Err(error) if error.code == ZkCode::NoNode => {}
                    Err(error) => return Err(error.at(&self.paths.latch(name))),
                }
            }
        }
        Ok(mine)
    }

    /// Begins a claim: sets the latch, at the version of the own last write, to the new term's id. `None`: the
    /// node is gone or was changed, so the claim is lost.
    ///
    /// The first request is sent when the future is first polled.
    ///
    /// # Errors
    /// `Unavailable` when the outcome could not be read back.
    pub async fn claim(
        &mut self,
        client: &dyn ZooKeeperClient,
        node: &LatchNode,
        session: LeaderSessionId,
    ) -> Result<Option<Claim>> {
        let data = self.data_of(&node.path, Some(session))?;
        self.note_version(None);
        let mut last = None;
        for _ in 0..ATTEMPTS {
            match client.set(&node.path, data.clone(), Some(node.version)).await {
                Ok(stat) if stat.ephemeral_owner == node.session.0 => {
                    self.note_version(Some(stat.version));
                    return Ok(Some(Claim::new(session, &stat)));
                }
                Ok(_) => return Ok(None),
                Err(error) if matches!(error.code, ZkCode::NoNode | ZkCode::BadVersion) => {
                    // Somebody else's version: what it is to be compared with is the own one.
                    self.note_version(Some(node.version));
                    return Ok(None);
                }
                Err(error) if error.effect() == Effect::NotApplied => {
                    self.note_version(Some(node.version));
                    return Err(error.at(&node.path));
                }
                Err(error) => last = Some(error),
            }
            // The reply was lost. What this client had sent is through, or refused for ever, once its `sync` is
            // answered.
            match read_back(client, &node.path).await {
                Ok((found, stat)) if stat.ephemeral_owner == node.session.0 => {
                    if found == data {
                        self.note_version(Some(stat.version));
                        return Ok(Some(Claim::new(session, &stat)));
                    }
                    if stat.version != node.version {
                        self.note_version(Some(node.version));
                        return Ok(None);
                    }
                }
                Ok(_) => return Ok(None),
                Err(error) if error.code == ZkCode::NoNode => return Ok(None),
                Err(error) => last = Some(error),
            }
        }
        let last = last.unwrap_or_else(|| ZkError::new(ZkCode::Other, "the claim could not be made"));
        Err(last.at(&node.path))
    }

    /// Makes the missing ones of `leader` and `leader/latch`, unfenced (design §4.9).
    async fn make_parents(&self, client: &dyn ZooKeeperClient) -> Result<()> {
        for path in [self.paths.leader(), self.paths.latches()] {
            match client.create(&path, Bytes::new(), CreateMode::Persistent).await {
                Ok(_) => tracing::info!(path, "made a parent of the latches"),
                Err(error) if error.code == ZkCode::NodeExists => {}
                Err(error) => return Err(error.at(&path)),
            }
        }
        Ok(())
    }

    fn data_of(&self, path: &str, leader_session_id: Option<LeaderSessionId>) -> Result<Bytes> {
        LatchData {
            leader_session_id,
            ..self.data.clone()
        }
        .encode(path)
    }

    fn note_version(&mut self, version: Option<i32>) {
        if let Some(own) = &mut self.own {
            own.version = version;
        }
    }
}

/// The node that a create has made.
fn made(client: &dyn ZooKeeperClient, path: &str) -> Result<LatchNode> {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    if ClusterPaths::parse_latch_name(name).is_none() {
        return Err(Error::new(
            ErrorKind::Internal,
            "the server gave the latch an unexpected name",
        )
        .at(path));
    }
    Ok(LatchNode {
        name: name.to_owned(),
        path: path.to_owned(),
        version: 0,
        session: client.session_id(),
    })
}

async fn read_back(client: &dyn ZooKeeperClient, path: &str) -> ZkResult<(Bytes, Stat)> {
    client.sync(path).await?;
    client.get(path).await
}
