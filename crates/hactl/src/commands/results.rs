use std::collections::BTreeMap;

use ha_core::Result;
use ha_core::health::BrokenEntry;
use ha_core::ids::JobId;
use ha_core::jobs::JobResultEntry;
use serde::Serialize;

use super::jobs::{end_status, status_cell};
use crate::cluster::Cluster;
use crate::render::{self, Cell, Tone, View};
use crate::report::{Body, Report};

/// The recorded results of ended jobs.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Results {
    /// One entry a job, by id.
    pub results: Vec<RecordedResult>,
}

/// Whether an ended job is cleaned up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum CleanUp {
    /// Not completely: the result is dirty.
    Pending,
    /// Completely: the result is clean.
    Done,
}

/// The end of a job.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedResult {
    /// The job.
    pub id: JobId,
    /// Its name; empty when it was not recorded.
    pub name: String,
    /// `FINISHED`, `FAILED`, `CANCELED`, or `UNKNOWN`.
    pub status: String,
    /// `PENDING` while the result is dirty, `DONE` once it is clean.
    pub clean_up: CleanUp,
    /// How long it ran, in milliseconds.
    pub net_runtime: u64,
    /// When it ended; `null` when it was not recorded.
    pub end_time: Option<u64>,
    /// Why it failed.
    pub reason: Option<String>,
    /// The digest of what was submitted; `null` when it was not recorded.
    pub job_digest: Option<String>,
    /// Where it is recorded: `file`, or `pointer` as long as the end is decided in the job graph's znode only.
    pub recorded_in: RecordedIn,
}

/// Where a result is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum RecordedIn {
    /// In a job result file.
    File,
    /// In the znode of the job graph; the leader writes the file next.
    Pointer,
}

impl Results {
    /// Reads them.
    ///
    /// # Errors
    /// As [`Cluster::open`]; `NotFound` when there is no such cluster.
    pub async fn read(cluster: &Cluster) -> Result<Report<Self>> {
        let mut broken = Vec::new();
        // Job graphs matter here by the ends that are decided in them only.
        let mut elsewhere = Vec::new();
        let decided = cluster.decided_results(&mut elsewhere).await?;
        let results = Self::collect(cluster, decided, &mut broken).await?;
        Ok(Report {
            cluster: cluster.header(),
            body: Self {
                results: results.into_values().collect(),
            },
            broken,
        })
    }

    /// The results in files and those that stand in job graph pointers only, by job id.
    pub(super) async fn collect(
        cluster: &Cluster,
        decided: Vec<JobResultEntry>,
        broken: &mut Vec<BrokenEntry>,
    ) -> Result<BTreeMap<JobId, RecordedResult>> {
        cluster.compare_identities(broken).await?;
        let (dirty, clean) = cluster.recorded_results(broken).await?;
        // Later ones replace earlier ones: a file says more than a pointer, clean more than dirty.
        Ok(decided
            .into_iter()
            .map(|entry| RecordedResult::new(entry, CleanUp::Pending, RecordedIn::Pointer))
            .chain(
                dirty
                    .into_iter()
                    .map(|entry| RecordedResult::new(entry, CleanUp::Pending, RecordedIn::File)),
            )
            .chain(
                clean
                    .into_iter()
                    .map(|entry| RecordedResult::new(entry, CleanUp::Done, RecordedIn::File)),
            )
            .map(|result| (result.id, result))
            .collect())
    }
}

impl RecordedResult {
    fn new(entry: JobResultEntry, clean_up: CleanUp, recorded_in: RecordedIn) -> Self {
        let status = end_status(&entry.result);
        Self {
            id: entry.result.job_id,
            name: entry.result.name,
            status,
            clean_up,
            net_runtime: entry.result.net_runtime,
            end_time: (entry.result.end_time != 0).then_some(entry.result.end_time),
            reason: entry.result.failure_cause,
            job_digest: entry.job_digest,
            recorded_in,
        }
    }
}

impl Body for Results {
    fn emptiness(&self) -> Option<String> {
        self.results.is_empty().then(|| "No results.".to_owned())
    }

    fn table(&self, view: &View) -> String {
        if self.results.is_empty() {
            return String::new();
        }
        let rows = self.results.iter().map(|result| {
            [
                Cell::from(result.id.to_string()),
                match result.name.as_str() {
                    "" => "-".to_owned(),
                    name => render::escaped(name),
                }
                .into(),
                status_cell(&result.status, result.status.clone()),
                match result.clean_up {
                    CleanUp::Pending => Cell::toned("pending", Tone::Notable),
                    CleanUp::Done => "done".to_owned().into(),
                },
                Cell::time(view, result.end_time.unwrap_or(0)),
                format!("{}.{:03} s", result.net_runtime / 1000, result.net_runtime % 1000).into(),
            ]
        });
        let mut text = render::table(view, ["JOB", "NAME", "STATUS", "CLEAN-UP", "ENDED", "RAN"], rows);
        for result in &self.results {
            if let Some(reason) = &result.reason {
                text.push('\n');
                let first = format!("{} failed: ", result.id);
                render::push_words(&mut text, &first, &render::escaped(reason), "  ");
            }
        }
        text
    }
}
