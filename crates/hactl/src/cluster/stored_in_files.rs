use std::collections::BTreeMap;

use futures::{StreamExt as _, stream};
use ha_core::Result;
use ha_core::health::BrokenEntry;
use ha_core::ids::{CheckpointId, JobId};
use ha_core::jobs::JobSchedulingStatus;
use ha_storage::{HaStorage, ListedState, State, StateKind};

use super::millis;
use super::stored::{JobPlace, StoredCheckpoint, StoredGraph, StoredJobs};

/// How many state files are read at a time.
const CONCURRENCY: usize = 8;
/// The attribute of a job graph's file that holds the job's name.
const NAME: &str = "name";

/// What the files say about jobs, where there are no pointers.
pub(super) async fn jobs(storage: &HaStorage, broken: &mut Vec<BrokenEntry>) -> Result<StoredJobs> {
    let mut stored = StoredJobs::default();
    for (listed, state) in read(storage, StateKind::JobGraph, None, broken).await? {
        stored.graphs.insert(
            listed.owner,
            StoredGraph {
                name: state
                    .as_ref()
                    .and_then(|state| state.attributes.get(NAME).cloned()),
                path: storage.display(&listed.path),
                file: listed.path.clone(),
                size: listed.size,
                readable: state.is_some(),
                terminal: None,
            },
        );
    }
    for listed in storage.list_states(StateKind::Checkpoint, None).await? {
        stored
            .checkpoints
            .entry(listed.owner)
            .or_default()
            .extend(checkpoint_id(&listed));
    }
    stored.next_checkpoint = numbers(storage, None, broken).await?;
    for (listed, state) in read(storage, StateKind::RunningJob, None, broken).await? {
        let text = state
            .as_ref()
            .and_then(|state| std::str::from_utf8(&state.payload).ok());
        match text.and_then(JobSchedulingStatus::from_name) {
            Some(status) => drop(stored.registry.insert(listed.owner, status)),
            // What could not be read at all is reported already.
            None if state.is_none() => {}
            None => broken.push(BrokenEntry {
                name: listed.owner.to_string(),
                path: storage.display(&listed.path),
                reason: "PENDING, RUNNING or DONE is expected".to_owned(),
                candidates: Vec::new(),
            }),
        }
    }
    Ok(stored)
}

/// The checkpoints of one job, in the order of their ids; `None` when it has none.
pub(super) async fn checkpoints(
    storage: &HaStorage,
    job_id: JobId,
    broken: &mut Vec<BrokenEntry>,
) -> Result<Option<Vec<StoredCheckpoint>>> {
    let found = read(storage, StateKind::Checkpoint, Some(job_id), broken).await?;
    let checkpoints: Vec<_> = found
        .into_iter()
        .filter_map(|(listed, state)| {
            Some(StoredCheckpoint {
                id: checkpoint_id(&listed)?,
                path: storage.display(&listed.path),
                size: listed.size,
                crc32c: None,
                write_id: None,
                published: millis(listed.last_modified),
                readable: state.is_some(),
                file: listed.path,
            })
        })
        .collect();
    Ok((!checkpoints.is_empty()).then_some(checkpoints))
}

/// What the files say about one job's checkpoints, apart from themselves.
pub(super) async fn job_place(
    storage: &HaStorage,
    job_id: JobId,
    broken: &mut Vec<BrokenEntry>,
) -> Result<JobPlace> {
    let graphs = storage.list_states(StateKind::JobGraph, Some(job_id)).await?;
    Ok(JobPlace {
        has_graph: !graphs.is_empty(),
        next_checkpoint: numbers(storage, Some(job_id), broken).await?.remove(&job_id),
    })
}

async fn numbers(
    storage: &HaStorage,
    owner: Option<JobId>,
    broken: &mut Vec<BrokenEntry>,
) -> Result<BTreeMap<JobId, CheckpointId>> {
    let mut numbers = BTreeMap::new();
    for (listed, state) in read(storage, StateKind::CheckpointIdCounter, owner, broken).await? {
        let Some(state) = state else {
            continue;
        };
        let text = std::str::from_utf8(&state.payload).unwrap_or_default().trim();
        match text
            .parse()
            .ok()
            .and_then(|number| CheckpointId::new(number).ok())
        {
            Some(next) => drop(numbers.insert(listed.owner, next)),
            None => broken.push(BrokenEntry {
                name: listed.owner.to_string(),
                path: storage.display(&listed.path),
                reason: "a checkpoint id in decimal is expected".to_owned(),
                candidates: Vec::new(),
            }),
        }
    }
    Ok(numbers)
}

/// The files of a kind, each read and verified; `None` beside one that is broken. One that went away since it was
/// listed is left out.
async fn read(
    storage: &HaStorage,
    kind: StateKind,
    owner: Option<JobId>,
    broken: &mut Vec<BrokenEntry>,
) -> Result<Vec<(ListedState, Option<State>)>> {
    let listed = storage.list_states(kind, owner).await?;
    let read: Vec<_> = stream::iter(listed)
        .map(|listed| async move {
            let state = storage.read_listed(&listed).await;
            (listed, state)
        })
        .buffered(CONCURRENCY)
        .collect()
        .await;
    let mut found = Vec::with_capacity(read.len());
    for (listed, state) in read {
        match state {
            Ok(Some(state)) => found.push((listed, Some(state))),
            Ok(None) => {}
            Err(error) => {
                let path = storage.display(&listed.path);
                broken.push(BrokenEntry::from_error(listed.owner.to_string(), path, &error));
                found.push((listed, None));
            }
        }
    }
    Ok(found)
}

/// The id in the name of a checkpoint's file: `<19-digit id>-<uuid>`.
fn checkpoint_id(listed: &ListedState) -> Option<CheckpointId> {
    let name = listed.path.rsplit('/').next()?;
    CheckpointId::from_name(name.get(..19)?)
}
