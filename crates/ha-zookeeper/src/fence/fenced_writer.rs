use std::sync::Arc;

use bytes::Bytes;
use ha_core::ids::LeaderSessionId;
use ha_core::{Effect, Error, ErrorKind, Result};

use super::lost_reply::{self, Verdict};
use super::{Commit, LeadershipFence, Proof, Refusal, Term, TermBinding};
use crate::client::{
    ClientSource, CreateMode, MultiError, Operation, OperationResult, ZkCode, ZkError, ZooKeeperClient,
};
use crate::codec;
use crate::identity::LeadershipPrecondition;
use crate::paths::ClusterPaths;

/// How often operations are sent again: after parents were missing, or when a lost reply proved not applied.
const ATTEMPTS: usize = 5;

/// Commits a store's operations: whole or not at all, and only in the term that they belong to (I2). Clones
/// share everything.
#[derive(Clone)]
pub struct FencedWriter {
    clients: Arc<dyn ClientSource>,
    fence: LeadershipFence,
    paths: ClusterPaths,
    precondition: Arc<dyn LeadershipPrecondition>,
}

impl FencedWriter {
    /// A writer for the tree of `paths`, fenced by `fence`. Where no election guards the tree, `precondition` is
    /// asked before each write; who leads has met it.
    pub fn new(
        clients: Arc<dyn ClientSource>,
        fence: LeadershipFence,
        paths: ClusterPaths,
        precondition: Arc<dyn LeadershipPrecondition>,
    ) -> Self {
        Self {
            clients,
            fence,
            paths,
            precondition,
        }
    }

    /// The paths of the tree.
    pub const fn paths(&self) -> &ClusterPaths {
        &self.paths
    }

    /// The client of the present session, for reading.
    ///
    /// # Errors
    /// Those of [`ClientSource::client`].
    pub async fn client(&self) -> Result<Arc<dyn ZooKeeperClient>> {
        self.clients.client().await
    }

    /// The term in which this process leads now, if it does.
    pub fn session(&self) -> Option<LeaderSessionId> {
        self.fence.current().ok().flatten().map(|fence| fence.session)
    }

    /// The right to write of an operation that begins now. To be asked before a state file is written, so that
    /// what is decided in one term is not written in a later one.
    ///
    /// No request is sent while leading. Services that never started an election list the latches, and may go on
    /// if there is none.
    ///
    /// # Errors
    /// `NotLeader` (not applied) when another process contends, or this one takes part and does not lead.
    pub async fn begin(&self) -> Result<Term> {
        let term = Term::new(
            self.fence
                .current()
                .map_err(|error| error.at(self.paths.latches()))?,
        );
        if term.fence().is_none() {
            self.precondition.ensure().await?;
            self.refuse_beside_contenders().await?;
        }
        Ok(term)
    }

    /// The same for an object that caches what it read: it stays tied to the first term that it asked for.
    ///
    /// # Errors
    /// Those of [`FencedWriter::begin`], and `NotLeader` in a later term.
    pub async fn begin_in(&self, binding: &TermBinding) -> Result<Term> {
        binding.bind(self.begin().await?)
    }

    /// Ties `binding` to the present term, where there is one and it is not tied yet. `false`: it is tied to none,
    /// because this process takes part in an election and does not lead. Sends nothing.
    pub fn bind(&self, binding: &TermBinding) -> bool {
        if let Ok(fence) = self.fence.current() {
            // One that is tied to an earlier term stays so.
            let _ = binding.bind(Term::new(fence));
        }
        binding.is_bound()
    }

    /// Applies all `operations` or none, in the term `term`; missing parents below the cluster node are made in
    /// the same multi. With no operations it proves that the term still lasts.
    ///
    /// A lost compare-and-set is [`Commit::Refused`]. A lost reply is resolved by `proof`, and what certainly was
    /// not applied is sent again.
    ///
    /// # Errors
    /// `NotLeader` (not applied) when the term is over: the election is told. `Invalid` for data that is too
    /// long, before anything is sent. With effect `Unknown` when a lost reply could not be resolved: `NotLeader`
    /// when the term is over, else `Unavailable`. Else what ZooKeeper answered.
    ///
    /// # Cancellation
    /// A dropped call may still take effect.
    pub async fn commit(&self, term: &Term, operations: Vec<Operation>, proof: &Proof) -> Result<Commit> {
        let committed = self.commit_while(term, operations, proof, || true).await?;
        committed.ok_or_else(|| {
            Error::new(ErrorKind::Internal, "what is always wanted was not sent").not_applied()
        })
    }

