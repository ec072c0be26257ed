use std::collections::BTreeMap;

use ha_core::Result;
use ha_core::ids::{ComponentId, JobId};
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
        let stored = cluster.stored_jobs(&mut broken).await?;
        let graphs = stored.graphs.values();
        let decided = graphs.filter_map(|graph| graph.terminal.clone()).collect();
        let results = Results::collect(cluster, decided, &mut broken).await?;
        let leaders = leaders.body.leaders.into_iter();
        let addresses: BTreeMap<_, _> = leaders
            .filter_map(|leader| Some((leader.component, leader.address?)))
            .collect();
        let mut jobs: BTreeMap<JobId, Job> = BTreeMap::new();
        let ids = stored
            .graphs
            .keys()
            .chain(stored.checkpoints.keys())
            .chain(stored.registry.keys())
            .chain(results.keys());
        for &id in ids {
            jobs.entry(id).or_insert_with(|| {
                let result = results.get(&id);
                let component = ComponentId::job_manager(id);
                let leader = addresses.get(component.as_str()).cloned();
                Job::of(id, &stored, result, leader)
            });
        }
        broken.sort_by(|a, b| a.path.cmp(&b.path));
        broken.dedup_by(|a, b| a.path == b.path && a.reason == b.reason);
        Ok(Report {
            cluster: cluster.header(),
            body: Self {
                jobs: jobs.into_values().collect(),
            },
            broken,
        })
    }
}

impl Job {
    fn of(id: JobId, stored: &StoredJobs, result: Option<&RecordedResult>, leader: Option<String>) -> Self {
        let graph = stored.graphs.get(&id);
        let registry = stored.registry.get(&id).copied();
        let checkpoints = stored.checkpoints.get(&id).map(Vec::as_slice).unwrap_or_default();
        let runs = match stored.has_registry {
            true => registry == Some(JobSchedulingStatus::Running),
            false => leader.is_some(),
        };
        let status = match (result, graph) {
            (Some(result), _) => result.status.clone(),
            (None, Some(_)) if runs => "RUNNING".to_owned(),
            (None, Some(_)) => "CREATED".to_owned(),
            (None, None) => "UNKNOWN".to_owned(),
        };
        Self {
            id,
            name: result
                .map(|result| result.name.clone())
                .filter(|name| !name.is_empty())
                .or_else(|| graph.and_then(|graph| graph.name.clone())),
            status,
            clean_up: result.map(|result| result.clean_up),
            registry: registry.map(|status| status.name().to_owned()),
            leader,
            checkpoints: checkpoints.len(),
            latest_checkpoint_id: checkpoints.last().map(|id| id.get()),
            next_checkpoint_id: stored.next_checkpoint.get(&id).map(|id| id.get()),
            job_graph: graph.map(|graph| graph.path.clone()),
            job_graph_file: graph.map(|graph| graph.file.clone()),
            job_graph_size: graph.map(|graph| graph.size),
            job_graph_readable: graph.and_then(|graph| graph.readable),
            end_time: result.and_then(|result| result.end_time),
            reason: result.and_then(|result| result.reason.clone()),
        }
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
        if self.jobs.is_empty() {
            return String::new();
        }
        let rows = self.jobs.iter().map(|job| {
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
        });
        let mut text = render::table(view, ["JOB", "NAME", "STATUS", "KEPT", "LATEST", "LEADER"], rows);
        for job in &self.jobs {
            if let Some(reason) = &job.reason {
                text.push('\n');
                let first = format!("{} failed: ", job.id);
                render::push_words(&mut text, &first, &render::escaped(reason), "  ");
            }
        }
        text
    }
}
