//! The decision alone: two observations in, findings out.

use std::time::{Duration, SystemTime};

use ha_core::environment::BootInstant;
use ha_core::health::BrokenEntry;
use ha_core::ids::JobId;
use ha_core::lease::LeaseTerms;
use uuid::Uuid;

use super::HOUR;
use crate::orphans::{
    FileKind, ForeignFile, Observation, ObservedFile, OrphanReport, OrphanRules, Protection, Refusal, Survey,
    decide,
};
use crate::test_support::job;

const MINUTE: Duration = Duration::from_secs(60);

fn terms(seconds: u64) -> LeaseTerms {
    LeaseTerms::new(Duration::from_secs(seconds), Some(Duration::from_secs(2))).unwrap()
}

/// Ages of 10 minutes, observations 24 s apart.
fn rules() -> OrphanRules {
    OrphanRules::new(Duration::ZERO, &terms(20))
}

/// When the marker of an observation is written.
fn store_time() -> SystemTime {
    SystemTime::UNIX_EPOCH + 1000 * HOUR
}

fn file(kind: FileKind, path: &str, owner: Option<JobId>, age: Duration) -> ObservedFile {
    ObservedFile {
        kind,
        owner,
        path: path.to_owned(),
        place: format!("/s/c/{path}"),
        size: 10,
        last_modified: store_time() - age,
    }
}

/// A checkpoint file of a job, an hour old.
fn old() -> ObservedFile {
    file(FileKind::Checkpoint, "old", Some(job(1)), HOUR)
}

/// Protection by the pointers to these paths.
fn naming(paths: &[&str]) -> Protection {
    Protection {
        pointers: paths.len(),
        named: paths.iter().map(|&path| path.to_owned()).collect(),
        ..Protection::default()
    }
}

fn unreadable(job_id: JobId) -> (JobId, BrokenEntry) {
    let entry = BrokenEntry {
        name: job_id.to_string(),
        path: format!("/c/jobgraphs/{job_id}"),
        reason: "torn".to_owned(),
        candidates: Vec::new(),
    };
    (job_id, entry)
}

fn observation(files: &[ObservedFile], protection: &Protection, at: u64) -> Observation {
    let survey = Survey {
        store_time: store_time(),
        files: files.to_vec(),
        ..Survey::nothing()
    };
    let [began, ended] = [at, at + 1].map(|at| BootInstant::from_boot(Duration::from_secs(at)));
    Observation::of_pointers((began, ended), Uuid::nil(), survey, Ok(protection.clone()))
}

/// What is found when both observations show the same.
fn found(files: &[ObservedFile], protection: &Protection) -> OrphanReport {
    let [first, second] = [0, 100].map(|at| observation(files, protection, at));
    decide(&rules(), &first, &second)
}

fn paths(report: &OrphanReport) -> Vec<&str> {
    report.orphans.iter().map(|orphan| &*orphan.path).collect()
}

#[test]
fn the_least_age_and_the_least_interval_cannot_be_undercut() {
    assert_eq!(rules().age(), 10 * MINUTE);
    assert_eq!(rules().interval(), Duration::from_secs(24));
    // 10 timeouts as they were negotiated.
    assert_eq!(OrphanRules::new(15 * MINUTE, &terms(120)).age(), 20 * MINUTE);
    assert_eq!(OrphanRules::new(HOUR, &terms(20)).age(), HOUR);
    assert_eq!(OrphanRules::of_one_process(Duration::ZERO).age(), 10 * MINUTE);
    assert!(OrphanRules::of_one_process(Duration::ZERO).interval() > Duration::ZERO);
}

#[test]
fn an_old_file_that_no_pointer_names_is_an_orphan() {
    let graph = file(FileKind::JobGraph, "graph", Some(job(1)), HOUR);
    let named = file(FileKind::Checkpoint, "named", Some(job(1)), HOUR);
    let report = found(&[old(), graph, named], &naming(&["named"]));
    assert_eq!(report.refusal, None);
    assert_eq!(paths(&report), ["graph", "old"]);
    let orphan = &report.orphans[1];
    assert_eq!((orphan.owner, orphan.age, orphan.size), (Some(job(1)), HOUR, 10));
    assert_eq!(orphan.place, "/s/c/old");
}

#[test]
fn a_file_that_is_younger_than_the_age_is_none() {
    let least = rules().age();
    for (age, is_orphan) in [
        (Duration::ZERO, false),
        (least - Duration::from_nanos(1), false),
        (least, true),
    ] {
        let report = found(
            &[file(FileKind::Checkpoint, "x", Some(job(1)), age)],
            &naming(&["other"]),
        );
        assert_eq!(report.orphans.len(), usize::from(is_orphan), "{age:?}");
    }
    // Dated behind the marker: its clock was set, and nothing is known of its age.
    let mut future = old();
    future.last_modified = store_time() + HOUR;
    assert!(paths(&found(&[future], &naming(&["other"]))).is_empty());
}

