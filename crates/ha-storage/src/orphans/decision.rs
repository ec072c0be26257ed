use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ha_core::health::BrokenEntry;
use ha_core::ids::JobId;

use super::observation::{Backend, Observation, Protection};
use super::observed_file::{FileKind, ForeignFile, ObservedFile};
use super::report::{Orphan, OrphanReport, Refusal};
use super::restored_tree;
use super::rules::OrphanRules;

/// Decides what two observations prove. Asks nothing and touches nothing.
///
/// A file is an orphan if it is the same in both (path, size, last modification), was as old as the rules ask in the
/// first, and neither found anything that names or keeps it. A blob is kept by its job, and before there is one by
/// whatever else of that job is young: as long as one of its blobs is being uploaded, or its graph is on its way, those
/// that came first are waiting for them.
///
/// Where tree and storage of a job are not of one time, as after the tree was restored from a backup, its newer files may
/// be what it needs: they are kept, and it is told.
pub fn decide(rules: &OrphanRules, first: &Observation, second: &Observation) -> OrphanReport {
    let mut report = OrphanReport {
        foreign: foreign(first, second),
        ..OrphanReport::default()
    };
    let kept = match kept(rules, first, second) {
        Ok(kept) => kept,
        Err(refusal) => {
            report.refusal = Some(refusal);
            return report;
        }
    };
    let again: BTreeMap<_, _> = second
        .survey
        .files
        .iter()
        .map(|file| (&file.place, file))
        .collect();
    for file in &first.survey.files {
        let age = age(first, file);
        if age >= rules.age() && again.get(&file.place) == Some(&file) && !kept.keep(first.backend, file) {
            report.orphans.push(Orphan {
                kind: file.kind,
                owner: file.owner,
                path: file.path.clone(),
                place: file.place.clone(),
                size: file.size,
                age,
                last_modified: file.last_modified,
            });
        }
    }
    report.orphans.sort_by(|a, b| a.place.cmp(&b.place));
    report.unreadable = kept.unreadable();
    report
}

fn age(observation: &Observation, file: &ObservedFile) -> Duration {
    let store_time = observation.survey.store_time;
    store_time
        .duration_since(file.last_modified)
        // Written after the marker, or by a store whose clock was set back: young.
        .unwrap_or(Duration::ZERO)
}

/// What keeps files: both observations' protections, the jobs that either found young files of, and those whose tree and
/// files are not of one time.
struct Kept<'a> {
    protections: [&'a Protection; 2],
    in_work: BTreeSet<JobId>,
    of_another_time: BTreeMap<JobId, BrokenEntry>,
}

impl Kept<'_> {
    fn keep(&self, backend: Backend, file: &ObservedFile) -> bool {
        let is_kept = |protection: &&Protection| {
            let is_of = |jobs: &BTreeSet<_>| file.owner.is_some_and(|owner| jobs.contains(&owner));
            let is_unreadable = file
                .owner
                .is_some_and(|owner| protection.unreadable.contains_key(&owner));
            let is_of_another_time = file
                .owner
                .is_some_and(|owner| self.of_another_time.contains_key(&owner));
            is_unreadable
                || is_of_another_time
                || match file.kind {
                    FileKind::JobGraph => backend == Backend::Files || protection.named.contains(&file.path),
                    FileKind::Checkpoint => {
                        backend == Backend::Files || protection.named.contains(&file.path)
                    }
                    FileKind::Blob => is_of(&protection.known_jobs) || is_of(&self.in_work),
                    FileKind::FileBacked | FileKind::Result => true,
                    FileKind::Temporary => false,
                }
        };
        self.protections.iter().any(is_kept)
    }

    fn unreadable(&self) -> Vec<BrokenEntry> {
        let unreadable = self.protections.map(|protection| protection.unreadable.values());
        let entries = unreadable
            .into_iter()
            .flatten()
            .chain(self.of_another_time.values());
        let entries: BTreeMap<_, _> = entries.map(|entry| (&entry.path, entry)).collect();
        entries.into_values().cloned().collect()
    }
}

/// The protections, unless the observations prove nothing.
fn kept<'a>(
    rules: &OrphanRules,
    first: &'a Observation,
    second: &'a Observation,
) -> Result<Kept<'a>, Refusal> {
    let protections =
        [first.protection.as_ref(), second.protection.as_ref()].map(|found| found.map_err(Clone::clone));
    let [one, other] = protections;
    let young = [first, second].into_iter().flat_map(|observation| {
        let files = observation.survey.files.iter();
        // A result is of a job that has ended: nothing waits for it.
        files.filter(move |file| file.kind != FileKind::Result && age(observation, file) < rules.age())
    });
    let kept = Kept {
        protections: [one?, other?],
        in_work: young.filter_map(|file| file.owner).collect(),
        of_another_time: restored_tree::jobs(first, second),
    };
    if first.cluster_uuid != second.cluster_uuid || first.backend != second.backend {
        return Err(Refusal::ClusterChanged);
    }
    let apart = second.began.saturating_since(first.ended);
    if apart < rules.interval() {
        return Err(Refusal::TooClose {
            apart,
            needed: rules.interval(),
        });
    }
    for (observation, protection) in [first, second].into_iter().zip(kept.protections) {
        check_pointers(rules, observation, protection)?;
    }
    Ok(kept)
}

/// Refuses a tree that looks as if it had been emptied.
fn check_pointers(
    rules: &OrphanRules,
    observation: &Observation,
    protection: &Protection,
) -> Result<(), Refusal> {
    if protection.pointers > 0 {
        return Ok(());
    }
    if !protection.unreadable.is_empty() {
        return Err(Refusal::NoReadablePointer {
            pointers: protection.unreadable.len(),
        });
    }
    let files = observation
        .survey
        .files
        .iter()
        .filter(|file| {
            matches!(
                file.kind,
                FileKind::JobGraph | FileKind::Checkpoint | FileKind::FileBacked | FileKind::Blob
            )
        })
        .count();
    match files > 0 && !rules.accepts_empty_tree() {
        true => Err(Refusal::NoPointers { files }),
        false => Ok(()),
    }
}

/// What is not of the layout, and files of the other kind of store.
fn foreign(first: &Observation, second: &Observation) -> Vec<ForeignFile> {
    let mut foreign: BTreeMap<_, _> = BTreeMap::new();
    for observation in [first, second] {
        let of_other_stores = observation.survey.files.iter().filter_map(|file| {
            let reason = match (observation.backend, file.kind) {
                (Backend::ZooKeeper, FileKind::FileBacked) => {
                    "a file of the file-backed stores, beside a cluster on ZooKeeper"
                }
                (Backend::Files, FileKind::JobGraph) => {
                    "a job graph of a cluster on ZooKeeper, beside file-backed stores"
                }
                _ => return None,
            };
            Some((file.place.clone(), reason.to_owned()))
        });
        let of_nobody = observation
            .survey
            .foreign
            .iter()
            .map(|file| (file.place.clone(), file.reason.clone()));
        foreign.extend(of_other_stores.chain(of_nobody));
    }
    foreign
        .into_iter()
        .map(|(place, reason)| ForeignFile { place, reason })
        .collect()
}
