//! What was read, once, and what the checks decide on. Facts only: of a cluster of many thousand jobs no payload is
//! kept.

use std::collections::BTreeMap;
use std::time::Duration;

use ha_core::ids::{CheckpointId, ComponentId, JobId, LeaderSessionId};
use ha_storage::{ClusterIdentity, ForeignFile};
use ha_zookeeper::codec::{IdentityData, LatchData};

use super::finding::Finding;
use super::sizes::Sizes;

/// Everything that was read.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    /// The znodes; else why there are none.
    pub(super) tree: Result<Tree, String>,
    /// The storage; else why it could not be read.
    pub(super) storage: Result<Stored, Unreached>,
    /// What is known of each job that has a counter or a checkpoint or a job graph.
    pub(super) jobs: BTreeMap<JobId, JobFacts>,
    /// From which age a dirty result is too old.
    pub(super) dirty_after: Duration,
}

/// The storage that could not be read.
#[derive(Clone, Debug)]
pub(super) struct Unreached {
    pub(super) place: String,
    pub(super) reason: String,
}

/// Something and where it stands, for people.
#[derive(Clone, Debug)]
pub(super) struct Placed<T> {
    pub(super) place: String,
    pub(super) what: T,
}

/// What is known of a job's state.
#[derive(Clone, Debug, Default)]
pub(super) struct JobFacts {
    /// The id that its next checkpoint gets.
    pub(super) next_checkpoint: Option<Placed<CheckpointId>>,
    pub(super) newest_checkpoint: Option<Placed<CheckpointId>>,
    /// Its job graph: the pointer, or the file where there are no pointers.
    pub(super) graph: Option<Placed<Graph>>,
}

/// A job graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Graph {
    /// The job is to run.
    Live,
    /// The job's end is recorded beside it.
    Ended,
    /// Its pointer cannot be read.
    Unreadable,
}

/// The znodes.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// The cluster node.
    pub(super) cluster: String,
    /// The identity, where there is one; else why it cannot be read.
    pub(super) identity: Placed<Option<Result<IdentityData, String>>>,
    /// The names of the cluster node's children.
    pub(super) children: Vec<String>,
    pub(super) elections: Vec<Election>,
    pub(super) leaders: Vec<Led>,
    pub(super) pointers: Vec<Pointed>,
    /// Nodes that should hold a counter and do not.
    pub(super) unreadable_counters: Vec<Placed<String>>,
    /// Nodes that should hold a status and do not.
    pub(super) unreadable_registry: Vec<Placed<String>>,
    /// What is no node of the layout, and what is expected there.
    pub(super) foreign: Vec<Placed<&'static str>>,
    pub(super) sizes: Sizes,
    /// Each ACL that there is, as text, how many nodes have it, and one of them; else why they were not read.
    pub(super) acls: Result<BTreeMap<String, (usize, String)>, String>,
    pub(super) session: Result<SessionFacts, String>,
    /// The servers, with what each says of its settings; else why it did not.
    pub(super) servers: Vec<(String, Result<ServerSettings, String>)>,
    /// The option for the servers' tick.
    pub(super) configured_tick: Option<Duration>,
}

/// The latches of one election.
#[derive(Clone, Debug)]
pub(super) struct Election {
    /// The folder of the latches.
    pub(super) path: String,
    /// The component of a named election; `None` for the cluster's own.
    pub(super) component: Option<ComponentId>,
    /// By sequence number, so the first leads.
    pub(super) latches: Vec<Latch>,
    /// Nodes whose names are not those of latches.
    pub(super) foreign: Vec<String>,
}

/// A latch.
#[derive(Clone, Debug)]
pub(super) struct Latch {
    pub(super) path: String,
    pub(super) owner: i64,
    pub(super) data: Result<LatchData, String>,
}

impl Latch {
    pub(super) fn claim(&self) -> Option<LeaderSessionId> {
        self.data.as_ref().ok()?.leader_session_id
    }
}

/// A component that has a place for its leader.
#[derive(Clone, Debug)]
pub(super) struct Led {
    pub(super) component: ComponentId,
    pub(super) path: String,
    pub(super) information: Information,
}

/// What is published about a leader.
#[derive(Clone, Debug)]
pub(super) enum Information {
    /// No node, or an empty one.
    None,
    /// Why it cannot be read.
    Unreadable(String),
    /// The leader, and the session that owns the node; 0 when it is persistent.
    Leader { session: LeaderSessionId, owner: i64 },
}