#[test]
fn age_counts_from_the_first_observation() {
    let just_short = file(
        FileKind::Checkpoint,
        "x",
        Some(job(1)),
        rules().age() - Duration::from_secs(1),
    );
    let first = observation(std::slice::from_ref(&just_short), &naming(&["other"]), 0);
    let mut second = observation(&[just_short], &naming(&["other"]), 100);
    second.survey.store_time = store_time() + HOUR;
    assert!(decide(&rules(), &first, &second).orphans.is_empty());
}

#[test]
fn a_file_that_either_observation_found_named_is_none() {
    let with = naming(&["old", "other"]);
    let without = naming(&["other"]);
    for (first, second, is_orphan) in [
        (&with, &without, false),
        (&without, &with, false),
        (&without, &without, true),
    ] {
        let report = decide(
            &rules(),
            &observation(&[old()], first, 0),
            &observation(&[old()], second, 100),
        );
        assert_eq!(report.orphans.len(), usize::from(is_orphan));
    }
}

#[test]
fn a_file_that_is_not_the_same_in_both_observations_is_none() {
    let changed = |change: fn(&mut ObservedFile)| {
        let mut file = old();
        change(&mut file);
        file
    };
    let other = naming(&["other"]);
    let first = observation(&[old()], &other, 0);
    for second in [
        vec![],
        vec![changed(|file| file.size += 1)],
        vec![changed(|file| file.last_modified += Duration::from_secs(1))],
    ] {
        let second = observation(&second, &other, 100);
        assert!(decide(&rules(), &first, &second).orphans.is_empty());
        // Nor one that came in between.
        assert!(
            decide(&rules(), &observation(&[], &other, 0), &second)
                .orphans
                .is_empty()
        );
    }
}

#[test]
fn observations_that_are_too_close_prove_nothing() {
    // The first ends at 1 s.
    for (at, is_refused) in [(24, true), (25, false)] {
        let other = naming(&["other"]);
        let report = decide(
            &rules(),
            &observation(&[old()], &other, 0),
            &observation(&[old()], &other, at),
        );
        assert_eq!(
            matches!(report.refusal, Some(Refusal::TooClose { .. })),
            is_refused,
            "{at}"
        );
        assert_eq!(report.orphans.is_empty(), is_refused);
    }
}

#[test]
fn a_tree_without_pointers_beside_files_is_suspicious() {
    for kind in [FileKind::JobGraph, FileKind::Checkpoint, FileKind::Blob] {
        let files = [file(kind, "x", Some(job(1)), HOUR)];
        let report = found(&files, &naming(&[]));
        assert_eq!(report.refusal, Some(Refusal::NoPointers { files: 1 }));
        assert!(report.orphans.is_empty());
        // In one observation is enough.
        let report = decide(
            &rules(),
            &observation(&files, &naming(&["other"]), 0),
            &observation(&files, &naming(&[]), 100),
        );
        assert_eq!(report.refusal, Some(Refusal::NoPointers { files: 1 }));
        // Somebody has looked.
        let [first, second] = [0, 100].map(|at| observation(&files, &naming(&[]), at));
        let report = decide(&rules().accepting_an_empty_tree(), &first, &second);
        assert_eq!((report.refusal.as_ref(), report.orphans.len()), (None, 1));
    }
    // What interrupted writes left needs no pointer.
    let left_over = [file(FileKind::Temporary, "x#1", Some(job(1)), HOUR)];
    let report = found(&left_over, &naming(&[]));
    assert_eq!((report.refusal.as_ref(), paths(&report)), (None, vec!["x#1"]));
}

#[test]
fn pointers_of_which_none_can_be_read_are_suspicious() {
    let protection = Protection {
        unreadable: [unreadable(job(1))].into(),
        ..Protection::default()
    };
    let other_job = file(FileKind::Checkpoint, "x", Some(job(2)), HOUR);
    for rules in [rules(), rules().accepting_an_empty_tree()] {
        let [first, second] =
            [0, 100].map(|at| observation(std::slice::from_ref(&other_job), &protection, at));
        let report = decide(&rules, &first, &second);
        assert_eq!(report.refusal, Some(Refusal::NoReadablePointer { pointers: 1 }));
        assert!(report.orphans.is_empty());
    }
}

#[test]
fn a_pointer_that_cannot_be_read_keeps_every_file_of_its_job() {
    let kinds = [
        FileKind::JobGraph,
        FileKind::Checkpoint,
        FileKind::Blob,
        FileKind::Temporary,
    ];
    let of = |number: u8| {
        kinds
            .iter()
            .enumerate()
            .map(move |(index, &kind)| file(kind, &format!("{number}-{index}"), Some(job(number)), HOUR))
    };
    let files: Vec<_> = of(1).chain(of(2)).collect();
    let mut keeping = naming(&["other"]);
    keeping.unreadable.extend([unreadable(job(1))]);
    // In either of the two.
    for (first, second) in [(&keeping, &naming(&["other"])), (&naming(&["other"]), &keeping)] {
        let report = decide(
            &rules(),
            &observation(&files, first, 0),
            &observation(&files, second, 100),
        );
        assert_eq!(paths(&report), ["2-0", "2-1", "2-2", "2-3"]);
        let reported: Vec<_> = report.unreadable.iter().map(|entry| &*entry.reason).collect();
        assert_eq!(reported, ["torn"]);
    }
}

