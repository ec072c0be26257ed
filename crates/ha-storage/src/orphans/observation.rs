use std::collections::{BTreeMap, BTreeSet};

use ha_core::environment::BootInstant;
use ha_core::health::BrokenEntry;
use ha_core::ids::{CheckpointId, JobId};
use uuid::Uuid;

use super::report::Refusal;
use super::survey::Survey;

/// What names files, or keeps them, as one observation read it *after* it had listed the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Protection {
    /// How many pointers could be read.
    pub pointers: usize,
    /// The paths that they name.
    pub named: BTreeSet<String>,
    /// Jobs of which anything is kept: their blobs stay.
    pub known_jobs: BTreeSet<JobId>,
    /// The id that the next checkpoint of a job gets, where a counter says so.
    pub next_checkpoint: BTreeMap<JobId, CheckpointId>,
    /// Pointers and counters that cannot be read, and why; all files of these jobs stay.
    pub unreadable: BTreeMap<JobId, BrokenEntry>,
}

/// Where pointers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backend {
    /// Pointers are znodes.
    ZooKeeper,
    /// Files are state and pointer in one.
    Files,
}

/// The files of a cluster, and what names them, at one time.
#[derive(Clone, Debug)]
pub struct Observation {
    pub(super) backend: Backend,
    pub(super) began: BootInstant,
    pub(super) ended: BootInstant,
    /// The cluster that tree and storage belong to.
    pub(super) cluster_uuid: Uuid,
    pub(super) survey: Survey,
    /// What keeps files; a reason where that says nothing.
    pub(super) protection: Result<Protection, Refusal>,
}

impl Observation {
    /// An observation of a cluster whose pointers are elsewhere than its files. `survey` was made first, and the
    /// pointers were read after a `sync` that followed it.
    pub const fn of_pointers(
        (began, ended): (BootInstant, BootInstant),
        cluster_uuid: Uuid,
        survey: Survey,
        protection: Result<Protection, Refusal>,
    ) -> Self {
        Self {
            backend: Backend::ZooKeeper,
            began,
            ended,
            cluster_uuid,
            survey,
            protection,
        }
    }
}
