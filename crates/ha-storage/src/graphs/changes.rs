use std::collections::BTreeMap;

use ha_core::error::{Error, ErrorKind, Result};
use ha_core::ids::JobId;

use crate::folder::EntryKind;
use crate::state::state_path;
use crate::storage::HaStorage;

/// A change of the folder since it was last looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Added(JobId),
    Removed(JobId),
}

/// The graphs that are known to be there, each with what tells one content from the next.
///
/// Held locked over every own write, so that an own change is never taken for another's.
#[derive(Default)]
pub(super) struct Known(BTreeMap<JobId, String>);

impl Known {
    /// Looks at the folder, and gives what changed.
    pub(super) async fn refresh(&mut self, storage: &HaStorage) -> Result<Vec<Change>> {
        let mut present = BTreeMap::new();
        let folder = state_path::job_graph_folder();
        match storage.folder().list(&folder).await? {
            Some(entries) => {
                for entry in entries.iter().filter(|entry| entry.kind == EntryKind::File) {
                    let Some(job_id) = state_path::job_of_graph_file(&entry.name) else {
                        continue;
                    };
                    if let Some(version) = version(storage, job_id).await? {
                        present.insert(job_id, version);
                    }
                }
            }
            // No store removes the folder while it is in use, so this is no removal of graphs.
            None if !self.0.is_empty() => {
                return Err(
                    Error::new(ErrorKind::Unavailable, "the folder of the job graphs vanished")
                        .at(storage.display(folder.as_str()))
                        .advise("put it back")
                        .not_applied(),
                );
            }
            None => {}
        }
        let added = present
            .iter()
            .filter(|(job_id, version)| self.0.get(*job_id) != Some(*version))
            .map(|(job_id, _)| Change::Added(*job_id));
        let removed = self
            .0
            .keys()
            .filter(|job_id| !present.contains_key(*job_id))
            .map(|job_id| Change::Removed(*job_id));
        let changes = added.chain(removed).collect();
        self.0 = present;
        Ok(changes)
    }

    /// Records the outcome of an own change.
    pub(super) async fn note(&mut self, storage: &HaStorage, job_id: JobId) {
        match version(storage, job_id).await {
            Ok(Some(version)) => drop(self.0.insert(job_id, version)),
            Ok(None) => drop(self.0.remove(&job_id)),
            // The next look reports the own change, which listeners can bear.
            Err(error) => tracing::debug!(%error, "an own change of a job graph was not looked up"),
        }
    }
}

async fn version(storage: &HaStorage, job_id: JobId) -> Result<Option<String>> {
    let path = state_path::job_graph_file(job_id);
    match storage.folder().stat(&path).await {
        Ok(info) => Ok(info.map(|info| info.version)),
        // An odd thing under a graph's name: known, and found broken when it is recovered.
        Err(error) if error.kind() == ErrorKind::Corrupt => Ok(Some(error.message().to_owned())),
        Err(error) => Err(error),
    }
}