    /// The same as long as `is_wanted`, which is asked before each time that it is sent. `None`: it was wanted no
    /// more, and nothing was applied.
    ///
    /// # Errors
    /// Those of [`FencedWriter::commit`].
    ///
    /// # Cancellation
    /// A dropped call may still take effect.
    pub async fn commit_while(
        &self,
        term: &Term,
        operations: Vec<Operation>,
        proof: &Proof,
        is_wanted: impl Fn() -> bool,
    ) -> Result<Option<Commit>> {
        for operation in &operations {
            if let Operation::Create { path, data, .. } | Operation::Set { path, data, .. } = operation {
                codec::check_length(path, data.len())?;
            }
        }
        if term.fence().is_none() && operations.is_empty() {
            return Ok(Some(Commit::Applied(Some(Vec::new()))));
        }
        let mut parents = Vec::new();
        for _ in 0..ATTEMPTS {
            let client = self.client_of(term).await?;
            // Waiting for a client may take long.
            if !is_wanted() {
                return Ok(None);
            }
            match self.send(&client, term, &parents, &operations).await {
                Ok(results) => return Ok(Some(Commit::Applied(Some(results)))),
                Err(Failure::Refused(refusal)) => match refusal.index.checked_sub(parents.len()) {
                    // Somebody else made a parent, or took one away.
                    None => parents = self.missing_parents(&client, &operations).await?,
                    Some(index) => {
                        let orphaned = refusal.code == ZkCode::NoNode
                            && matches!(operations.get(index), Some(Operation::Create { .. }));
                        if !orphaned {
                            return Ok(Some(Commit::Refused(Refusal { index, ..refusal })));
                        }
                        parents = self.missing_parents(&client, &operations).await?;
                    }
                },
                Err(Failure::Error(error)) => return Err(error),
                Err(Failure::ReplyLost(error)) => {
                    let verdict = match (operations.is_empty(), error.code) {
                        // A check alone changes nothing, so it may be sent again whatever became of it.
                        (true, ZkCode::ConnectionLoss) => Verdict::NotApplied,
                        (true, ZkCode::SessionOver) => {
                            return Err(Error::not_leader("the session of this term is over")
                                .at(self.paths.latches())
                                .caused_by(error));
                        }
                        _ => lost_reply::resolve(&client, term.fence(), proof, &error).await,
                    };
                    match verdict {
                        Verdict::Applied => return Ok(Some(Commit::Applied(None))),
                        Verdict::NotApplied => {
                            tracing::debug!(path = self.subject(&operations), %error, "sending again");
                        }
                        Verdict::Unknown { term_over } => {
                            // The end of a session is told to the election by the session.
                            let code = term_over.filter(|code| *code != ZkCode::SessionOver);
                            if let (Some(code), Some(fence)) = (code, term.fence()) {
                                self.fence.refused(fence.session, code);
                            }
                            return Err(self.unresolved(&operations, &error, term_over.is_some()));
                        }
                    }
                }
            }
        }
        Err(Error::new(
            ErrorKind::Unavailable,
            "the parents of this znode change, or replies are lost, faster than it can be written",
        )
        .at(self.subject(&operations))
        .not_applied())
    }

    /// Proves that files may be touched in `term` now: by a commit of the check alone, or, where no election is
    /// taken part in, by listing the latches once more. To be asked right before files are put or deleted.
    ///
    /// # Errors
    /// Those of [`FencedWriter::begin`] and [`FencedWriter::commit`].
    pub async fn prove(&self, term: &Term) -> Result<()> {
        if term.fence().is_none() {
            self.check_current(term)?;
            return self.refuse_beside_contenders().await;
        }
        self.commit(term, Vec::new(), &Proof::Nothing).await?;
        self.check_current(term)
    }

    /// The client that `term` may be written with. A term belongs to one session, whatever became of its latch.
    async fn client_of(&self, term: &Term) -> Result<Arc<dyn ZooKeeperClient>> {
        self.check_current(term)?;
        let client = self.clients.client().await?;
        // Waiting for a client may have outlasted the lease.
        self.check_current(term)?;
        match term.fence() {
            Some(fence) if fence.zookeeper_session != client.session_id() => {
                Err(Error::not_leader("the session of this term is gone").at(fence.latch_path.clone()))
            }
            _ => Ok(client),
        }
    }

    /// Whether `term` is still the present one, as far as this process knows. Sends nothing.
    ///
    /// # Errors
    /// `NotLeader` (not applied) when it is over.
    pub fn check_current(&self, term: &Term) -> Result<()> {
        let current = self
            .fence
            .current()
            .map_err(|error| error.at(self.paths.latches()))?;
        if current.as_ref() != term.fence() {
            return Err(
                Error::not_leader("the term of leadership that this write belongs to is over")
                    .at(self.paths.latches()),
            );
        }
        Ok(())
    }

