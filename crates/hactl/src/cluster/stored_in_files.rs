use std::collections::BTreeMap;

use futures::{StreamExt as _, stream};
use ha_core::Result;
use ha_core::health::BrokenEntry;
use ha_core::ids::{CheckpointId, JobId};
use ha_core::jobs::JobSchedulingStatus;
use ha_storage::{HaStorage, ListedState, State, StateKind};

use super::listing::list;
use super::millis;
use super::stored::{JobPlace, StoredCheckpoint, StoredGraph, StoredJobs};

/// How many state files are read, and so held in memory, at a time.
const CONCURRENCY: usize = 4;
/// The attribute of a job graph's file that holds the job's name.
const NAME: &str = "name";

/// What the files say about jobs, where there are no pointers.
pub(super) async fn jobs(storage: &HaStorage, broken: &mut Vec<BrokenEntry>) -> Result<StoredJobs> {
    let mut stored = StoredJobs {
        has_registry: true,
        ..StoredJobs::default()
    };
    let name = |state: State| state.attributes.get(NAME).cloned();
    for (listed, name) in read(storage, StateKind::JobGraph, None, name, broken).await? {
        stored.graphs.insert(
            listed.owner,
            StoredGraph {
                path: storage.display(&listed.path),
                file: listed.path,
                size: listed.size,
                readable: Some(name.is_some()),
                name: name.flatten(),
                terminal: None,
            },
        );
    }
    let checkpoints = list(storage, StateKind::Checkpoint, None, broken).await?;
    for listed in checkpoints.states.into_iter().chain(checkpoints.unusable) {
        stored
            .checkpoints
            .entry(listed.owner)
            .or_default()
            .extend(checkpoint_id(&listed));
    }
    for ids in stored.checkpoints.values_mut() {
        ids.sort_unstable();
    }
    stored.next_checkpoint = numbers(storage, None, broken).await?;
    let status = |state: State| JobSchedulingStatus::from_name(std::str::from_utf8(&state.payload).ok()?);
    for (listed, status) in read(storage, StateKind::RunningJob, None, status, broken).await? {
        match status {
            Some(Some(status)) => drop(stored.registry.insert(listed.owner, status)),
            // What could not be read at all is reported already.
            None => {}
            Some(None) => broken.push(BrokenEntry {
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
    let found = read(storage, StateKind::Checkpoint, Some(job_id), drop, broken).await?;
    let mut checkpoints: Vec<_> = found
        .into_iter()
        .filter_map(|(listed, state)| {
            Some(StoredCheckpoint {
                id: checkpoint_id(&listed)?,
                path: storage.display(&listed.path),
                size: listed.size,
                crc32c: None,
                write_id: None,
                published: millis(listed.last_modified),
                external_path: None,
                readable: Some(state.is_some()),
                file: listed.path,
            })
        })
        .collect();
    checkpoints.sort_by_key(|checkpoint| checkpoint.id);
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
    let number = |state: State| {
        let text = std::str::from_utf8(&state.payload).ok()?;
        CheckpointId::new(text.trim().parse().ok()?).ok()
    };
    let mut numbers = BTreeMap::new();
    for (listed, number) in read(storage, StateKind::CheckpointIdCounter, owner, number, broken).await? {
        match number {
            Some(Some(next)) => drop(numbers.insert(listed.owner, next)),
            // What could not be read at all is reported already.
            None => {}
            Some(None) => broken.push(BrokenEntry {
                name: listed.owner.to_string(),
                path: storage.display(&listed.path),
                reason: "a checkpoint id in decimal is expected".to_owned(),
                candidates: Vec::new(),
            }),
        }
    }
    Ok(numbers)
}

/// The files of a kind, each read and verified, with what `keep` takes of it; `None` beside one that is broken. One
/// that went away since it was listed is left out. A file may be large: no more than a few are held at a time.
async fn read<T>(
    storage: &HaStorage,
    kind: StateKind,
    owner: Option<JobId>,
    keep: impl Fn(State) -> T,
    broken: &mut Vec<BrokenEntry>,
) -> Result<Vec<(ListedState, Option<T>)>> {
    let listing = list(storage, kind, owner, broken).await?;
    let keep = &keep;
    let read: Vec<_> = stream::iter(listing.states)
        .map(|listed| async move {
            let kept = storage.read_listed(&listed).await.map(|state| state.map(keep));
            (listed, kept)
        })
        .buffered(CONCURRENCY)
        .collect()
        .await;
    let mut found = Vec::with_capacity(read.len());
    for (listed, kept) in read {
        match kept {
            Ok(Some(kept)) => found.push((listed, Some(kept))),
            Ok(None) => {}
            Err(error) => {
                let path = storage.display(&listed.path);
                broken.push(BrokenEntry::from_error(listed.owner.to_string(), path, &error));
                found.push((listed, None));
            }
        }
    }
    found.extend(listing.unusable.into_iter().map(|listed| (listed, None)));
    Ok(found)
}

/// The id in the name of a checkpoint's file: `<19-digit id>-<uuid>`.
fn checkpoint_id(listed: &ListedState) -> Option<CheckpointId> {
    let name = listed.path.rsplit('/').next()?;
    CheckpointId::from_name(name.get(..19)?)
}
