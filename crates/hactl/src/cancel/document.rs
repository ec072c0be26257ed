use ha_core::ids::JobId;
use ha_core::jobs::JobStatus;
use serde::{Deserialize, Serialize};

use crate::render::{self, View};
use crate::report::Body;
use crate::writes::{Change, push_changes};

/// The job that would be cancelled, or was.
///
/// ```json
/// {"clusterId":"one","mode":"zookeeper","location":"zk:2181/flink/one","command":"job cancel","applied":true,
///  "job":{"id":"0101…","name":"wordcount","status":"CANCELED"},"changes":[
///   {"action":"sendRequest","path":"DELETE http://10.0.0.1:8081/v1/jobs/0101…","size":null,"jobId":"0101…",
///    "outcome":"applied"}],"notes":[],"broken":[]}
/// ```
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cancellation {
    /// `job cancel`.
    pub command: &'static str,
    /// Whether `--apply` was given.
    pub applied: bool,
    /// The job, as the leader told of it last.
    pub job: CancelledJob,
    /// The requests, one a leader that was asked; empty where the job has ended.
    pub changes: Vec<Change>,
    /// What else is to be known.
    pub notes: Vec<String>,
}

/// What a leader tells of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelledJob {
    /// Its id.
    pub id: JobId,
    /// Its name.
    pub name: String,
    /// How it stands.
    pub status: JobStatus,
}

impl Body for Cancellation {
    fn table(&self, _view: &View) -> String {
        let mut text = String::new();
        let job = format!("{} ({})", self.job.id, render::escaped(&self.job.name));
        let status = self.job.status;
        let summary = match (self.applied, self.changes.is_empty()) {
            (_, true) => format!("The job {job} has ended: {status}."),
            (false, false) => format!(
                "Dry run of {}: nothing was changed. The job {job} is {status}. With --apply its leader is asked:",
                self.command
            ),
            (true, false) => format!("The job {job} was asked to end, and is {status}."),
        };
        render::push_words(&mut text, "", &summary, "  ");
        push_changes(&mut text, &self.changes, &self.notes);
        text
    }
}
