use std::sync::Arc;

use ha_core::ids::{JobId, LeaderSessionId};
use ha_core::{Error, ErrorKind, Result};
use ha_storage::StateKind;

use super::JobGraphChanges;
use super::change_log::ChangeLog;
use super::holdings::{Holding, Holdings};
use crate::client::{CreateMode, Operation, Stat, ZkCode};
use crate::codec::Pointer;
use crate::fence::{Commit, FencedWriter, Proof, Refusal, Term};
use crate::stores::pointers;

/// How often a pointer that others change at the same time is looked at again.
const ATTEMPTS: usize = 5;

/// Creates, replaces and deletes the pointers that one store holds.
pub(super) struct PointerWriter {
    pub writer: FencedWriter,
    pub changes: JobGraphChanges,
    pub holdings: Holdings,
    pub log: Arc<ChangeLog>,
}

/// What became of a pointer that was to be published.
pub(super) enum Published {
    /// It stands.
    Done {
        /// The file that was pointed to before.
        replaced: Option<String>,
    },
    /// Its file grew too old before. Nothing was applied.
    TooOld,
}

impl PointerWriter {
    /// Makes `pointer` the one of the job: creates it, or replaces the held one, as long as its file `is_young`.
    pub(super) async fn publish(
        &self,
        term: &Term,
        job_id: JobId,
        path: &str,
        pointer: &Pointer,
        is_young: impl Fn() -> bool,
    ) -> Result<Published> {
        let data = pointer.encode(path)?;
        let proof = Proof::WriteId {
            path: path.to_owned(),
            write_id: pointer.write_id,
        };
        let mut holding = self.holdings.get(job_id);
        for _ in 0..ATTEMPTS {
            let replaced = match &holding {
                None => None,
                Some(holding) => Some(self.version_of(term, job_id, path, holding).await?),
            };
            let delete = replaced.map(|version| Operation::Delete {
                path: path.to_owned(),
                version: Some(version),
            });
            let create = Operation::Create {
                path: path.to_owned(),
                data: data.clone(),
                mode: CreateMode::Persistent,
            };
            let operations = delete.into_iter().chain([create]).collect();
            match self
                .writer
                .commit_while(term, operations, &proof, &is_young)
                .await?
            {
                None => return Ok(Published::TooOld),
                Some(Commit::Applied(_)) => {
                    let replaced = holding.map(|holding| holding.file);
                    return Ok(Published::Done { replaced });
                }
                Some(Commit::Refused(refusal)) => {
                    holding = self.after_refusal(job_id, refusal, holding).await?;
                }
            }
        }
        Err(conflict(
            path,
            "the job graph changes faster than it can be replaced",
        ))
    }

    /// The version at which the held pointer may be deleted. Within one term this process alone writes, so what
    /// it knows is right; else the pointer is read, because a replaced one has the same version. What was held in
    /// an earlier term is held no more: the present one may have recovered the job.
    async fn version_of(&self, term: &Term, job_id: JobId, path: &str, holding: &Holding) -> Result<i32> {
        let session = term.fence().map(|fence| fence.session);
        if session.is_some() && holding.session.is_some_and(|held| Some(held) != session) {
            return Err(Error::not_leader(
                "this job graph was put or recovered in an earlier term of leadership",
            )
            .at(path)
            .advise("recover it in the present term first"));
        }
        if session.is_some() && session == holding.session && self.changes.agrees(job_id, holding.write_id) {
            return Ok(holding.version);
        }
        let client = self.writer.client().await?;
        match pointers::read_one(&client, path, StateKind::JobGraph).await? {
            Some((pointer, stat)) if pointer.write_id == holding.write_id => Ok(stat.version),
            Some((pointer, _)) if pointer.terminal.is_some() => Err(ended(path)),
            _ => {
                self.holdings.release(job_id);
                Err(conflict(
                    path,
                    "another process replaced or removed the job graph",
                ))
            }
        }
    }

