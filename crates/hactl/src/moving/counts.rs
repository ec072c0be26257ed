use ha_storage::{CarriedFile, CarriedKind, StateKind};
use serde::Serialize;

use crate::archive::Znode;
use crate::render;

/// How much of what is moved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MovedCounts {
    /// Job graphs, those of ended jobs included.
    pub job_graphs: u64,
    /// Checkpoints.
    pub checkpoints: u64,
    /// Jobs whose next checkpoint id is known.
    pub counters: u64,
    /// Entries of the running jobs registry.
    pub registry_entries: u64,
    /// Results whose jobs are cleaned up.
    pub clean_results: u64,
    /// Results whose jobs are not cleaned up.
    pub dirty_results: u64,
    /// Blobs.
    pub blobs: u64,
    /// Bytes of all files.
    pub bytes: u64,
}

impl MovedCounts {
    /// Adds a file. State files are counted where there are no pointers to them.
    pub(super) fn add_file(&mut self, file: &CarriedFile, size: u64, is_pointed_at: bool) {
        self.bytes += size;
        match file.kind() {
            CarriedKind::State(_) if is_pointed_at => {}
            CarriedKind::State(StateKind::JobGraph) => self.job_graphs += 1,
            CarriedKind::State(StateKind::Checkpoint) => self.checkpoints += 1,
            CarriedKind::State(StateKind::CheckpointIdCounter) => self.counters += 1,
            CarriedKind::State(StateKind::RunningJob) => self.registry_entries += 1,
            CarriedKind::Blob(_) => self.blobs += 1,
            CarriedKind::CleanResult => self.clean_results += 1,
            CarriedKind::DirtyResult => self.dirty_results += 1,
        }
    }

    pub(super) fn add_znode(&mut self, znode: &Znode) {
        match znode {
            Znode::JobGraph(..) => self.job_graphs += 1,
            Znode::Checkpoint(..) => self.checkpoints += 1,
            Znode::Counter(..) => self.counters += 1,
            Znode::Status(..) => self.registry_entries += 1,
        }
    }

    /// For people.
    pub(super) fn table(&self) -> String {
        let rows = [
            ("job graphs", self.job_graphs),
            ("checkpoints", self.checkpoints),
            ("checkpoint counters", self.counters),
            ("registry entries", self.registry_entries),
            ("clean results", self.clean_results),
            ("dirty results", self.dirty_results),
            ("blobs", self.blobs),
        ];
        let mut text = String::new();
        for (what, number) in rows {
            text.push_str(&format!("{number:>8}  {what}\n"));
        }
        text.push_str(&format!("Files: {}\n", render::size(self.bytes)));
        text
    }
}
