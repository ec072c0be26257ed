use async_trait::async_trait;
use ha_core::ids::{BlobKey, CheckpointId, ComponentId, JobId};

/// One place with data, fresh for each case, and gone when the fixture is dropped.
#[async_trait]
pub trait Fixture: Send + Sync + 'static {
    /// What the suite looks at: the trait object of one process.
    type Subject: Send + Sync;

    /// Opens the data. A second call acts as a second process on the same data.
    async fn open(&self) -> Self::Subject;

    /// Ends the process of `subject` without any of its orderly ends, and opens the data anew. The case holds
    /// nothing any more that it made of the subject: what a process holds ends with it.
    async fn reopen_after_crash(&self, subject: Self::Subject) -> Self::Subject {
        drop(subject);
        self.open().await
    }

    /// Opens the data of another cluster that lies in the same places.
    async fn open_neighbour(&self) -> Self::Subject {
        panic!("this fixture has no neighbour: list the case as unsupported")
    }

    /// Makes what is stored for an entry unreadable, behind the back of every open subject.
    async fn break_entry(&self, entry: Entry) {
        panic!("this fixture cannot break {entry:?}: list the case as unsupported")
    }
}

/// An entry that a fixture can break.
#[derive(Clone, Debug)]
pub enum Entry {
    /// A job graph.
    JobGraph(JobId),
    /// A completed checkpoint.
    Checkpoint(JobId, CheckpointId),
    /// The counter of a job.
    Counter(JobId),
    /// A job result.
    JobResult(JobId),
    /// What the registry says of a job.
    SchedulingStatus(JobId),
    /// A blob.
    Blob(JobId, BlobKey),
    /// What the leader of a component published.
    LeaderInformation(ComponentId),
}
