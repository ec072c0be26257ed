use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};

use ha_core::checkpoints::CompletedCheckpoint;
use ha_core::election::LeaderContender;
use ha_core::environment::Environment;
use ha_core::ids::{BlobKey, CheckpointId, JobId};
use ha_core::jobs::{JobGraph, JobGraphListener, JobResultEntry, JobSchedulingStatus};
use ha_core::services::HighAvailabilityServices;
use ha_core::{Error, ErrorKind};
use ha_embedded::EmbeddedHaServices;
use ha_testkit::contract::Entry;

use super::Fault;

/// What outlives a process. `None` in place of a value is something unreadable.
pub(crate) struct Disk {
    content: Mutex<Content>,
    /// Who leads: all processes of a cluster share it.
    elections: OnceLock<Arc<dyn HighAvailabilityServices>>,
    neighbour: OnceLock<Weak<Disk>>,
    /// Only with a fault: contenders whose revocation waits for the next grant.
    pub(super) late_revocations: Mutex<Vec<Arc<dyn LeaderContender>>>,
}

#[derive(Default)]
pub(crate) struct Content {
    pub(super) graphs: BTreeMap<JobId, (u64, Option<JobGraph>)>,
    pub(super) checkpoints: BTreeMap<(JobId, CheckpointId), Option<CompletedCheckpoint>>,
    pub(super) counters: BTreeMap<JobId, Option<u64>>,
    pub(super) results: BTreeMap<JobId, (Option<JobResultEntry>, bool)>,
    pub(super) registry: BTreeMap<JobId, Option<JobSchedulingStatus>>,
    pub(super) blobs: BTreeMap<JobId, BTreeMap<BlobKey, Vec<u8>>>,
    pub(super) listeners: BTreeMap<u64, Arc<dyn JobGraphListener>>,
    /// The processes that stand in an election.
    pub(super) contenders: BTreeSet<u64>,
    last_number: u64,
}

impl Content {
    /// A number that was never given before: a version, or the name of a process.
    pub(super) fn number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }
}

impl Disk {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            content: Mutex::default(),
            elections: OnceLock::new(),
            neighbour: OnceLock::new(),
            late_revocations: Mutex::default(),
        })
    }

    /// Another cluster's disk, known to this one's, so that a fault can reach it.
    pub(super) fn neighbour(self: &Arc<Self>) -> Arc<Self> {
        let neighbour = Self::new();
        assert!(self.neighbour.set(Arc::downgrade(&neighbour)).is_ok());
        neighbour
    }

    /// Who leads. Made when it is first asked for, inside the runtime of the case.
    pub(super) fn elections(&self) -> &Arc<dyn HighAvailabilityServices> {
        self.elections
            .get_or_init(|| EmbeddedHaServices::new(Environment::system()).unwrap())
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap()
    }

    pub(super) fn wipe(&self, fault: Fault) {
        let mut content = self.lock();
        *content = Content {
            listeners: std::mem::take(&mut content.listeners),
            contenders: std::mem::take(&mut content.contenders),
            last_number: content.last_number,
            ..Content::default()
        };
        drop(content);
        if fault == Fault::NeighbourCleaned
            && let Some(neighbour) = self.neighbour.get().and_then(Weak::upgrade)
        {
            neighbour.wipe(Fault::None);
        }
    }

    /// What a crash takes with it.
    pub(super) fn crash(&self, fault: Fault) {
        let mut content = self.lock();
        content.listeners.clear();
        match fault {
            Fault::GraphLostAtCrash => content.graphs.clear(),
            // The pointers are there, what they point at was not written yet.
            Fault::PublishedBeforeStored => {
                if let Some(mut newest) = content.checkpoints.last_entry() {
                    newest.insert(None);
                }
            }
            _ => {}
        }
    }

    pub(super) fn break_entry(&self, entry: Entry) {
        let mut content = self.lock();
        match entry {
            Entry::JobGraph(job) => content.graphs.get_mut(&job).unwrap().1 = None,
            Entry::Checkpoint(job, id) => *content.checkpoints.get_mut(&(job, id)).unwrap() = None,
            Entry::Counter(job) => *content.counters.get_mut(&job).unwrap() = None,
            Entry::JobResult(job) => content.results.get_mut(&job).unwrap().0 = None,
            Entry::SchedulingStatus(job) => *content.registry.get_mut(&job).unwrap() = None,
            Entry::LeaderInformation(_) => panic!("nobody but the leader can write it"),
            Entry::Blob(job, key) => {
                let blobs = content.blobs.get_mut(&job).unwrap();
                blobs.get_mut(&key).unwrap().push(b'!');
            }
        }
    }
}

/// The error for something unreadable of a job.
pub(super) fn corrupt(what: &str, job: JobId) -> Error {
    Error::new(ErrorKind::Corrupt, "unreadable")
        .at(format!("{what}/{job}"))
        .not_applied()
}

/// An error that certainly changed nothing.
pub(super) fn refused(kind: ErrorKind, message: &'static str) -> Error {
    Error::new(kind, message).not_applied()
}
