//! What shows that a tree is older than the storage: it was restored from a backup.

use std::collections::{BTreeMap, BTreeSet};

use ha_core::health::BrokenEntry;
use ha_core::ids::{CheckpointId, JobId};

use super::observation::Observation;
use super::observed_file::FileKind;
use crate::state::{StateKind, owner_of_state};

/// The jobs whose pointers and files are not of one time, each with the file that shows it.
pub(super) fn jobs(first: &Observation, second: &Observation) -> BTreeMap<JobId, BrokenEntry> {
    let mut jobs = missing(first, second);
    jobs.extend(ahead(second));
    jobs
}

/// The jobs that miss a file which both observations found a pointer to. It was not listed in the second one, which
/// lay between the two readings: a file is there as long as its pointer stands.
fn missing(first: &Observation, second: &Observation) -> BTreeMap<JobId, BrokenEntry> {
    let (Ok(before), Ok(after)) = (&first.protection, &second.protection) else {
        return BTreeMap::new();
    };
    let listed: BTreeSet<_> = second.survey.files.iter().map(|file| &file.path).collect();
    let owner = |path: &str| {
        let kinds = [StateKind::JobGraph, StateKind::Checkpoint];
        kinds.into_iter().find_map(|kind| owner_of_state(kind, path))
    };
    before
        .named
        .intersection(&after.named)
        .filter(|path| !listed.contains(path))
        .filter_map(|path| {
            let reason = "a pointer names this file, and it is missing";
            owner(path).map(|owner| (owner, entry(owner, path, reason)))
        })
        .collect()
}

/// The jobs that have a checkpoint file of an id which their counter has not given. An id is given before its file is
/// written, and the counter was read after the files were listed. Where the tree itself names checkpoints of such ids,
/// the job does not take them from the counter, which says nothing then.
fn ahead(second: &Observation) -> BTreeMap<JobId, BrokenEntry> {
    let Ok(protection) = &second.protection else {
        return BTreeMap::new();
    };
    let is_ahead = |owner: &JobId, path: &str| {
        let next = protection.next_checkpoint.get(owner)?;
        (id(path)? >= *next).then_some(*next)
    };
    let named = protection.named.iter();
    let numbered_otherwise: BTreeSet<_> = named
        .filter_map(|path| Some((owner_of_state(StateKind::Checkpoint, path)?, path)))
        .filter(|(owner, path)| is_ahead(owner, path).is_some())
        .map(|(owner, _)| owner)
        .collect();
    let files = second.survey.files.iter();
    files
        .filter(|file| file.kind == FileKind::Checkpoint)
        .filter_map(|file| {
            let owner = file.owner.filter(|owner| !numbered_otherwise.contains(owner))?;
            let next = is_ahead(&owner, &file.path)?;
            let reason = format!("the next checkpoint of its job has the id {next}, says the tree");
            Some((owner, entry(owner, &file.path, &reason)))
        })
        .collect()
}

/// The id in the path of a checkpoint's file.
fn id(path: &str) -> Option<CheckpointId> {
    let name = path.rsplit('/').next()?;
    CheckpointId::from_name(name.split_once('-')?.0)
}

fn entry(owner: JobId, path: &str, reason: &str) -> BrokenEntry {
    BrokenEntry {
        name: owner.to_string(),
        path: path.to_owned(),
        reason: format!(
            "{reason}: perhaps the tree is older than the storage; the files of its job are kept"
        ),
        candidates: Vec::new(),
    }
}
