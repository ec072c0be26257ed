//! Where state files lie (design §7). The only place that spells these names.

use ha_core::error::{Error, Result};
use ha_core::ids::{CheckpointId, JobId};
use uuid::Uuid;

use super::StateKind;
use crate::folder::RelativePath;

pub(crate) const JOB_GRAPHS: &str = "jobgraphs";
pub(crate) const JOBS: &str = "jobs";
pub(crate) const CHECKPOINTS: &str = "checkpoints";
pub(crate) const COUNTER: &str = "counter";
pub(crate) const REGISTRY: &str = "running_job_registry";
pub(crate) const BLOBS: &str = "blobs";
pub(crate) const IDENTITY: &str = "identity.json";
const JOB_SUFFIX: &str = ".job";

/// A path of the layout from segments of the layout: constants and ids, all inside the grammar.
pub(crate) fn layout<const N: usize>(segments: [&str; N]) -> RelativePath {
    segments
        .into_iter()
        .try_fold(RelativePath::root(), |path, segment| path.child(segment))
        .unwrap_or_default()
}

pub(crate) fn job_graph_folder() -> RelativePath {
    layout([JOB_GRAPHS])
}

/// The file-backed job graph of a job.
pub(crate) fn job_graph_file(job_id: JobId) -> RelativePath {
    layout([JOB_GRAPHS, &format!("{job_id}{JOB_SUFFIX}")])
}

/// The job of a file-backed job graph; `None` for a foreign name.
pub(crate) fn job_of_graph_file(name: &str) -> Option<JobId> {
    JobId::from_name(name.strip_suffix(JOB_SUFFIX)?)
}

pub(crate) fn job_folder(job_id: JobId) -> RelativePath {
    layout([JOBS, &job_id.to_string()])
}

pub(crate) fn checkpoint_folder(job_id: JobId) -> RelativePath {
    layout([JOBS, &job_id.to_string(), CHECKPOINTS])
}

pub(crate) fn counter_file(job_id: JobId) -> RelativePath {
    layout([JOBS, &job_id.to_string(), COUNTER])
}

pub(crate) fn registry_file(job_id: JobId) -> RelativePath {
    layout([REGISTRY, &job_id.to_string()])
}

pub(crate) fn blob_folder(job_id: JobId) -> RelativePath {
    layout([BLOBS, &job_id.to_string()])
}

/// The folder of a kind's files; one a job for checkpoints.
pub(crate) fn folder_of(kind: StateKind, owner: JobId) -> RelativePath {
    match kind {
        StateKind::JobGraph => job_graph_folder(),
        StateKind::Checkpoint => checkpoint_folder(owner),
        StateKind::CheckpointIdCounter => job_folder(owner),
        StateKind::RunningJob => layout([REGISTRY]),
    }
}

/// Whether `name` is that of a file of `kind` and of the job `owner`, in the folder that is right for both.
fn is_of_layout(kind: StateKind, owner: JobId, name: &str) -> bool {
    match kind {
        StateKind::JobGraph => job_of_graph_state(name) == Some(owner),
        StateKind::Checkpoint => checkpoint_of_state(name).is_some(),
        StateKind::CheckpointIdCounter => name == COUNTER,
        StateKind::RunningJob => JobId::from_name(name) == Some(owner),
    }
}

/// The job of a job graph file, pointed at or file-backed.
pub(crate) fn job_of_graph_state(name: &str) -> Option<JobId> {
    job_of_graph_file(name).or_else(|| JobId::from_name(split_unique(name)?))
}

/// The id of a checkpoint file.
pub(crate) fn checkpoint_of_state(name: &str) -> Option<CheckpointId> {
    CheckpointId::from_name(split_unique(name)?)
}

/// Takes the unique part, a hyphenated UUID, off a name.
fn split_unique(name: &str) -> Option<&str> {
    const UNIQUE: usize = 36;
    let at = name.len().checked_sub(UNIQUE)?;
    let unique = name.get(at..)?;
    let uuid = Uuid::try_parse(unique).ok()?;
    (uuid.hyphenated().to_string() == unique).then_some(())?;
    name.get(..at)?.strip_suffix('-')
}

