//! From snapshots to events: everything that can be between two of them, by table and exhaustively.

use ha_core::ids::{Epoch, LeaderSessionId};
use uuid::Uuid;

use super::*;

const JOB: JobId = JobId::from_bytes([1; 16]);
const OTHER: JobId = JobId::from_bytes([2; 16]);

fn leader(epoch: u64) -> Leadership {
    Leadership {
        address: format!("http://h:{epoch}"),
        session_id: LeaderSessionId::from_uuid(Uuid::from_u128(u128::from(epoch))),
        epoch: Some(Epoch::new(epoch)),
    }
}

fn led(leaders: &[(ComponentId, Option<u64>)]) -> Snapshot {
    let leaders = leaders.iter().map(|(component, epoch)| {
        let seen = epoch.map_or(WatchedLeader::Unreadable, |epoch| {
            WatchedLeader::Leads(leader(epoch))
        });
        (component.clone(), seen)
    });
    Snapshot {
        leaders: leaders.collect(),
        ..Snapshot::default()
    }
}

/// A job graph by its transaction, the newest checkpoint, and the end.
type Job<'a> = (JobId, i64, u64, Option<&'a str>);

fn with(jobs: &[Job<'_>]) -> Snapshot {
    let mut snapshot = Snapshot::default();
    for (id, created, checkpoint, end) in jobs {
        let job = WatchedJob {
            created: *created,
            name: Some(format!("n{created}")),
            end: end.map(str::to_owned),
            ..WatchedJob::default()
        };
        snapshot.jobs.insert(*id, job);
        if let Ok(checkpoint) = CheckpointId::new(*checkpoint)
            && checkpoint.get() > 0
        {
            snapshot.checkpoints.insert(*id, checkpoint);
        }
    }
    snapshot
}

/// An event, short.
fn short(event: &WatchEvent) -> String {
    let job = |id: &JobId| if *id == JOB { "job" } else { "other" };
    match event {
        WatchEvent::LeaderChanged {
            component,
            address,
            epoch,
            session_id,
        } => {
            assert_eq!(address.clone(), epoch.map(|epoch| leader(epoch).address));
            assert_eq!(*session_id, epoch.map(|epoch| leader(epoch).session_id));
            format!("{component}={}", epoch.unwrap_or(0))
        }
        WatchEvent::JobAdded { job_id, name } => {
            format!("+{} {}", job(job_id), name.as_deref().unwrap_or("-"))
        }
        WatchEvent::JobEnded { job_id, name, status } => {
            format!("-{} {} {status}", job(job_id), name.as_deref().unwrap_or("-"))
        }
        WatchEvent::CheckpointCompleted {
            job_id,
            checkpoint_id,
        } => format!("{}#{checkpoint_id}", job(job_id)),
        WatchEvent::Unreadable { path, reason } => format!("{path}: {reason}"),
        WatchEvent::ConnectionLost | WatchEvent::ConnectionBack { .. } => panic!("{event:?}"),
    }
}

/// The events of each snapshot, one after the other.
fn told(snapshots: &[Snapshot]) -> Vec<Vec<String>> {
    told_with(snapshots, &BTreeMap::new())
}

fn told_with(snapshots: &[Snapshot], ends: &BTreeMap<JobId, String>) -> Vec<Vec<String>> {
    let mut state = WatchedState::default();
    let mut all = Vec::new();
    for snapshot in snapshots {
        let events = state.advance(snapshot, ends);
        all.push(events.iter().map(short).collect());
        assert_eq!(state.advance(snapshot, ends), [], "twice the same is no news");
        assert!(state.departed(snapshot).is_empty());
    }
    all
}

#[test]
fn leaders_come_change_and_go_and_what_was_in_between_is_not_told() {
    let (a, b) = (ComponentId::dispatcher(), ComponentId::rest_server());
    let snapshots = [
        Snapshot::default(),
        led(&[(b.clone(), Some(1)), (a.clone(), Some(1))]),
        // From the first leader over none to the second, seen as one step.
        led(&[(a.clone(), Some(2)), (b.clone(), Some(1))]),
        led(&[(b.clone(), Some(2))]),
        led(&[(a.clone(), Some(2)), (b.clone(), Some(2))]),
        Snapshot::default(),
    ];
    assert_eq!(
        told(&snapshots),
        [
            vec![],
            vec!["dispatcher=1", "rest_server=1"],
            vec!["dispatcher=2"],
            vec!["dispatcher=0", "rest_server=2"],
            vec!["dispatcher=2"],
            vec!["dispatcher=0", "rest_server=0"],
        ]
    );
}

#[test]
fn a_leader_that_moves_or_leads_anew_is_told_and_one_that_cannot_be_read_is_not_gone() {
    let a = ComponentId::dispatcher();
    let mut moved = led(&[(a.clone(), Some(1))]);
    let mut information = leader(1);
    information.address = "http://elsewhere".to_owned();
    moved.leaders.insert(a.clone(), WatchedLeader::Leads(information));
    let mut state = WatchedState::default();
    state.advance(&led(&[(a.clone(), Some(1))]), &BTreeMap::new());
    let events = state.advance(&moved, &BTreeMap::new());
    assert!(
        matches!(&events[..], [WatchEvent::LeaderChanged { address: Some(address), .. }] if address == "http://elsewhere")
    );

    let one = led(&[(a.clone(), Some(1))]);
    let unreadable = led(&[(a.clone(), None)]);
    let two = led(&[(a, Some(2))]);
    assert_eq!(
        told(&[
            unreadable.clone(),
            one.clone(),
            unreadable.clone(),
            one,
            unreadable,
            two
        ]),
        [
            vec![],
            vec!["dispatcher=1"],
            vec![],
            vec![],
            vec![],
            vec!["dispatcher=2"]
        ]
    );
}

#[test]
fn jobs_are_added_complete_checkpoints_and_end_once() {
    let snapshots = [
        with(&[(JOB, 1, 0, None)]),
        with(&[(JOB, 1, 1, None), (OTHER, 2, 0, None)]),
        // Several ids at once: the newest is told.
        with(&[(JOB, 1, 9, None), (OTHER, 2, 3, None)]),
        // The newest was discarded; what is left is no news.
        with(&[(JOB, 1, 4, None), (OTHER, 2, 3, None)]),
        with(&[(JOB, 1, 10, Some("FINISHED")), (OTHER, 2, 3, None)]),
        // Cleaned up.
        with(&[(JOB, 1, 0, Some("FINISHED")), (OTHER, 2, 3, None)]),
        with(&[(OTHER, 2, 3, None)]),
        with(&[]),
    ];
    assert_eq!(
        told(&snapshots),
        [
            vec!["+job n1"],
            vec!["job#1", "+other n2"],
            vec!["job#9", "other#3"],
            vec![],
            vec!["job#10", "-job n1 FINISHED"],
            vec![],
            vec![],
            vec!["-other n2 UNKNOWN"],
        ]
    );
}

#[test]
fn a_job_graph_that_took_the_place_of_another_is_another_job() {
    let snapshots = [
        with(&[(JOB, 1, 5, None), (OTHER, 1, 5, Some("FAILED"))]),
        with(&[(JOB, 2, 5, None), (OTHER, 2, 1, None)]),
        with(&[(JOB, 2, 6, None), (OTHER, 2, 2, None)]),
    ];
    assert_eq!(
        told(&snapshots),
        [
            vec!["+job n1", "job#5", "+other n1", "other#5", "-other n1 FAILED"],
            vec!["-job n1 UNKNOWN", "+job n2", "job#5", "+other n2", "other#1"],
            vec!["job#6", "other#2"],
        ]
    );
}

#[test]
fn the_end_of_a_job_that_is_gone_is_looked_up_and_that_of_one_that_was_told_is_not() {
    let here = with(&[(JOB, 1, 0, None), (OTHER, 1, 0, Some("FAILED"))]);
    let mut state = WatchedState::default();
    assert!(state.departed(&here).is_empty());
    state.advance(&here, &BTreeMap::new());
    assert_eq!(state.departed(&Snapshot::default()), [JOB]);
    assert_eq!(state.departed(&with(&[(JOB, 2, 0, None)])), [JOB]);
    assert!(state.departed(&here).is_empty());
    let ends = BTreeMap::from([(JOB, "CANCELED".to_owned()), (OTHER, "FINISHED".to_owned())]);
    assert_eq!(
        told_with(&[here, Snapshot::default()], &ends)[1],
        ["-job n1 CANCELED"]
    );
}

#[test]
fn remains_without_a_job_graph_are_no_job() {
    let mut remains = with(&[(JOB, 1, 5, None)]);
    remains.jobs.clear();
    assert_eq!(told(&[remains.clone()]), [Vec::<String>::new()]);
    // Once it has one, it has its checkpoint too.
    let job = with(&[(JOB, 1, 5, None)]);
    assert_eq!(
        told(&[remains.clone(), job, remains])[1..],
        [vec!["+job n1", "job#5"], vec!["-job n1 UNKNOWN"]]
    );
}

#[test]
fn a_pointer_that_cannot_be_read_takes_back_nothing() {
    let mut garbage = with(&[(JOB, 1, 1, None)]);
    garbage.jobs.insert(
        JOB,
        WatchedJob {
            created: 1,
            ..WatchedJob::default()
        },
    );
    let good = with(&[(JOB, 1, 1, None)]);
    let ended = with(&[(JOB, 1, 1, Some("FINISHED"))]);
    assert_eq!(
        told(&[garbage.clone(), good, garbage.clone(), ended, garbage, with(&[])]),
        [
            vec!["+job -", "job#1"],
            vec![],
            vec![],
            vec!["-job n1 FINISHED"],
            vec![],
            vec![]
        ]
    );
}

#[test]
fn what_is_unreadable_is_told_once_and_again_when_it_was_well_in_between() {
    let broken = |entries: &[(&str, &str)]| Snapshot {
        unreadable: entries
            .iter()
            .map(|(path, reason)| ((*path).to_owned(), (*reason).to_owned()))
            .collect(),
        ..Snapshot::default()
    };
    assert_eq!(
        told(&[
            broken(&[("/b", "x"), ("/a", "x")]),
            broken(&[("/b", "y"), ("/a", "x")]),
            broken(&[("/b", "y")]),
            broken(&[("/a", "x"), ("/b", "y")]),
        ]),
        [vec!["/a: x", "/b: x"], vec!["/b: y"], vec![], vec!["/a: x"]]
    );
}

/// All that can be of one component and one job.
fn all() -> Vec<Snapshot> {
    let mut jobs = vec![with(&[])];
    for created in [1, 2] {
        for checkpoint in [0, 1, 7] {
            for end in [None, Some("FINISHED")] {
                jobs.push(with(&[(JOB, created, checkpoint, end)]));
            }
        }
    }
    let mut all = Vec::new();
    for leader in [None, Some(1), Some(2)] {
        let leaders: Vec<_> = leader
            .map(|epoch| (ComponentId::dispatcher(), Some(epoch)))
            .into_iter()
            .collect();
        all.extend(jobs.iter().map(|jobs| Snapshot {
            leaders: led(&leaders).leaders,
            ..jobs.clone()
        }));
    }
    all
}

/// What somebody believes who knows the events only.
#[derive(Debug, Default, PartialEq, Eq)]
struct Belief {
    leader: u64,
    /// There, or over.
    job: Option<bool>,
    checkpoint: u64,
}

impl Belief {
    fn hear(&mut self, event: &WatchEvent) {
        match event {
            WatchEvent::LeaderChanged { epoch, .. } => {
                assert_ne!(self.leader, epoch.unwrap_or(0), "no change");
                self.leader = epoch.unwrap_or(0);
            }
            WatchEvent::JobAdded { .. } => {
                assert_ne!(self.job, Some(true), "added twice");
                (self.job, self.checkpoint) = (Some(true), 0);
            }
            WatchEvent::JobEnded { .. } => {
                assert_eq!(self.job, Some(true), "ended twice, or before it was added");
                self.job = Some(false);
            }
            WatchEvent::CheckpointCompleted { checkpoint_id, .. } => {
                assert!(*checkpoint_id > self.checkpoint, "an older one");
                self.checkpoint = *checkpoint_id;
            }
            other => panic!("{other:?}"),
        }
    }

    fn expect(&self, snapshot: &Snapshot, newest: u64) {
        let leader = match snapshot.leaders.get(&ComponentId::dispatcher()) {
            Some(WatchedLeader::Leads(information)) => information.epoch.unwrap().get(),
            _ => 0,
        };
        assert_eq!(self.leader, leader);
        match snapshot.jobs.get(&JOB) {
            None => assert_ne!(self.job, Some(true)),
            Some(job) => {
                assert_eq!(self.checkpoint, newest);
                if job.end.is_some() {
                    assert_eq!(self.job, Some(false));
                }
            }
        }
    }
}

#[test]
fn after_any_three_snapshots_the_events_tell_the_last() {
    let all = all();
    assert_eq!(all.len(), 39);
    for first in &all {
        for second in &all {
            for third in &all {
                let mut state = WatchedState::default();
                let mut belief = Belief::default();
                // Of the present job graph.
                let (mut created, mut newest) = (None, 0);
                for snapshot in [first, second, third] {
                    for event in state.advance(snapshot, &BTreeMap::new()) {
                        belief.hear(&event);
                    }
                    let now = snapshot.jobs.get(&JOB).map(|job| job.created);
                    if now != created {
                        (created, newest) = (now, 0);
                    }
                    let there = snapshot.checkpoints.get(&JOB).map_or(0, |id| id.get());
                    newest = newest.max(there);
                    belief.expect(snapshot, newest);
                }
            }
        }
    }
}
