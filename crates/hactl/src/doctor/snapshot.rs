//! What was read, once, and what the checks decide on. Facts only: of a cluster of many thousand jobs no payload is
//! kept.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ha_core::ids::{CheckpointId, ComponentId, JobId, LeaderSessionId};
use ha_storage::{ClusterIdentity, ForeignFile};
use ha_zookeeper::codec::IdentityData;

use super::finding::Finding;
use super::sizes::Sizes;
use crate::layout::Layout;

/// Everything that was read.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    /// Whose data it is.
    pub(super) layout: Layout,
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
    /// The id that its next checkpoint gets; perhaps `None` where it is as it should be.
    pub(super) next_checkpoint: Option<Placed<CheckpointId>>,
    pub(super) newest_checkpoint: Option<CheckpointId>,
    /// Its job graph: the pointer, or the file where there are no pointers; perhaps `None` where it has no result.
    pub(super) graph: Option<Placed<Graph>>,
}

impl JobFacts {
    /// Forgets what is as it should be: of many thousand jobs nothing is kept that no check asks for.
    pub(super) fn forget_next_where_it_is_ahead(&mut self) {
        let newest = self.newest_checkpoint;
        self.next_checkpoint
            .take_if(|next| newest.is_none_or(|newest| next.what > newest));
    }
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
    /// Those that are not as they should be, at least.
    pub(super) leaders: Vec<Led>,
    /// Those that are not as they should be, at least.
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
    /// Whether it is one of Flink's.
    pub(super) is_flinks: bool,
    /// Nodes whose names are not those of latches.
    pub(super) foreign: Vec<String>,
}

impl Election {
    /// Whether somebody should stand in it: a named election that everybody has left is over. Of Flink's, where each
    /// component has one, that holds for those of jobs.
    pub(super) fn is_held(&self) -> bool {
        let is_of_cluster = match &self.component {
            None => true,
            Some(component) => self.is_flinks && component.job_id().is_none(),
        };
        is_of_cluster || !self.latches.is_empty()
    }

    /// Whether who is first leads.
    pub(super) fn is_led(&self) -> bool {
        let first = self.latches.first();
        first.is_some_and(|first| matches!(first.claim, Claim::Leads(_) | Claim::Untold))
    }
}

/// A latch.
#[derive(Clone, Debug)]
pub(super) struct Latch {
    pub(super) path: String,
    /// The session that owns it; 0 when it is persistent.
    pub(super) owner: i64,
    pub(super) claim: Claim,
}

/// What a latch says of leadership.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// Its process leads, in this term.
    Leads(LeaderSessionId),
    /// Its process does not lead.
    None,
    /// Nothing, for Flink's latches hold nothing: who is first leads.
    Untold,
    /// Why it cannot be read.
    Unreadable(String),
}

impl Latch {
    /// The term that its process claims to lead in.
    pub(super) fn term(&self) -> Option<LeaderSessionId> {
        match self.claim {
            Claim::Leads(term) => Some(term),
            _ => None,
        }
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
    /// It is not on a file system of this machine.
    Elsewhere,
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerSettings {
    pub(super) tick: Duration,
    /// How many servers it knows that vote or watch, itself among them.
    pub(super) members: usize,
    /// The sessions that are connected to it; else why that is not known.
    pub(super) connected: Result<BTreeSet<i64>, String>,
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
    /// Whether it is a cluster of Apache Flink.
    pub(super) fn is_flinks(&self) -> bool {
        matches!(self.layout, Layout::Flink(_))
    }

    /// What holds for this program's clusters, or for Flink's.
    pub(super) fn own_or_flinks(&self, own: &'static str, flinks: &'static str) -> &'static str {
        if self.is_flinks() { flinks } else { own }
    }

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

    /// Whether no leader that is published differs from the latch that leads.
    pub(super) fn leaders_fit(&self) -> bool {
        self.leaders
            .iter()
            .all(|led| self.differs_from_latch(led).is_none())
    }

    /// Of many thousand leaders none is kept that no check asks for.
    pub(super) fn forget_leaders_that_fit(&mut self) {
        let mut leaders = std::mem::take(&mut self.leaders);
        leaders.retain(|led| {
            let is_told = matches!(led.information, Information::Leader { .. });
            !is_told || self.differs_from_latch(led).is_some()
        });
        leaders.shrink_to_fit();
        self.leaders = leaders;
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
        let (path, latch_owner) = (&first.path, first.owner);
        let is_of_another = owner != latch_owner;
        let claim = match &first.claim {
            // What cannot be read is told by itself.
            Claim::Unreadable(_) => return None,
            Claim::None => "claims nothing".to_owned(),
            Claim::Leads(claim) if *claim != session => format!("claims {claim}"),
            Claim::Leads(_) | Claim::Untold if is_of_another => {
                let owner = match owner {
                    0 => "no session".to_owned(),
                    owner => format!("the session {owner:#x}"),
                };
                return Some(format!(
                    "it is owned by {owner}, and the first latch {path} by the session {latch_owner:#x}"
                ));
            }
            Claim::Leads(_) | Claim::Untold => return None,
        };
        Some(format!(
            "it names the leader {session}, and the first latch {path} {claim}"
        ))
    }
}
