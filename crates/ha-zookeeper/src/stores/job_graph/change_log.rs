use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ha_core::ids::JobId;
use tokio::sync::Notify;
use uuid::Uuid;

/// A job graph as a listing found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// The transaction that created the pointer.
    pub czxid: i64,
    /// Its write id, where the pointer can be read.
    pub write_id: Option<Uuid>,
    /// The job has ended.
    pub ended: bool,
}

/// All job graphs at one moment.
pub(super) type Snapshot = BTreeMap<JobId, Seen>;

/// What another process did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It added or replaced the job graph.
    Added(JobId),
    /// It removed the job graph.
    Removed(JobId),
}

/// The point in the order of own changes at which a reading began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark(u64);

/// When job graphs are to be read again, beside when they change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    /// The reading says all.
    No,
    /// At once: an own change has settled since the reading began.
    Now,
    /// When an own change settles that was on its way.
    Settled,
}

/// Tells other processes' changes from own ones.
///
/// A snapshot whose reading overlapped an own change of a job says nothing about that job: it is read again once
/// the change has settled.
#[derive(Debug, Default)]
pub(super) struct ChangeLog {
    state: Mutex<State>,
    settled: Notify,
}

#[derive(Debug, Default)]
struct State {
    known: BTreeMap<JobId, Known>,
    own: HashMap<JobId, Own>,
    /// Write ids of own changes whose outcome is not known.
    doubtful: HashSet<Uuid>,
    generation: u64,
}

/// What was last known of a job graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Read { czxid: i64 },
    Written { write_id: Uuid },
}