/// The path of a new file `<name>-<uuid>` of `kind`.
///
/// # Errors
/// `Invalid` when `name` is not that of the kind and the owner.
pub(crate) fn new_state(kind: StateKind, owner: JobId, name: &str, unique: Uuid) -> Result<RelativePath> {
    let file = format!("{name}-{}", unique.hyphenated());
    match folder_of(kind, owner).child(&file) {
        Some(path) if is_of_layout(kind, owner, &file) => Ok(path),
        _ => Err(Error::invalid(format!(
            "{name:?} cannot name a {kind} of the job {owner}"
        ))),
    }
}

/// Reads a path that came from outside, for instance from a pointer: it must be one of `kind`'s. Gives the job
/// that it belongs to.
///
/// # Errors
/// `Invalid` for everything else: it could lead out of the cluster's folder, or to a file of another kind.
pub(crate) fn parse(kind: StateKind, text: &str) -> Result<(RelativePath, JobId)> {
    let path = RelativePath::parse(text)?;
    let owner = match kind {
        StateKind::JobGraph => job_of_graph_state(path.file_name()),
        StateKind::RunningJob => JobId::from_name(path.file_name()),
        StateKind::Checkpoint | StateKind::CheckpointIdCounter => {
            path.segments().nth(1).and_then(JobId::from_name)
        }
    };
    owner
        .filter(|&owner| {
            path.parent() == folder_of(kind, owner) && is_of_layout(kind, owner, path.file_name())
        })
        .map(|owner| (path, owner))
        .ok_or_else(|| Error::invalid(format!("the path {text:?} is not one of a {kind}")))
}

/// Whether a path is one of a state file, of whatever kind.
pub(crate) fn is_state(path: &str) -> bool {
    StateKind::ALL.into_iter().any(|kind| parse(kind, path).is_ok())
}

/// The job that a path which came from outside belongs to, if it is one of a file of `kind`.
pub fn owner_of_state(kind: StateKind, path: &str) -> Option<JobId> {
    parse(kind, path).ok().map(|(_, owner)| owner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: JobId = JobId::from_bytes([0xab; 16]);
    const UNIQUE: &str = "00112233-4455-6677-8899-aabbccddeeff";

    #[test]
    fn new_paths_are_read_back_as_their_own() {
        let unique = Uuid::try_parse(UNIQUE).unwrap();
        let graph = new_state(StateKind::JobGraph, JOB, &JOB.to_string(), unique).unwrap();
        assert_eq!(graph.as_str(), format!("jobgraphs/{JOB}-{UNIQUE}"));
        assert_eq!(
            parse(StateKind::JobGraph, graph.as_str()).unwrap(),
            (graph.clone(), JOB)
        );
        let id = CheckpointId::FIRST.to_name();
        let checkpoint = new_state(StateKind::Checkpoint, JOB, &id, unique).unwrap();
        assert_eq!(
            checkpoint.as_str(),
            format!("jobs/{JOB}/checkpoints/{id}-{UNIQUE}")
        );
        assert_eq!(parse(StateKind::Checkpoint, checkpoint.as_str()).unwrap().1, JOB);
        assert!(parse(StateKind::Checkpoint, graph.as_str()).is_err());
        assert!(parse(StateKind::JobGraph, checkpoint.as_str()).is_err());
    }

    #[test]
    fn foreign_names_and_paths_are_refused() {
        let upper = JOB.to_string().to_uppercase();
        let graphs = [
            "",
            "README",
            "x.job",
            &upper,
            &format!("{JOB}"),
            &format!("{JOB}-{UNIQUE}x"),
        ];
        for name in graphs {
            assert!(
                parse(StateKind::JobGraph, &format!("jobgraphs/{name}")).is_err(),
                "{name}"
            );
        }
        let elsewhere = [
            "/etc/passwd".to_owned(),
            format!("../other/jobgraphs/{JOB}-{UNIQUE}"),
            format!("jobgraphs/../jobgraphs/{JOB}-{UNIQUE}"),
            format!("jobs/{JOB}-{UNIQUE}"),
            format!("file:///jobgraphs/{JOB}-{UNIQUE}"),
        ];
        for path in elsewhere {
            assert!(parse(StateKind::JobGraph, &path).is_err(), "{path}");
        }
        let unique = Uuid::try_parse(UNIQUE).unwrap();
        assert!(new_state(StateKind::Checkpoint, JOB, "../x", unique).is_err());
        assert!(new_state(StateKind::JobGraph, JOB, &"0".repeat(32), unique).is_err());
    }
}