#[test]
fn blobs_are_orphans_when_nothing_is_known_of_their_job() {
    let files = [1, 2].map(|number| {
        file(
            FileKind::Blob,
            &format!("blobs/{number}"),
            Some(job(number)),
            HOUR,
        )
    });
    let mut knowing = naming(&["other"]);
    knowing.known_jobs.insert(job(1));
    assert_eq!(paths(&found(&files, &knowing)), ["blobs/2"]);
}

#[test]
fn blobs_wait_for_the_rest_of_their_job_as_long_as_it_comes() {
    let blob = |number| {
        file(
            FileKind::Blob,
            &format!("blobs/{number}"),
            Some(job(number)),
            HOUR,
        )
    };
    let young = rules().age() - Duration::from_nanos(1);
    for kind in [FileKind::Temporary, FileKind::Blob, FileKind::JobGraph] {
        for (age, left) in [
            (young, vec!["blobs/2"]),
            (rules().age(), vec!["blobs/1", "blobs/2"]),
        ] {
            let next = file(kind, "the next", Some(job(1)), age);
            let without = [blob(1), blob(2)];
            let with = [blob(1), blob(2), next];
            // In whichever observation it is seen.
            for (one, other) in [(&with[..], &with[..]), (&with, &without), (&without, &with)] {
                let first = observation(one, &naming(&["other"]), 0);
                let second = observation(other, &naming(&["other"]), 100);
                let report = decide(&rules(), &first, &second);
                let blobs: Vec<_> = paths(&report)
                    .into_iter()
                    .filter(|path| path.starts_with("blobs"))
                    .collect();
                assert_eq!(blobs, left, "{kind:?} {age:?}");
            }
        }
    }
    // It keeps nothing else of the job, and is an orphan itself once it is old.
    let report = found(
        &[old(), file(FileKind::Temporary, "upload", Some(job(1)), young)],
        &naming(&["other"]),
    );
    assert_eq!(paths(&report), ["old"]);
}

#[test]
fn results_and_what_is_its_own_pointer_are_never_orphans() {
    let files = [
        file(FileKind::Result, "r", Some(job(1)), HOUR),
        file(FileKind::FileBacked, "counter", Some(job(1)), HOUR),
    ];
    let report = found(&files, &naming(&["other"]));
    assert_eq!((report.refusal.as_ref(), report.orphans.len()), (None, 0));
    // A result is none of the layout's surprises either; files of the other kind of store are.
    let foreign: Vec<_> = report.foreign.iter().map(|file| &*file.place).collect();
    assert_eq!(foreign, ["/s/c/counter"]);
}

#[test]
fn what_is_foreign_is_told_once_and_is_no_orphan_also_when_all_is_refused() {
    let foreign = ForeignFile {
        place: "/s/c/README".to_owned(),
        reason: "no".to_owned(),
    };
    for protection in [naming(&["other"]), naming(&[])] {
        let [mut first, mut second] = [0, 100].map(|at| observation(&[old()], &protection, at));
        first.survey.foreign.push(foreign.clone());
        second.survey.foreign.push(foreign.clone());
        let report = decide(&rules(), &first, &second);
        assert_eq!(report.foreign, std::slice::from_ref(&foreign));
        assert!(!paths(&report).contains(&"README"));
    }
}

#[test]
fn a_refusal_of_either_observation_finds_nothing_and_says_why() {
    let refusals = [
        Refusal::NoTree {
            path: "/c".to_owned(),
        },
        Refusal::NoStorage {
            place: "/s/c".to_owned(),
        },
        Refusal::UnreadableIdentity {
            place: "/c/identity".to_owned(),
            reason: "torn".to_owned(),
        },
        Refusal::IdentityMismatch {
            path: "/c/identity".to_owned(),
            tree: Uuid::nil(),
            storage: Uuid::max(),
        },
        Refusal::AnotherTree {
            path: "/c".to_owned(),
            tree: "/elsewhere/c".to_owned(),
        },
        Refusal::TreeLost {
            path: "/c/identity".to_owned(),
        },
    ];
    for refusal in refusals {
        for refused in 0..2 {
            let mut both = [0, 100].map(|at| observation(&[old()], &naming(&["other"]), at));
            both[refused].protection = Err(refusal.clone());
            let report = decide(&rules().accepting_an_empty_tree(), &both[0], &both[1]);
            assert_eq!(report.refusal.as_ref(), Some(&refusal));
            assert!(report.orphans.is_empty());
            assert!(refusal.to_string().contains("/c") || refusal.to_string().contains("/s"));
        }
    }
}

#[test]
fn a_cluster_that_was_made_anew_meanwhile_proves_nothing() {
    let [first, mut second] = [0, 100].map(|at| observation(&[old()], &naming(&["other"]), at));
    second.cluster_uuid = Uuid::max();
    let report = decide(&rules(), &first, &second);
    assert_eq!(report.refusal, Some(Refusal::ClusterChanged));
    assert!(report.orphans.is_empty());
}