    /// What may be held now that the pointer was not as it was thought to be.
    async fn after_refusal(
        &self,
        job_id: JobId,
        refusal: Refusal,
        holding: Option<Holding>,
    ) -> Result<Option<Holding>> {
        let client = self.writer.client().await?;
        let session = self.writer.session();
        let found = pointers::read_one(&client, &refusal.path, StateKind::JobGraph).await?;
        match (found, holding) {
            (Some((pointer, _)), _) if pointer.terminal.is_some() => Err(ended(&refusal.path)),
            (Some((pointer, stat)), held) => {
                let same = held
                    .as_ref()
                    .is_some_and(|held| held.write_id == pointer.write_id);
                if same || self.log.is_doubtful(pointer.write_id) {
                    return Ok(Some(hold(&pointer, stat, session)));
                }
                self.holdings.release(job_id);
                Err(match held {
                    Some(_) => conflict(&refusal.path, "another process replaced the job graph"),
                    None => Error::new(
                        ErrorKind::AlreadyExists,
                        "a job graph is there that this store neither put nor recovered",
                    )
                    .at(refusal.path)
                    .not_applied()
                    .advise("recover it first, or use another job id"),
                })
            }
            // Gone again: it may be created.
            (None, None) => Ok(None),
            (None, Some(_)) => {
                self.holdings.release(job_id);
                Err(conflict(&refusal.path, "another process removed the job graph"))
            }
        }
    }

    /// Deletes the held pointer. One that is gone is success; one whose job has ended may go too.
    pub(super) async fn unpublish(
        &self,
        term: &Term,
        job_id: JobId,
        path: &str,
        holding: &Holding,
    ) -> Result<()> {
        let mut version = match self.version_of(term, job_id, path, holding).await {
            Ok(version) => version,
            Err(error) if error.kind() == ErrorKind::Conflict => {
                match self.version_to_remove(path, holding).await? {
                    Some(version) => version,
                    None => return Ok(()),
                }
            }
            Err(error) => return Err(error),
        };
        let proof = Proof::Gone {
            path: path.to_owned(),
        };
        for _ in 0..ATTEMPTS {
            let delete = Operation::Delete {
                path: path.to_owned(),
                version: Some(version),
            };
            match self.writer.commit(term, vec![delete], &proof).await? {
                Commit::Applied(_) => return Ok(()),
                Commit::Refused(refusal) if refusal.code == ZkCode::NotEmpty => {
                    return Err(refusal.into_error("the job graph's znode has children that are not ours"));
                }
                Commit::Refused(_) => match self.version_to_remove(path, holding).await? {
                    Some(found) => version = found,
                    None => return Ok(()),
                },
            }
        }
        Err(conflict(
            path,
            "the job graph changes faster than it can be removed",
        ))
    }

    /// The version of the held pointer as it is now, ended or not; `None` when it is gone.
    async fn version_to_remove(&self, path: &str, holding: &Holding) -> Result<Option<i32>> {
        let client = self.writer.client().await?;
        match pointers::read_one(&client, path, StateKind::JobGraph).await? {
            None => Ok(None),
            Some((pointer, stat)) if pointer.file.path == holding.file => Ok(Some(stat.version)),
            Some(_) => Err(conflict(path, "another process replaced the job graph")),
        }
    }
}

pub(super) fn hold(pointer: &Pointer, stat: Stat, session: Option<LeaderSessionId>) -> Holding {
    Holding {
        file: pointer.file.path.clone(),
        write_id: pointer.write_id,
        version: stat.version,
        session,
    }
}

pub(super) fn conflict(path: &str, message: &'static str) -> Error {
    Error::new(ErrorKind::Conflict, message).at(path).not_applied()
}

fn ended(path: &str) -> Error {
    conflict(path, "the job has ended; its end is recorded here").advise("submit it under another job id")
}
