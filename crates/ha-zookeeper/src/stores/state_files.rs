//! State files behind pointers: published only while young, deleted without failing.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use ha_core::environment::BootInstant;
use ha_core::environment::steps::Step;
use ha_core::ids::JobId;
use ha_core::{Error, ErrorKind, Result};
use ha_storage::{State, StateFile, StateKind};

use super::StoreContext;
use super::pointers;
use crate::client::Stat;
use crate::codec::Pointer;

/// How often a pointer that changes while its file is read is followed.
const POINTER_ATTEMPTS: usize = 5;
/// How often a state file is written anew because it grew too old before its pointer was published.
pub(super) const PUT_ATTEMPTS: usize = 3;
/// Most files whose deletion is kept for a later attempt; what is beyond stays as an orphan.
const MAX_PENDING: usize = 10_000;

/// A file to publish.
pub(super) struct NewState {
    pub kind: StateKind,
    pub owner: JobId,
    pub name: String,
    pub attributes: BTreeMap<String, String>,
    pub payload: Bytes,
}

/// A file that no pointer names yet.
pub(super) struct Fresh {
    pub file: StateFile,
    /// Before it was written.
    since: BootInstant,
}

impl Fresh {
    /// Whether its pointer may be published: a file of half the orphan age could be taken for an orphan before its
    /// pointer is there.
    pub(super) fn is_young(&self, context: &StoreContext) -> bool {
        context.environment.clock.now().saturating_since(self.since) < context.orphan_age / 2
    }
}

/// Writes the file durably. It is young when this returns: one that took too long is written anew.
pub(super) async fn put(context: &StoreContext, state: &NewState) -> Result<Fresh> {
    for _ in 0..PUT_ATTEMPTS {
        let since = context.environment.clock.now();
        let file = context
            .storage
            .put_state(
                state.kind,
                state.owner,
                &state.name,
                state.attributes.clone(),
                state.payload.clone(),
            )
            .await
            // Nothing points to it, so whatever is left of it changes nothing.
            .map_err(Error::not_applied)?;
        let fresh = Fresh { file, since };
        if fresh.is_young(context) {
            return Ok(fresh);
        }
        discard(context, &fresh.file.path).await;
    }
    Err(too_slow())
}

/// The storage, or ZooKeeper, needs longer for a state file or its pointer than a file may be without one.
pub(super) fn too_slow() -> Error {
    Error::new(
        ErrorKind::Unavailable,
        "writing the state file or publishing its pointer takes longer than half the orphan age",
    )
    .not_applied()
    .advise("raise high-availability.orphan-age, or see why the storage is slow")
}

/// Deletes a file that was never published. What fails is left as an orphan.
pub(super) async fn discard(context: &StoreContext, path: &str) {
    if let Err(error) = context.storage.delete(path).await {
        tracing::warn!(path, %error, "an unpublished state file is left behind");
    }
}

/// Reads the file of `pointer`, which was read from the znode `znode`. `None` when the pointer has gone in
/// between; a pointer that has changed is followed.
///
/// # Errors
/// `Corrupt` when the file is unreadable, foreign, or missing although the pointer still names it: all is left
/// as it is. `Unavailable` and `Denied` as the storage says.
pub(super) async fn read(
    context: &StoreContext,
    znode: &str,
    owner: JobId,
    (mut pointer, mut stat): (Pointer, Stat),
) -> Result<Option<(Pointer, Stat, State)>> {
    for _ in 0..POINTER_ATTEMPTS {
        let error = match context.storage.get_state(&pointer.file).await {
            Ok(state) if state.owner == owner => return Ok(Some((pointer, stat, state))),
            Ok(state) => {
                return Err(broken(
                    znode,
                    &format!(
                        "the file {} belongs to the job {}",
                        pointer.file.path, state.owner
                    ),
                ));
            }
            Err(error) => error,
        };
        if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Corrupt) {
            return Err(error);
        }
        // Deleted or replaced in between is no fault. Only an unchanged pointer is to blame.
        let client = context.writer.client().await?;
        match pointers::read_one(&client, znode, pointer.file.kind).await? {
            None => return Ok(None),
            Some(current) if current.0.file != pointer.file => (pointer, stat) = current,
            Some(_) => {
                let subject = error.subject().unwrap_or(&pointer.file.path).to_owned();
                return Err(broken(
                    znode,
                    &format!("its file {subject} cannot be used: {}", error.message()),
                )
                .caused_by(error));
            }
        }
    }
    Err(Error::new(
        ErrorKind::Unavailable,
        "the pointer changes faster than its file can be read",
    )
    .at(znode)
    .not_applied())
}

fn broken(znode: &str, reason: &str) -> Error {
    Error::new(ErrorKind::Corrupt, reason.to_owned())
        .at(znode)
        .not_applied()
        .advise("nothing was deleted; look at it with `hactl tree`, put the file back from a copy, or delete the znode by hand")
}

/// Files whose pointers are gone. Failing to delete one fails nothing; it is retried with the next deletions.
#[derive(Debug, Default)]
pub(super) struct Deletions {
    pending: Mutex<VecDeque<String>>,
}

impl Deletions {
    /// Deletes these files and those that failed before, each in `step`, until one fails: where none can be deleted,
    /// a deletion costs one attempt, however many are left.
    pub(super) async fn delete(
        &self,
        context: &StoreContext,
        step: Step,
        paths: impl IntoIterator<Item = String>,
    ) {
        {
            // The new ones first, and one that fails goes behind the others: none keeps the others from their turn.
            let mut pending = self.pending();
            paths.into_iter().for_each(|path| pending.push_front(path));
            pending.truncate(MAX_PENDING);
        }
        // Those that wait stay here, also for a caller that drops the call.
        while let Some(path) = self.next() {
            let deleting = context.storage.delete(&path);
            if let Err(error) = context.environment.step(step, deleting).await {
                tracing::warn!(path, %error, "a state file without a pointer could not be deleted; retried later");
                self.pending().push_back(path);
                break;
            }
        }
    }

    fn next(&self) -> Option<String> {
        self.pending().pop_front()
    }

    fn pending(&self) -> MutexGuard<'_, VecDeque<String>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
