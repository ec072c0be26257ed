//! What stands in a checkpoint's state file, and in its name.

use std::collections::BTreeMap;

use ha_core::checkpoints::CompletedCheckpoint;
use ha_core::ids::{CheckpointId, JobId};
use ha_storage::{State, StateKind};

use crate::stores::state_files::NewState;

/// The attribute that holds when the checkpoint completed.
const TIMESTAMP: &str = "timestamp";

/// The state file of a checkpoint.
pub(super) fn to_state(checkpoint: &CompletedCheckpoint) -> NewState {
    NewState {
        kind: StateKind::Checkpoint,
        owner: checkpoint.job_id,
        name: checkpoint.checkpoint_id.to_name(),
        attributes: BTreeMap::from([(TIMESTAMP.to_owned(), checkpoint.timestamp.to_string())]),
        payload: checkpoint.payload.clone(),
    }
}

/// The checkpoint of a state file.
pub(super) fn from_state(job_id: JobId, id: CheckpointId, state: State) -> CompletedCheckpoint {
    CompletedCheckpoint {
        job_id,
        checkpoint_id: id,
        // For people only, so a missing one fails nothing.
        timestamp: state
            .attributes
            .get(TIMESTAMP)
            .and_then(|text| text.parse().ok())
            .unwrap_or(0),
        payload: state.payload,
    }
}

/// The id in the path of a checkpoint's state file, `…/<19 digits>-<uuid>`.
pub(super) fn id_of_file(path: &str) -> Option<CheckpointId> {
    let (_, name) = path.rsplit_once('/')?;
    CheckpointId::from_name(name.split_once('-')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_from_file_names() {
        let path = "jobs/x/checkpoints/0000000000000000012-00112233-4455-6677-8899-aabbccddeeff";
        assert_eq!(id_of_file(path), CheckpointId::new(12).ok());
        assert_eq!(id_of_file("jobs/x/counter"), None);
    }
}
