use std::collections::BTreeSet;

use ha_core::ids::{ComponentId, JobId, LeaderSessionId};
use ha_flink::{Generation, Pointer as FlinkPointer};
use ha_storage::StateKind;
use ha_zookeeper::codec::{ConnectionInfo, Pointer};
use ha_zookeeper::paths::ClusterPaths;

use super::snapshot::{Leadership, WatchedJob};
use super::subject::{GraphFolder, Subject};
use crate::commands::jobs::end_status;
use crate::layout::Layout;

/// The cluster's part of the tree: where each subject stands, and how it is written.
#[derive(Clone, Debug)]
pub(super) struct WatchedTree {
    paths: ClusterPaths,
    layout: Layout,
}

impl WatchedTree {
    pub(super) const fn new(paths: ClusterPaths, layout: Layout) -> Self {
        Self { paths, layout }
    }

    /// The cluster node.
    pub(super) fn cluster(&self) -> &str {
        self.paths.cluster()
    }

    /// What is followed always: all else is found by it.
    pub(super) fn roots(&self) -> BTreeSet<Subject> {
        let graphs = Subject::JobGraphs(GraphFolder::JobGraphs);
        let mut roots = BTreeSet::from([Subject::Components, graphs]);
        if let Layout::Flink(_) = self.layout {
            // Which of the two it is depends on the version, and neither need be there yet.
            roots.insert(Subject::JobGraphs(GraphFolder::ExecutionPlans));
        }
        roots
    }

    /// What is followed of a job that has a graph, beside that.
    pub(super) fn of_job(&self, job_id: JobId) -> Vec<Subject> {
        let mut subjects = vec![Subject::Checkpoints(job_id)];
        let leader = ComponentId::job_manager(job_id);
        if self.is_led_beside_its_checkpoints(&leader) {
            subjects.push(Subject::Leader(leader));
        }
        subjects
    }

    /// Whether a component's leader is not told among the others, but by its job.
    pub(super) fn is_led_beside_its_checkpoints(&self, component: &ComponentId) -> bool {
        self.layout == Layout::Flink(Generation::LatchPerComponent) && component.job_id().is_some()
    }

    pub(super) fn path(&self, subject: &Subject) -> String {
        let paths = &self.paths;
        match subject {
            Subject::Components => paths.leader(),
            Subject::Leader(component) => match component.job_id() {
                Some(job_id) if self.is_led_beside_its_checkpoints(component) => {
                    format!("{}/leader/connection_info", paths.job(job_id))
                }
                _ => paths.connection_info(component),
            },
            Subject::JobGraphs(GraphFolder::JobGraphs) => paths.job_graphs(),
            Subject::JobGraphs(GraphFolder::ExecutionPlans) => {
                ClusterPaths::child(paths.cluster(), "execution-plans")
            }
            Subject::JobGraph(folder, job_id) => {
                let folder = self.path(&Subject::JobGraphs(*folder));
                ClusterPaths::child(&folder, &job_id.to_string())
            }
            Subject::Checkpoints(job_id) => paths.checkpoints(*job_id),
        }
    }

    /// Who leads, as leader information at `path` says; else why it cannot be read.
    pub(super) fn leader(&self, path: &str, data: &[u8]) -> Result<Option<Leadership>, String> {
        match self.layout {
            Layout::Native => {
                let leader = ConnectionInfo::decode(path, data);
                let leader = leader.map_err(|error| error.message().to_owned())?;
                Ok(leader.map(|leader| Leadership {
                    address: leader.leader_address,
                    session_id: leader.leader_session_id,
                    epoch: Some(leader.epoch),
                }))
            }
            Layout::Flink(_) => {
                let leader = ha_flink::LeaderInformation::decode(data).map_err(|error| error.to_string())?;
                Ok(leader.map(|leader| Leadership {
                    address: leader.address,
                    session_id: LeaderSessionId::from_uuid(leader.session_id),
                    epoch: None,
                }))
            }
        }
    }

    /// What the pointer at `path`, which was created by the transaction `created`, says of a job; and why it cannot be
    /// read, if so.
    pub(super) fn job(&self, path: &str, data: &[u8], created: i64) -> (WatchedJob, Option<String>) {
        let mut job = WatchedJob {
            created,
            ..WatchedJob::default()
        };
        let reason = match self.layout {
            Layout::Native => match Pointer::decode(path, StateKind::JobGraph, data) {
                Ok(pointer) => {
                    job.name = pointer.name;
                    job.end = pointer.terminal.map(|entry| end_status(&entry.result));
                    None
                }
                Err(error) => Some(error.message().to_owned()),
            },
            Layout::Flink(_) => match FlinkPointer::decode(data) {
                Ok(pointer) => {
                    job.named_by = Some(pointer);
                    None
                }
                Err(error) => Some(error.to_string()),
            },
        };
        (job, reason)
    }
}
