use std::collections::{BTreeMap, BTreeSet};

use ha_core::Result;
use ha_core::ids::{CheckpointId, ComponentId, JobId};
use ha_core::jobs::{JobResult, JobSchedulingStatus};
use serde::Serialize;

use super::Leaders;
use super::results::{CleanUp, RecordedResult, Results};
use crate::cluster::{Cluster, StoredJobs};
use crate::render::{self, Cell, Tone, View};
use crate::report::{Body, Report};

/// All jobs of which anything is stored.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Jobs {
    /// One entry a job, by id.
    pub jobs: Vec<Job>,
}

/// What is stored about a job.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// Its name, where it is known.
    pub name: Option<String>,
    /// `CREATED`, `RUNNING`, `FINISHED`, `FAILED`, `CANCELED`; `UNKNOWN` when it ended and nobody knows how, or when
    /// only remains of it are there.
    pub status: String,
    /// For an ended job: `PENDING` until everything of it is cleaned up, `DONE` then; `null` for one that has not
    /// ended.
    pub clean_up: Option<CleanUp>,
    /// What the running jobs registry says: `PENDING`, `RUNNING`, `DONE`; `null` when it says nothing.
    pub registry: Option<String>,
    /// The address of its job manager; `null` when none leads it.
    pub leader: Option<String>,
    /// The number of its completed checkpoints that are kept.
    pub checkpoints: usize,
    /// The newest of them.
    pub latest_checkpoint_id: Option<u64>,
    /// The id that its next checkpoint gets.
    pub next_checkpoint_id: Option<u64>,
    /// Where its job graph is: the pointer's znode, or the file; `null` when there is none.
    pub job_graph: Option<String>,
    /// The file that the pointer names, below `<storageDir>/<cluster-id>` (Flink's: its URI); `null` when there is none.
    pub job_graph_file: Option<String>,
    /// The size of that file, in bytes.
    pub job_graph_size: Option<u64>,
    /// Whether the job graph's file can be read; `null` when there is none, or it lies where it cannot be checked.
    pub job_graph_readable: Option<bool>,
    /// When it ended; `null` for one that has not.
    pub end_time: Option<u64>,
    /// Why it failed.
    pub reason: Option<String>,
}

impl Jobs {
    /// Reads them.
    ///
    /// # Errors
    /// As [`Cluster::open`]; `NotFound` when there is no such cluster.
    pub async fn read(cluster: &Cluster) -> Result<Report<Self>> {
        let leaders = Leaders::read(cluster).await?;
        let mut broken = leaders.broken;
        let mut addresses: BTreeMap<_, _> = leaders
            .body
            .leaders
            .into_iter()
            .filter_map(|leader| {
                let component = ComponentId::parse(&leader.component).ok()?;
                Some((component.job_id()?, leader.address?))
            })
            .collect();
        let mut stored = cluster.stored_jobs(&mut broken).await?;
        let graphs = stored.graphs.values_mut();
        let decided = graphs.filter_map(|graph| graph.terminal.take()).map(|end| *end);
        let mut results = Results::collect(cluster, decided.collect(), &mut broken).await?;
        let ids: BTreeSet<JobId> = stored
            .graphs
            .keys()
            .chain(stored.checkpoints.keys())
            .chain(stored.registry.keys())
            .chain(results.keys())
            .copied()
            .collect();
        // What was read of a job is moved: there may be many thousand.
        let mut jobs = Vec::with_capacity(ids.len());
        for id in ids {
            let leader = addresses.remove(&id);
            jobs.push(Job::take(id, &mut stored, results.remove(&id), leader));
        }
        broken.sort_by(|a, b| a.path.cmp(&b.path));
        broken.dedup_by(|a, b| a.path == b.path && a.reason == b.reason);
        Ok(Report {
            cluster: cluster.header(),
            body: Self { jobs },
            broken,
        })
    }
}

