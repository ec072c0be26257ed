use std::collections::BTreeMap;

use ha_core::ids::{CheckpointId, ComponentId, Epoch, JobId, LeaderSessionId};
use ha_flink::Pointer;

/// All that is watched, as it was read last. It need not be of one moment: what changes while it is read is read again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Snapshot {
    /// The components that somebody leads. One that is not here is led by nobody.
    pub(super) leaders: BTreeMap<ComponentId, WatchedLeader>,
    /// The jobs that have a job graph.
    pub(super) jobs: BTreeMap<JobId, WatchedJob>,
    /// The newest checkpoint of each job that has one, with a job graph or without.
    pub(super) checkpoints: BTreeMap<JobId, CheckpointId>,
    /// What could not be read, and why, by path.
    pub(super) unreadable: BTreeMap<String, String>,
}

/// The leader information of a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WatchedLeader {
    /// It says this.
    Leads(Leadership),
    /// It cannot be read, so nothing is known of the leader.
    Unreadable,
}

/// Who leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leadership {
    pub(super) address: String,
    pub(super) session_id: LeaderSessionId,
    /// Flink has none.
    pub(super) epoch: Option<Epoch>,
}

/// The pointer of a job graph. One that cannot be read has neither name nor end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WatchedJob {
    /// The transaction that created it: another one is another job graph.
    pub(super) created: i64,
    pub(super) name: Option<String>,
    /// The file that says its name, where the pointer does not, until it was looked at.
    pub(super) named_by: Option<Pointer>,
    /// How the job ended, once that is decided.
    pub(super) end: Option<String>,
}
