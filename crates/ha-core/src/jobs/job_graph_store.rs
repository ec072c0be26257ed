use std::sync::Arc;

use async_trait::async_trait;

use super::{JobGraph, JobGraphListener};
use crate::error::Result;
use crate::health::Recovered;
use crate::ids::JobId;

/// Durable job graphs.
///
/// A pointer implies its state: an entry that is listed names a whole, readable file; the converse may fail
/// after a crash (I5). Every method but `start`, `stop` and `job_ids` is `Invalid` before `start` and `Closed`
/// after `stop`.
///
/// # Fencing
/// `put_job_graph` and `remove_job_graph` of services that ever started an election write only while they lead
/// (else `NotLeader`, not applied). The right to replace or remove a graph ends with the term in which it was put or
/// recovered: in a later one that is `NotLeader` too, until it is recovered again.
///
/// # Errors
/// Of every method, beside its own: `Denied`, `Unavailable` of the storage, and where processes compete
/// `Unavailable` while ZooKeeper cannot be asked.
///
/// # Cancellation
/// A dropped call may still take effect; the next call sees which.
#[async_trait]
pub trait JobGraphStore: Send + Sync + 'static {
    /// Begins to report other processes' changes to `listener`.
    ///
    /// # Errors
    /// `Invalid` for a second start, `Closed` after `stop`. After another failure it may be repeated.
    ///
    /// # Cancellation
    /// It may be repeated, unless it had succeeded already: then it is `Invalid`.
    async fn start(&self, listener: Arc<dyn JobGraphListener>) -> Result<()>;

    /// Stops reporting and gives up every right to replace or remove. Deletes nothing. Idempotent; no callback
    /// is made after it has returned.
    ///
    /// # Errors
    /// None that the present stores know of.
    ///
    /// # Cancellation
    /// It is stopped nevertheless; only the wait for a callback under way is given up.
    async fn stop(&self) -> Result<()>;

    /// Stores the graph durably, then publishes it. Replaces a graph that this instance put or recovered.
    ///
    /// # Errors
    /// `AlreadyExists` when a graph is there that this instance neither put nor recovered; `Conflict` when it
    /// changed since, or when the job has ended; `Unavailable` with effect `Unknown` when the outcome could
    /// not be read back: the state file is kept then.
    async fn put_job_graph(&self, job_graph: &JobGraph) -> Result<()>;

    /// Reads a graph, and gains the right to replace or remove it. `None` when it is not there, or when the
    /// job has ended (its terminal result is recorded).
    ///
    /// # Errors
    /// `Corrupt` when pointer or file cannot be used; both are left as they are.
    async fn recover_job_graph(&self, job_id: JobId) -> Result<Option<JobGraph>>;

    /// Reads all graphs concurrently; broken ones are reported beside the good ones, ended jobs are left out.
    ///
    /// # Errors
    /// Those of the trait when the graphs cannot be listed, or when it cannot be told whether a job has ended: no
    /// list is given then, never a short one.
    async fn recover_job_graphs(&self) -> Result<Recovered<JobGraph>>;

    /// Removes the pointer, then the file. A missing graph is success.
    ///
    /// # Errors
    /// `Conflict` when a graph is there that this instance neither put nor recovered.
    async fn remove_job_graph(&self, job_id: JobId) -> Result<()>;

    /// Gives up the right to replace or remove the graph. Writes nothing.
    ///
    /// # Errors
    /// Only those of the order of calls.
    async fn release_job_graph(&self, job_id: JobId) -> Result<()>;

    /// The ids of all graphs, ended jobs included. Names that are no job ids are not.
    ///
    /// # Errors
    /// Those of the trait.
    async fn job_ids(&self) -> Result<Vec<JobId>>;
}
