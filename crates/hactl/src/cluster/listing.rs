use std::collections::{BTreeSet, HashSet};
use std::fs::Metadata;
use std::io;
use std::path::Path;

use ha_core::health::BrokenEntry;
use ha_core::ids::JobId;
use ha_core::{ErrorKind, Result};
use ha_storage::{HaStorage, ListedState, StateKind};

use super::stored::foreign;

const JOB_GRAPHS: &str = "jobgraphs";
const JOBS: &str = "jobs";
const CHECKPOINTS: &str = "checkpoints";
const REGISTRY: &str = "running_job_registry";

/// The files of a kind where there are no pointers.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// Regular files under names of the layout, unread.
    pub(super) states: Vec<ListedState>,
    /// What stands under a name of the layout and is no regular file; it is reported already.
    pub(super) unusable: Vec<ListedState>,
}

/// Lists the files of a kind, of one job or of all. What is foreign, and what is no regular file, becomes a broken
/// entry: [`HaStorage::list_states`] leaves it out, and the stores of the cluster stumble over it.
pub(super) async fn list(
    storage: &HaStorage,
    kind: StateKind,
    owner: Option<JobId>,
    broken: &mut Vec<BrokenEntry>,
) -> Result<Listing> {
    let mut listing = Listing::default();
    let Some(root) = storage.local_folder() else {
        listing.states = storage.list_states(kind, owner).await?;
        return Ok(listing);
    };
    match kind {
        StateKind::JobGraph => add(storage, &root, kind, None, JOB_GRAPHS, &mut listing, broken).await?,
        StateKind::RunningJob => add(storage, &root, kind, None, REGISTRY, &mut listing, broken).await?,
        StateKind::Checkpoint | StateKind::CheckpointIdCounter => {
            let owners = match owner {
                Some(owner) => BTreeSet::from([owner]),
                None => job_folders(storage, &root, broken),
            };
            for owner in owners {
                let folder = match kind {
                    StateKind::Checkpoint => format!("{JOBS}/{owner}/{CHECKPOINTS}"),
                    _ => format!("{JOBS}/{owner}"),
                };
                add(storage, &root, kind, Some(owner), &folder, &mut listing, broken).await?;
            }
        }
    }
    Ok(listing)
}

/// Adds one folder's.
async fn add(
    storage: &HaStorage,
    root: &Path,
    kind: StateKind,
    owner: Option<JobId>,
    folder: &str,
    listing: &mut Listing,
    broken: &mut Vec<BrokenEntry>,
) -> Result<()> {
    // Before the listing: what comes in between is in the listing only.
    let names = names(&root.join(folder));
    let mut states = match storage.list_states(kind, owner).await {
        Ok(states) => states,
        Err(error) if error.kind() == ErrorKind::Corrupt => {
            let path = error
                .subject()
                .map_or_else(|| storage.display(folder), str::to_owned);
            broken.push(BrokenEntry::from_error(folder, path, &error));
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let listed: HashSet<_> = states.iter().map(|state| state.path.clone()).collect();
    for name in names {
        let path = format!("{folder}/{name}");
        // The folder of the checkpoints stands beside the counter.
        let is_other_kind = kind == StateKind::CheckpointIdCounter && name == CHECKPOINTS;
        if listed.contains(&path) || is_other_kind || is_temporary(&name) {
            continue;
        }
        let Some(metadata) = there(&root.join(&path)) else {
            continue;
        };
        let state = ListedState {
            kind,
            owner: owner
                .or_else(|| JobId::from_name(name.get(..32)?))
                .unwrap_or_else(|| JobId::from_bytes([0; 16])),
            size: metadata.len(),
            last_modified: metadata.modified().unwrap_or(std::time::UNIX_EPOCH),
            path,
        };
        let shown = storage.display(&state.path);
        match storage.read_listed(&state).await {
            // It came, or went, meanwhile.
            Ok(Some(_)) => states.push(state),
            Ok(None) if there(&root.join(&state.path)).is_none() => {}
            Ok(None) => {
                broken.push(not_a("file", &name, shown));
                listing.unusable.push(state);
            }
            Err(error) => {
                broken.push(BrokenEntry::from_error(name, shown, &error));
                if !metadata.is_file() {
                    listing.unusable.push(state);
                }
            }
        }
    }
    listing.states.append(&mut states);
    Ok(())
}

/// The jobs that have a folder of their own.
fn job_folders(storage: &HaStorage, root: &Path, broken: &mut Vec<BrokenEntry>) -> BTreeSet<JobId> {
    let jobs = root.join(JOBS);
    let mut owners = BTreeSet::new();
    for name in names(&jobs) {
        let shown = storage.display(&format!("{JOBS}/{name}"));
        match (JobId::from_name(&name), there(&jobs.join(&name))) {
            (Some(owner), Some(metadata)) if metadata.is_dir() => drop(owners.insert(owner)),
            (Some(_), Some(_)) => broken.push(not_a("folder", &name, shown)),
            (None, Some(_)) if !is_temporary(&name) => {
                let expected = "a job id of 32 lower-case hexadecimal digits";
                broken.push(foreign(&name, &shown, expected));
            }
            _ => {}
        }
    }
    owners
}

fn not_a(expected: &str, name: &str, path: String) -> BrokenEntry {
    BrokenEntry {
        name: name.to_owned(),
        path,
        reason: format!("it is no regular {expected}; it was not followed"),
        candidates: Vec::new(),
    }
}

/// The names in a folder, sorted; none when it cannot be read, which the storage's own listing tells.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<_> = entries
        .filter_map(io::Result::ok)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// What stands at a path, itself: links are not followed.
fn there(path: &Path) -> Option<Metadata> {
    std::fs::symlink_metadata(path).ok()
}

/// Whether a file of this name is being written, or was when its process died.
fn is_temporary(name: &str) -> bool {
    name.starts_with(".upload-")
        || name
            .rsplit_once('#')
            .is_some_and(|(_, digits)| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}
