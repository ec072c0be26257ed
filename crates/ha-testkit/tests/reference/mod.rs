//! A simple correct implementation of every store in memory, and the faults that it can be given.

mod blobs;
mod checkpoints;
mod disk;
mod elections;
mod graphs;
mod process;
mod registry;
mod results;
mod retrievals;
mod services;

use std::sync::Arc;

use async_trait::async_trait;
use ha_core::blobs::BlobStore;
use ha_core::checkpoints::CheckpointRecoveryFactory;
use ha_core::jobs::{JobGraphStore, JobResultStore, RunningJobsRegistry};
use ha_core::services::HighAvailabilityServices;
use ha_testkit::contract::{Entry, Fixture};

use disk::Disk;
use process::Process;

/// What is wrong with an implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing: the reference.
    None,

    // Job graphs.
    BrokenGraphHidesOthers,
    BrokenGraphIsNone,
    BrokenGraphIsDeleted,
    OwnChangesReported,
    ForeignGraphReplaced,
    ForeignGraphRemoved,
    StoppedListenerTold,
    ReplacementUnreported,
    GraphLostAtCrash,

    // Checkpoints.
    PublishedBeforeStored,
    RetentionForgotten,
    OlderUsedSilently,
    OldCheckpointAccepted,
    SuspendedJobDeleted,
    OrderOfDigits,
    NewestSubsumed,
    VanishedIsNone,

    // Counter.
    CounterInMemory,
    CounterSetBack,
    BrokenCounterIsOne,
    CounterIgnoresCheckpoints,
    CounterReadsThenWrites,

    // Job results.
    DirtyAfterClean,
    CleanOfUnknown,
    SecondEndOverwrites,
    TornResultHidesOthers,
    TornResultForgotten,
    CleanForgotten,

    // Registry.
    DoneOverwritten,
    DoneListedAsRunning,
    BrokenStatusIsPending,

    // Blobs.
    HalfWrittenVisible,
    WrongContentAccepted,
    ChangedContentServed,
    MissingIsAnError,
    DeleteAllOfEveryJob,

    // Elections.
    NotRevoked,
    RevokedLate,
    StoppedContenderWoken,
    StaleConfirmAccepted,
    GrantedTwice,
    LeadsWhileRevoked,
    PublishedWithoutConfirmation,
    TermRepeats,
    StopWaitsForItsCallback,

    // Retrieval.
    NotificationRepeated,
    LeaderKeptAfterLoss,
    ToldAfterStop,
    FirstLeaderNotTold,
    ToldOneLate,

    // Services.
    NeighbourCleaned,
    CloseDeletes,
    EndedJobRecovered,
    CleanupWithoutEnd,
    CleanupForgetsBlobs,
    CleanupKeepsData,
    CleanupBesideTheLeader,
    BlobsUnfenced,
    ClosedServicesServe,
    CloseKeepsLeading,
    StandbyWrites,
}

/// A cluster in memory, and another one beside it.
pub(crate) struct Reference<S: ?Sized> {
    fault: Fault,
    disk: Arc<Disk>,
    neighbour: Arc<Disk>,
    make: fn(Arc<Process>) -> Arc<S>,
}

impl<S: ?Sized> Reference<S> {
    fn with(fault: Fault, make: fn(Arc<Process>) -> Arc<S>) -> Self {
        let disk = Disk::new();
        Self {
            fault,
            neighbour: disk.neighbour(),
            disk,
            make,
        }
    }
}

pub(crate) fn job_graph_stores(fault: Fault) -> Reference<dyn JobGraphStore> {
    Reference::with(fault, |process| Arc::new(graphs::Graphs::new(process)))
}

pub(crate) fn checkpoints(fault: Fault) -> Reference<dyn CheckpointRecoveryFactory> {
    Reference::with(fault, |process| Arc::new(checkpoints::Factory { process }))
}

pub(crate) fn job_result_stores(fault: Fault) -> Reference<dyn JobResultStore> {
    Reference::with(fault, |process| Arc::new(results::Results { process }))
}

pub(crate) fn registries(fault: Fault) -> Reference<dyn RunningJobsRegistry> {
    Reference::with(fault, |process| Arc::new(registry::Registry { process }))
}

pub(crate) fn blob_stores(fault: Fault) -> Reference<dyn BlobStore> {
    Reference::with(fault, |process| Arc::new(blobs::Blobs { process }))
}

pub(crate) fn services(fault: Fault) -> Reference<dyn HighAvailabilityServices> {
    Reference::with(fault, |process| Arc::new(services::Services { process }))
}

#[async_trait]
impl<S: Send + Sync + ?Sized + 'static> Fixture for Reference<S> {
    type Subject = Arc<S>;

    async fn open(&self) -> Arc<S> {
        (self.make)(Process::new(Arc::clone(&self.disk), self.fault))
    }

    async fn reopen_after_crash(&self, subject: Arc<S>) -> Arc<S> {
        drop(subject);
        self.disk.crash(self.fault);
        self.open().await
    }

    async fn open_neighbour(&self) -> Arc<S> {
        (self.make)(Process::new(Arc::clone(&self.neighbour), self.fault))
    }

    async fn break_entry(&self, entry: Entry) {
        self.disk.break_entry(entry);
    }
}
