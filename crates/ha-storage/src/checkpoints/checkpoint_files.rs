//! The files of one job's checkpoints.

use std::collections::BTreeMap;
use std::fmt::Display;

use ha_core::checkpoints::CompletedCheckpoint;
use ha_core::error::{Error, ErrorKind, Result};
use ha_core::ids::{CheckpointId, JobId};

use crate::folder::{RelativePath, is_temporary};
use crate::state::{State, StateKind, state_path};
use crate::storage::{HaStorage, corrupt};

const ID: &str = "checkpointId";
const TIMESTAMP: &str = "timestamp";

/// A checkpoint that is there, unread.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CheckpointFile {
    pub(super) id: CheckpointId,
    pub(super) path: RelativePath,
}

/// The files of a job's checkpoints.
pub(super) struct Listed {
    /// Oldest first.
    pub(super) checkpoints: Vec<CheckpointFile>,
    /// Names that are no checkpoint's, with why; left alone.
    pub(super) foreign: Vec<(String, Error)>,
}

pub(super) async fn list(storage: &HaStorage, job_id: JobId) -> Result<Listed> {
    let folder = state_path::checkpoint_folder(job_id);
    let mut listed = Listed {
        checkpoints: Vec::new(),
        foreign: Vec::new(),
    };
    for entry in storage.folder().list(&folder).await?.unwrap_or_default() {
        let id = state_path::checkpoint_of_state(&entry.name);
        match id.zip(folder.child(&entry.name)) {
            // A folder or a link under a checkpoint's name is one too: reading it finds it broken.
            Some((id, path)) => listed.checkpoints.push(CheckpointFile { id, path }),
            None if is_temporary(&entry.name) => {}
            None => {
                let error = Error::new(
                    ErrorKind::Corrupt,
                    "foreign: the name is not that of a checkpoint",
                );
                listed.foreign.push((entry.name, error));
            }
        }
    }
    listed.checkpoints.sort();
    Ok(listed)
}

/// The id of the newest checkpoint, readable or not.
pub(super) async fn newest_id(storage: &HaStorage, job_id: JobId) -> Result<Option<CheckpointId>> {
    Ok(list(storage, job_id)
        .await?
        .checkpoints
        .last()
        .map(|file| file.id))
}

/// Writes a checkpoint durably.
pub(super) async fn write(storage: &HaStorage, checkpoint: &CompletedCheckpoint) -> Result<CheckpointFile> {
    let id = checkpoint.checkpoint_id;
    let attributes = BTreeMap::from([
        (ID.to_owned(), id.to_string()),
        (TIMESTAMP.to_owned(), checkpoint.timestamp.to_string()),
    ]);
    let file = storage
        .put_state(
            StateKind::Checkpoint,
            checkpoint.job_id,
            &id.to_name(),
            attributes,
            checkpoint.payload.clone(),
        )
        .await?;
    let path = RelativePath::parse(&file.path)?;
    Ok(CheckpointFile { id, path })
}

/// Reads a checkpoint, `None` when it is gone.
pub(super) async fn read(
    storage: &HaStorage,
    job_id: JobId,
    file: &CheckpointFile,
) -> Result<Option<CompletedCheckpoint>> {
    let state = storage
        .read_state(&file.path, StateKind::Checkpoint, job_id)
        .await?;
    let Some(State {
        attributes, payload, ..
    }) = state
    else {
        return Ok(None);
    };
    let number = |name: &str| -> Option<u64> { attributes.get(name)?.parse().ok() };
    let broken = |reason: &dyn Display| corrupt(reason.to_string()).at(storage.display(file.path.as_str()));
    let id = number(ID).ok_or_else(|| broken(&"its header has no checkpoint id"))?;
    if id != file.id.get() {
        return Err(broken(&format_args!(
            "it holds the checkpoint {id}, its name says {}",
            file.id
        )));
    }
    Ok(Some(CompletedCheckpoint {
        job_id,
        checkpoint_id: file.id,
        timestamp: number(TIMESTAMP).unwrap_or(0),
        payload,
    }))
}
