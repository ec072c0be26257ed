//! A tree that is older than the storage: pointers whose files are gone, and files of ids that were never given, keep
//! all files of their jobs.

use std::time::{Duration, SystemTime};

use ha_core::environment::BootInstant;
use ha_core::ids::{CheckpointId, JobId};
use ha_core::lease::LeaseTerms;
use uuid::Uuid;

use super::HOUR;
use crate::orphans::{
    FileKind, Observation, ObservedFile, OrphanReport, OrphanRules, Protection, Survey, decide,
};
use crate::test_support::job;

const UNIQUE: &str = "00112233-4455-6677-8899-aabbccddeeff";

fn rules() -> OrphanRules {
    let terms = LeaseTerms::new(Duration::from_secs(20), Some(Duration::from_secs(2))).unwrap();
    OrphanRules::new(Duration::ZERO, &terms)
}

fn checkpoint(job_id: JobId, id: u64) -> ObservedFile {
    let path = format!("jobs/{job_id}/checkpoints/{id:019}-{UNIQUE}");
    ObservedFile {
        kind: FileKind::Checkpoint,
        owner: Some(job_id),
        place: format!("/s/c/{path}"),
        path,
        size: 10,
        last_modified: SystemTime::UNIX_EPOCH + 999 * HOUR,
    }
}

/// What is found where the two observations list these files, and find pointers to those.
fn found(files: [&[ObservedFile]; 2], named: [&[ObservedFile]; 2]) -> OrphanReport {
    found_beside(files, named, [None, None])
}

/// The same, where the counter of job 1 says that these are the next ids.
fn found_beside(
    files: [&[ObservedFile]; 2],
    named: [&[ObservedFile]; 2],
    next: [Option<u64>; 2],
) -> OrphanReport {
    let observation = |index: usize| {
        let survey = Survey {
            store_time: SystemTime::UNIX_EPOCH + 1000 * HOUR,
            files: files[index].to_vec(),
            ..Survey::nothing()
        };
        let protection = Protection {
            pointers: named[index].len(),
            named: named[index].iter().map(|file| file.path.clone()).collect(),
            next_checkpoint: next[index]
                .map(|id| (job(1), CheckpointId::new(id).unwrap()))
                .into_iter()
                .collect(),
            ..Protection::default()
        };
        let at = |at| BootInstant::from_boot(Duration::from_secs(at));
        let start = 100 * index as u64;
        Observation::of_pointers((at(start), at(start + 1)), Uuid::nil(), survey, Ok(protection))
    };
    decide(&rules(), &observation(0), &observation(1))
}

fn paths(report: &OrphanReport) -> Vec<&str> {
    report.orphans.iter().map(|orphan| &*orphan.path).collect()
}

#[test]
fn b58_a_restored_tree_whose_files_are_gone_keeps_the_newer_files_of_its_jobs() {
    // The tree of a backup: it names 5, which 7 has subsumed since. Of another job nothing is missing.
    let (old, new) = (checkpoint(job(1), 5), checkpoint(job(1), 7));
    let (others, orphan) = (checkpoint(job(2), 5), checkpoint(job(2), 4));
    let files = [new, others.clone(), orphan.clone()];
    let named = [old.clone(), others];
    let report = found([&files, &files], [&named, &named]);
    assert_eq!(report.refusal, None);
    assert_eq!(paths(&report), [&*orphan.path]);
    let [missing] = report.unreadable.as_slice() else {
        panic!("{report:?}");
    };
    assert_eq!(missing.path, old.path);
    assert!(missing.reason.contains("is missing"), "{missing:?}");
}

#[test]
fn a_checkpoint_that_came_or_went_meanwhile_is_not_missing() {
    let [one, two, orphan] = [5, 6, 4].map(|id| checkpoint(job(1), id));
    // 6 was put after the files were listed, in each of the observations, and then subsumed.
    for (listed, named) in [
        (
            [vec![], vec![one.clone()]],
            [vec![one.clone()], vec![one.clone()]],
        ),
        (
            [vec![one.clone()], vec![one.clone()]],
            [vec![one.clone()], vec![two.clone()]],
        ),
        (
            [vec![one.clone()], vec![]],
            [vec![one.clone()], vec![two.clone()]],
        ),
    ] {
        let files = listed.map(|mut files| {
            files.push(orphan.clone());
            files
        });
        let report = found([&files[0], &files[1]], [&named[0], &named[1]]);
        assert_eq!(paths(&report), [&*orphan.path]);
        assert_eq!(report.unreadable, []);
    }
}

#[test]
fn b58_checkpoints_of_ids_that_the_tree_has_not_given_keep_the_files_of_their_job() {
    // The tree of a backup names 5, whose file is there: more checkpoints are retained. The next was to be 6.
    let (named, new) = (checkpoint(job(1), 5), checkpoint(job(1), 6));
    let (old, other) = (checkpoint(job(1), 4), checkpoint(job(2), 6));
    let files = [named.clone(), new.clone(), old.clone(), other.clone()];
    let named = [named];
    let report = found_beside([&files, &files], [&named, &named], [Some(6), Some(6)]);
    assert_eq!(paths(&report), [&*other.path]);
    let [ahead] = report.unreadable.as_slice() else {
        panic!("{report:?}");
    };
    assert_eq!(ahead.path, new.path);
    assert!(ahead.reason.contains("has the id 6"), "{ahead:?}");
    // One that was given, and not published, is an orphan; so is all where nothing counts, or the job counts by itself.
    for next in [[Some(6), Some(7)], [None, None], [Some(5), Some(5)]] {
        let report = found_beside([&files, &files], [&named, &named], next);
        assert_eq!(paths(&report), [&*old.path, &*new.path, &*other.path]);
        assert_eq!(report.unreadable, []);
    }
}