impl Job {
    /// Takes what was read of a job out of all that was.
    fn take(
        id: JobId,
        stored: &mut StoredJobs,
        result: Option<RecordedResult>,
        leader: Option<String>,
    ) -> Self {
        let registry = stored.registry.remove(&id);
        let runs = match stored.has_registry {
            true => registry == Some(JobSchedulingStatus::Running),
            false => leader.is_some(),
        };
        let checkpoints = stored.checkpoints.remove(&id).unwrap_or_default();
        let mut job = Self {
            id,
            name: None,
            status: "UNKNOWN".to_owned(),
            clean_up: None,
            registry: registry.map(|status| status.name().to_owned()),
            leader,
            checkpoints: checkpoints.len(),
            latest_checkpoint_id: checkpoints.last().map(|id| id.get()),
            next_checkpoint_id: stored.next_checkpoint.remove(&id).map(CheckpointId::get),
            job_graph: None,
            job_graph_file: None,
            job_graph_size: None,
            job_graph_readable: None,
            end_time: None,
            reason: None,
        };
        if let Some(graph) = stored.graphs.remove(&id) {
            job.status = if runs { "RUNNING" } else { "CREATED" }.to_owned();
            job.name = graph.name;
            job.job_graph = Some(graph.path);
            job.job_graph_file = Some(graph.file);
            job.job_graph_size = Some(graph.size);
            job.job_graph_readable = graph.readable;
        }
        if let Some(result) = result {
            job.status = result.status;
            job.name = Some(result.name).filter(|name| !name.is_empty()).or(job.name);
            job.clean_up = Some(result.clean_up);
            job.end_time = result.end_time;
            job.reason = result.reason;
        }
        job
    }
}

/// The status of an ended job, with Flink's names.
pub(super) fn end_status(result: &JobResult) -> String {
    result
        .application_status
        .job_status()
        .map_or_else(|| "UNKNOWN".to_owned(), |status| status.to_string())
}

/// How a status is shown.
pub(super) fn status_cell(status: &str, shown: String) -> Cell {
    match status {
        "RUNNING" | "FINISHED" => Cell::toned(shown, Tone::Good),
        "FAILED" => Cell::toned(shown, Tone::Bad),
        "CANCELED" | "UNKNOWN" => Cell::toned(shown, Tone::Notable),
        _ => shown.into(),
    }
}

impl Body for Jobs {
    fn emptiness(&self) -> Option<String> {
        self.jobs.is_empty().then(|| "No jobs.".to_owned())
    }

    fn table(&self, view: &View) -> String {
        self.pieces(view).collect()
    }

    fn pieces<'a>(&'a self, view: &'a View) -> Box<dyn Iterator<Item = String> + 'a> {
        if self.jobs.is_empty() {
            return Box::new(std::iter::empty());
        }
        let headings = ["JOB", "NAME", "STATUS", "KEPT", "LATEST", "LEADER"];
        let table = render::long_table(view, headings, self.jobs.iter().map(row));
        Box::new(table.chain(self.jobs.iter().filter_map(reason)))
    }
}

fn row(job: &Job) -> [Cell; 6] {
    let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let status = match job.clean_up {
        Some(CleanUp::Pending) => format!("{} (clean-up pending)", job.status),
        Some(CleanUp::Done) | None => job.status.clone(),
    };
    let name = job.name.as_deref().map(render::escaped);
    let leader = job.leader.as_deref().map(render::escaped);
    [
        Cell::from(job.id.to_string()),
        name.unwrap_or_else(|| "-".to_owned()).into(),
        status_cell(&job.status, status),
        job.checkpoints.to_string().into(),
        number(job.latest_checkpoint_id).into(),
        leader.unwrap_or_else(|| "-".to_owned()).into(),
    ]
}

/// Why a job failed, below the table.
fn reason(job: &Job) -> Option<String> {
    let reason = job.reason.as_deref()?;
    let mut text = "\n".to_owned();
    let first = format!("{} failed: ", job.id);
    render::push_words(&mut text, &first, &render::escaped(reason), "  ");
    Some(text)
}
