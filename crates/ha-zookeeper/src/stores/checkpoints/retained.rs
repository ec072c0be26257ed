use ha_core::checkpoints::CompletedCheckpoint;
use ha_core::ids::{CheckpointId, JobId};
use ha_core::{Error, ErrorKind, Result};

use crate::client::Stat;
use crate::codec::Pointer;
use crate::stores::pointers::{self, PointerNode};
use crate::stores::{StoreContext, state_files};

use super::checkpoint_files;

/// A published checkpoint, as the store knows it.
#[derive(Clone, Debug)]
pub(super) struct Retained {
    pub id: CheckpointId,
    /// Its znode.
    pub path: String,
    /// The pointer, with the Stat that it was read with; why it is unreadable, where it is.
    pub pointer: Result<(Pointer, Stat)>,
    /// Its content, kept for the newest one only.
    pub checkpoint: Option<CompletedCheckpoint>,
}

impl Retained {
    /// The path of the state file, where the pointer says it.
    pub(super) fn file(&self) -> Option<String> {
        self.pointer
            .as_ref()
            .ok()
            .map(|(pointer, _)| pointer.file.path.clone())
    }

    /// The content; `None` when the checkpoint was removed in between.
    pub(super) async fn load(
        &self,
        context: &StoreContext,
        job_id: JobId,
    ) -> Result<Option<CompletedCheckpoint>> {
        if let Some(checkpoint) = &self.checkpoint {
            return Ok(Some(checkpoint.clone()));
        }
        let pointer = self.pointer.clone()?;
        let read = state_files::read(context, &self.path, job_id, pointer).await?;
        Ok(read.map(|(_, _, state)| checkpoint_files::from_state(job_id, self.id, state)))
    }
}

/// The checkpoints of a listing, oldest first. Foreign names are reported and left out.
pub(super) fn from_nodes(context: &StoreContext, job_id: JobId, nodes: Vec<PointerNode>) -> Vec<Retained> {
    let mut retained: Vec<_> = nodes
        .into_iter()
        .filter_map(|node| match CheckpointId::from_name(&node.name) {
            Some(id) => Some(Retained {
                id,
                pointer: node
                    .pointer
                    .and_then(|pointer| names_its_own(pointer, job_id, id, &node.path))
                    .map(|pointer| (pointer, node.stat)),
                path: node.path,
                checkpoint: None,
            }),
            None => {
                context.report(&pointers::foreign(&node.name, &node.path, "checkpoint id"));
                None
            }
        })
        .collect();
    retained.sort_by_key(|retained| retained.id);
    retained
}

/// A pointer that names the file of another checkpoint would bring that one back under this id, and take the file
/// along when this one is subsumed: another job's too.
fn names_its_own(pointer: Pointer, job_id: JobId, id: CheckpointId, path: &str) -> Result<Pointer> {
    let file = &pointer.file;
    if ha_storage::owner_of_state(file.kind, &file.path) == Some(job_id)
        && checkpoint_files::id_of_file(&file.path) == Some(id)
    {
        return Ok(pointer);
    }
    Err(Error::new(
        ErrorKind::Corrupt,
        format!("it names the file of another checkpoint, {}", file.path),
    )
    .at(path)
    .not_applied())
}

/// Reports a checkpoint that cannot be read, with the older ones that could be used instead.
pub(super) fn report(context: &StoreContext, broken: &Retained, older: &[Retained], error: &Error) {
    let mut entry =
        ha_core::health::BrokenEntry::from_error(broken.id.to_string(), broken.path.clone(), error);
    entry.candidates = older.iter().rev().map(|older| older.path.clone()).collect();
    context.report(&entry);
}