/// A pointer.
#[derive(Clone, Debug)]
pub(super) struct Pointed {
    pub(super) path: String,
    pub(super) job_id: JobId,
    /// What it names; else why it cannot be read.
    pub(super) named: Result<Named, String>,
}

/// What a pointer names.
#[derive(Clone, Debug)]
pub(super) struct Named {
    /// Relative to the cluster's folder.
    pub(super) file: String,
    /// The same for people.
    pub(super) place: String,
    pub(super) state: FileState,
}

/// What became of the file that a pointer names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileState {
    /// It could not be read, which is reported elsewhere.
    Unknown,
    Whole,
    Missing,
    /// It is not what was written.
    Torn(String),
    /// It is whole, and another one than the pointer says.
    Other(String),
    /// The path is not one of this job's files.
    Misplaced,
}

/// The session of this command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionFacts {
    pub(super) asked: Duration,
    pub(super) granted: Duration,
}

/// What a server says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ServerSettings {
    pub(super) tick: Duration,
}

/// The storage.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    /// The directory as it is configured.
    pub(super) uri: String,
    /// `identity.json`, where there is one; else why it cannot be read.
    pub(super) identity: Placed<Option<Result<ClusterIdentity, String>>>,
    /// Folders that this user may not write to, and why; else why that is not known.
    pub(super) unwritable: Result<Vec<Placed<String>>, String>,
    /// What is not of the layout.
    pub(super) foreign: Vec<ForeignFile>,
    /// Files that no pointer names, before and after the pointers were read, and the days when they were written; else
    /// why that is not known.
    pub(super) unnamed: Result<Vec<Placed<u64>>, String>,
    /// State files that cannot be read, where there are no pointers.
    pub(super) unreadable: Result<Vec<Placed<String>>, String>,
    pub(super) results: BTreeMap<JobId, RecordedEnd>,
    pub(super) unreadable_results: Vec<Placed<String>>,
    /// The time, in milliseconds since 1970: that of the newest file, or of this machine where that is later.
    pub(super) now: u64,
}

/// The result files of a job.
#[derive(Clone, Debug, Default)]
pub(super) struct RecordedEnd {
    /// The dirty one, and when it was last written.
    pub(super) dirty: Option<Placed<u64>>,
    pub(super) clean: Option<Placed<u64>>,
}

impl Snapshot {
    /// The tree, or why a check of it is skipped.
    pub(super) fn tree(&self) -> Result<&Tree, String> {
        self.tree.as_ref().map_err(Clone::clone)
    }

    /// The storage, or why a check of it is skipped.
    pub(super) fn storage(&self) -> Result<&Stored, String> {
        self.storage
            .as_ref()
            .map_err(|unreached| format!("{} could not be read", unreached.place))
    }
}

impl Snapshot {
    /// Says where a finding was made: a znode where there are pointers, else a file.
    pub(super) fn at(&self, finding: Finding, place: &str) -> Finding {
        match self.tree {
            Ok(_) => finding.at_znode(place),
            Err(_) => finding.at_file(place),
        }
    }
}

impl Tree {
    /// The election that decides who leads a component: its own, or the cluster's.
    pub(super) fn election_of(&self, component: &ComponentId) -> Option<&Election> {
        let own = |election: &&Election| election.component.as_ref() == Some(component);
        let shared = |election: &&Election| election.component.is_none();
        let mut elections = self.elections.iter();
        elections.clone().find(own).or_else(|| elections.find(shared))
    }

    /// How the leader that is published differs from the latch that leads; `None` where it does not, and where
    /// nothing readable is published.
    pub(super) fn differs_from_latch(&self, led: &Led) -> Option<String> {
        let Information::Leader { session, owner } = led.information else {
            return None;
        };
        let election = self.election_of(&led.component);
        let Some(first) = election.and_then(|election| election.latches.first()) else {
            return Some(format!(
                "it names the leader {session}, and nobody stands in the election"
            ));
        };
        // What cannot be read is told by itself.
        first.data.as_ref().ok()?;
        match first.claim() {
            None => Some(format!(
                "it names the leader {session}, and the first latch {} claims nothing",
                first.path
            )),
            Some(claim) if claim != session => Some(format!(
                "it names the leader {session}, and the first latch {} claims {claim}",
                first.path
            )),
            Some(_) if owner != first.owner => Some(format!(
                "it is owned by {}, and the first latch {} by the session {:#x}",
                match owner {
                    0 => "no session".to_owned(),
                    owner => format!("the session {owner:#x}"),
                },
                first.path,
                first.owner
            )),
            Some(_) => None,
        }
    }
}