    async fn send(
        &self,
        client: &Arc<dyn ZooKeeperClient>,
        term: &Term,
        parents: &[String],
        operations: &[Operation],
    ) -> Result<Vec<OperationResult>, Failure> {
        let parent_nodes = parents.iter().map(|path| Operation::Create {
            path: path.clone(),
            data: Bytes::new(),
            mode: CreateMode::Persistent,
        });
        let all: Vec<_> = term
            .fence()
            .map(|fence| fence.check())
            .into_iter()
            .chain(parent_nodes)
            .chain(operations.iter().cloned())
            .collect();
        let checks = usize::from(term.fence().is_some());
        let path_at = |index: usize| all.get(index).map(|operation| operation.path().to_owned());
        match client.multi(all.clone()).await {
            Ok(mut results) => Ok(results.split_off(results.len().min(checks + parents.len()))),
            Err(MultiError::Failed(error)) => Err(match error.effect() {
                Effect::Unknown => Failure::ReplyLost(error),
                Effect::NotApplied => Failure::Error(error.at(&self.subject(operations))),
            }),
            Err(MultiError::Refused { index, error }) => {
                let path = path_at(index).unwrap_or_default();
                let lost_race = matches!(
                    error.code,
                    ZkCode::NoNode | ZkCode::NodeExists | ZkCode::BadVersion | ZkCode::NotEmpty
                );
                match (term.fence(), index.checked_sub(checks)) {
                    (_, _) if !lost_race => Err(Failure::Error(error.at(&path).not_applied())),
                    (_, Some(index)) => Err(Failure::Refused(Refusal {
                        index,
                        path,
                        code: error.code,
                    })),
                    (fence, None) => {
                        if let Some(fence) = fence {
                            self.fence.refused(fence.session, error.code);
                        }
                        Err(Failure::Error(
                            Error::not_leader(match error.code {
                                ZkCode::NoNode => "the latch of this term is gone",
                                _ => "the latch of this term was changed",
                            })
                            .at(path),
                        ))
                    }
                }
            }
        }
    }

    /// The parents of the operations' nodes that are not there, outermost first.
    async fn missing_parents(
        &self,
        client: &Arc<dyn ZooKeeperClient>,
        operations: &[Operation],
    ) -> Result<Vec<String>> {
        let mut parents = Vec::new();
        for operation in operations {
            if let Operation::Create { path, .. } = operation {
                for parent in self.paths.parents_below_cluster(path) {
                    if !parents.contains(&parent) {
                        parents.push(parent);
                    }
                }
            }
        }
        let cluster = self.paths.cluster();
        let mut paths = vec![cluster.to_owned()];
        paths.append(&mut parents);
        let read = client
            .multi_get(&paths)
            .await
            .map_err(|error| error.at(cluster).not_applied())?;
        let missing: Vec<_> = paths
            .into_iter()
            .zip(read)
            .filter(|(_, read)| matches!(read, Err(error) if error.code == ZkCode::NoNode))
            .map(|(path, _)| path)
            .collect();
        if missing.first().is_some_and(|path| path == cluster) {
            return Err(Error::new(ErrorKind::NotFound, "the cluster's znodes are gone")
                .at(cluster)
                .not_applied()
                .advise("start the cluster anew: it makes its tree again"));
        }
        Ok(missing)
    }

    async fn refuse_beside_contenders(&self) -> Result<()> {
        let latches = self.paths.latches();
        match self.clients.client().await?.list(&latches).await {
            Ok((names, _)) => match names.first() {
                None => Ok(()),
                Some(name) => Err(Error::not_leader(
                    "another process contends for this cluster, and this one does not",
                )
                .at(self.paths.latch(name))
                .advise("contend for leadership first, or wait until the other process has stopped")),
            },
            Err(error) if error.code == ZkCode::NoNode => Ok(()),
            Err(error) => Err(error.at(&latches).not_applied()),
        }
    }

    /// What is left to say of a write whose reply was lost. Whoever led when it was sent and leads no more has
    /// nothing to retry, whatever became of it.
    fn unresolved(&self, operations: &[Operation], error: &ZkError, term_over: bool) -> Error {
        let (kind, message) = match term_over {
            true => (
                ErrorKind::NotLeader,
                "the reply was lost with the term of leadership, and reading back could not tell whether it was applied",
            ),
            false => (
                ErrorKind::Unavailable,
                "the reply was lost, and reading back could not tell whether it was applied",
            ),
        };
        Error::new(kind, message)
            .at(self.subject(operations))
            .caused_by(error.clone())
    }

    /// The node that an error about all operations names.
    fn subject(&self, operations: &[Operation]) -> String {
        operations
            .first()
            .map_or_else(|| self.paths.cluster(), Operation::path)
            .to_owned()
    }
}

enum Failure {
    /// An operation of this index, counted behind the check, was refused.
    Refused(Refusal),
    /// The answer is definite.
    Error(Error),
    /// It may have been applied.
    ReplyLost(ZkError),
}

#[cfg(test)]
mod tests;