impl Known {
    fn is(self, seen: Seen) -> bool {
        match self {
            Self::Read { czxid } => czxid == seen.czxid,
            Self::Written { write_id } => seen.write_id == Some(write_id),
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Own {
    in_flight: u32,
    /// The generation in which the last one began or settled.
    last: u64,
}

impl ChangeLog {
    /// Takes what is there at the start as known, by a snapshot whose reading began at `mark`. What it says of
    /// jobs that were changed by this process meanwhile is void: what was noted of the change stands.
    pub(super) fn begin_with(&self, snapshot: &Snapshot, mark: Mark) {
        let mut state = self.state();
        let State { known, own, .. } = &mut *state;
        let is_void = |job_id: &JobId| own.get(job_id).is_some_and(|own| own.last > mark.0);
        known.retain(|job_id, _| is_void(job_id));
        for (job_id, seen) in snapshot.iter().filter(|(job_id, _)| !is_void(job_id)) {
            known.insert(*job_id, Known::Read { czxid: seen.czxid });
        }
    }

    /// An own change of `job_id` begins; `write_id` is what it writes, `None` when it removes.
    pub(super) fn begin(log: &Arc<Self>, job_id: JobId, write_id: Option<Uuid>) -> OwnChange {
        let mut state = log.state();
        state.generation += 1;
        let generation = state.generation;
        let own = state.own.entry(job_id).or_default();
        own.in_flight += 1;
        own.last = generation;
        OwnChange {
            log: Arc::clone(log),
            job_id,
            write_id,
            outcome: Outcome::Unknown,
        }
    }

    /// To be taken before a reading.
    pub(super) fn mark(&self) -> Mark {
        Mark(self.state().generation)
    }

    /// What others changed, by a snapshot whose reading began at `mark`.
    pub(super) fn compare(&self, snapshot: &Snapshot, mark: Mark) -> (Vec<Change>, Again) {
        let mut state = self.state();
        let state = &mut *state;
        let jobs: BTreeSet<_> = state.known.keys().chain(snapshot.keys()).copied().collect();
        let mut changes = Vec::new();
        let mut again = Again::No;
        for job_id in jobs {
            if let Some(own) = state.own.get(&job_id)
                && (own.in_flight > 0 || own.last > mark.0)
            {
                match own.in_flight {
                    0 => again = Again::Now,
                    _ if again == Again::No => again = Again::Settled,
                    _ => {}
                }
                continue;
            }
            let known = state.known.get(&job_id);
            match (known, snapshot.get(&job_id)) {
                (Some(_), None) => {
                    state.known.remove(&job_id);
                    changes.push(Change::Removed(job_id));
                }
                (known, Some(seen)) => {
                    let mine = seen.write_id.is_some_and(|id| state.doubtful.contains(&id));
                    // The end of a job is written by set: no addition, whoever wrote it.
                    let same = known.is_some_and(|known| known.is(*seen)) || seen.ended || mine;
                    state.known.insert(job_id, Known::Read { czxid: seen.czxid });
                    if !same {
                        changes.push(Change::Added(job_id));
                    }
                }
                (None, None) => {}
            }
        }
        state.own.retain(|_, own| own.in_flight > 0 || own.last > mark.0);
        (changes, again)
    }

    /// Completes when an own change has settled since the last call.
    pub(super) async fn settled(&self) {
        self.settled.notified().await;
    }

    /// Whether `write_id` is of an own change whose outcome was not known.
    pub(super) fn is_doubtful(&self, write_id: Uuid) -> bool {
        self.state().doubtful.contains(&write_id)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone, Copy, Debug)]
enum Outcome {
    Applied,
    NotApplied,
    Unknown,
}

/// An own change on its way. Dropped without an outcome, for instance because the caller was cancelled, its
/// outcome is unknown.
#[derive(Debug)]
pub(super) struct OwnChange {
    log: Arc<ChangeLog>,
    job_id: JobId,
    write_id: Option<Uuid>,
    outcome: Outcome,
}

impl OwnChange {
    /// It was applied.
    pub(super) fn applied(mut self) {
        self.outcome = Outcome::Applied;
    }

    /// It certainly was not.
    pub(super) fn not_applied(mut self) {
        self.outcome = Outcome::NotApplied;
    }
}

impl Drop for OwnChange {
    fn drop(&mut self) {
        let mut state = self.log.state();
        state.generation += 1;
        let generation = state.generation;
        let own = state.own.entry(self.job_id).or_default();
        own.in_flight = own.in_flight.saturating_sub(1);
        own.last = generation;
        match (self.outcome, self.write_id) {
            (Outcome::Applied, Some(write_id)) => {
                state.known.insert(self.job_id, Known::Written { write_id });
            }
            (Outcome::Applied, None) => {
                state.known.remove(&self.job_id);
            }
            (Outcome::Unknown, Some(write_id)) => {
                state.doubtful.insert(write_id);
            }
            (Outcome::Unknown, None) | (Outcome::NotApplied, _) => {}
        }
        drop(state);
        self.log.settled.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: JobId = JobId::from_bytes([1; 16]);

    fn seen(czxid: i64, write: u128) -> Snapshot {
        let seen = Seen {
            czxid,
            write_id: Some(Uuid::from_u128(write)),
            ended: false,
        };
        Snapshot::from([(JOB, seen)])
    }

    fn compare(log: &ChangeLog, snapshot: &Snapshot) -> Vec<Change> {
        let (changes, again) = log.compare(snapshot, log.mark());
        assert_eq!(again, Again::No);
        changes
    }

    #[test]
    fn others_additions_replacements_and_removals_are_told_once() {
        let log = Arc::<ChangeLog>::default();
        log.begin_with(&seen(1, 1), log.mark());
        assert_eq!(compare(&log, &seen(1, 1)), []);
        assert_eq!(compare(&log, &seen(2, 2)), [Change::Added(JOB)]);
        assert_eq!(compare(&log, &seen(2, 2)), []);
        assert_eq!(compare(&log, &Snapshot::new()), [Change::Removed(JOB)]);
        assert_eq!(compare(&log, &Snapshot::new()), []);
        assert_eq!(compare(&log, &seen(3, 3)), [Change::Added(JOB)]);
    }

    #[test]
    fn own_changes_are_not_told() {
        let log = Arc::<ChangeLog>::default();
        ChangeLog::begin(&log, JOB, Some(Uuid::from_u128(1))).applied();
        assert_eq!(compare(&log, &seen(1, 1)), []);
        ChangeLog::begin(&log, JOB, Some(Uuid::from_u128(2))).applied();
        assert_eq!(compare(&log, &seen(2, 2)), []);
        ChangeLog::begin(&log, JOB, None).applied();
        assert_eq!(compare(&log, &Snapshot::new()), []);
    }

    #[test]
    fn a_replacement_of_an_own_one_is_told() {
        let log = Arc::<ChangeLog>::default();
        ChangeLog::begin(&log, JOB, Some(Uuid::from_u128(1))).applied();
        assert_eq!(compare(&log, &seen(2, 9)), [Change::Added(JOB)]);
    }

    #[test]
    fn a_reading_that_overlapped_an_own_change_is_void() {
        let log = Arc::<ChangeLog>::default();
        let mark = log.mark();
        let change = ChangeLog::begin(&log, JOB, Some(Uuid::from_u128(1)));
        assert_eq!(log.compare(&seen(1, 1), mark), (vec![], Again::Settled));
        change.applied();
        // Read before the change, compared after it.
        assert_eq!(log.compare(&Snapshot::new(), mark), (vec![], Again::Now));
        assert_eq!(compare(&log, &seen(1, 1)), []);
    }

    #[test]
    fn a_doubtful_write_that_turns_up_is_own() {
        let log = Arc::<ChangeLog>::default();
        drop(ChangeLog::begin(&log, JOB, Some(Uuid::from_u128(1))));
        assert!(log.is_doubtful(Uuid::from_u128(1)));
        assert_eq!(compare(&log, &seen(1, 1)), []);
        ChangeLog::begin(&log, JOB, None).not_applied();
        assert_eq!(compare(&log, &Snapshot::new()), [Change::Removed(JOB)]);
    }

    #[test]
    fn the_end_of_a_job_is_no_addition() {
        let log = Arc::<ChangeLog>::default();
        ChangeLog::begin(&log, JOB, Some(Uuid::from_u128(1))).applied();
        let mut ended = seen(1, 2);
        ended.get_mut(&JOB).unwrap().ended = true;
        assert_eq!(compare(&log, &ended), []);
    }

    #[tokio::test]
    async fn settling_wakes_the_reader() {
        let log = Arc::<ChangeLog>::default();
        ChangeLog::begin(&log, JOB, None).applied();
        log.settled().await;
    }

    #[test]
    fn own_changes_while_the_start_reads_are_not_told() {
        let log = Arc::<ChangeLog>::default();
        let mark = log.mark();
        // Another store of this process puts a job that the reading does not show.
        ChangeLog::begin(&log, JOB, Some(Uuid::from_u128(1))).applied();
        log.begin_with(&Snapshot::new(), mark);
        assert_eq!(compare(&log, &seen(1, 1)), []);
        // And removes one that the reading still shows.
        let log = Arc::<ChangeLog>::default();
        let mark = log.mark();
        ChangeLog::begin(&log, JOB, None).applied();
        log.begin_with(&seen(1, 1), mark);
        assert_eq!(compare(&log, &Snapshot::new()), []);
    }

    #[test]
    fn an_own_change_in_flight_since_before_the_start_may_fail() {
        let log = Arc::<ChangeLog>::default();
        let change = ChangeLog::begin(&log, JOB, Some(Uuid::from_u128(2)));
        log.begin_with(&seen(1, 1), log.mark());
        change.not_applied();
        assert_eq!(compare(&log, &seen(1, 1)), []);
    }
}
