use std::collections::BTreeSet;

use ha_core::ids::JobId;
use ha_storage::{FileKind, ObservedFile};

use crate::cluster::millis;

/// The state files that were listed, and which of them a pointer names. Of each no more is kept than tells it.
#[derive(Debug)]
pub(super) struct StateFiles {
    /// By path.
    files: Vec<ListedFile>,
    /// The jobs that have a result.
    ended: BTreeSet<JobId>,
}

#[derive(Debug)]
pub(super) struct ListedFile {
    /// Relative to the cluster's folder.
    pub(super) path: Box<str>,
    pub(super) owner: JobId,
    /// In milliseconds since 1970, by the store's own clock.
    pub(super) last_modified: u64,
    is_named: bool,
}

impl StateFiles {
    /// Those among all files of a cluster.
    pub(super) fn among(files: Vec<ObservedFile>) -> Self {
        let results = files.iter().filter(|file| file.kind == FileKind::Result);
        let ended = results.filter_map(|file| file.owner).collect();
        let states = files.into_iter().filter_map(|file| {
            let is_state = matches!(file.kind, FileKind::JobGraph | FileKind::Checkpoint);
            Some(ListedFile {
                owner: file.owner.filter(|_| is_state)?,
                last_modified: millis(file.last_modified),
                path: file.path.into_boxed_str(),
                is_named: false,
            })
        });
        let mut files: Vec<_> = states.collect();
        files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        files.shrink_to_fit();
        Self { files, ended }
    }

    /// Notes that a pointer names this file, where it was listed.
    pub(super) fn name(&mut self, path: &str) {
        let place = self.files.binary_search_by(|file| (*file.path).cmp(path));
        if let Some(file) = place.ok().and_then(|place| self.files.get_mut(place)) {
            file.is_named = true;
        }
    }

    /// Whether the job has a result.
    pub(super) fn has_result(&self, job_id: JobId) -> bool {
        self.ended.contains(&job_id)
    }

    /// Those that no pointer names.
    pub(super) fn unnamed(&self) -> impl Iterator<Item = &ListedFile> {
        self.files.iter().filter(|file| !file.is_named)
    }
}
