//! One reply of twenty is lost, with its connection, while leadership moves between two processes in the midst of
//! operations of all kinds: what is reported as applied is there, what is reported as not applied is not, ids strictly
//! increase, and hardly anything ends unknown (I6, I12).
//!
//! The full form makes 10,000 operations; the figures are printed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use ha_core::Error;
use ha_core::services::HighAvailabilityServices as _;
use integration_tests::proxy::{RequestFilter, RequestKind};
use integration_tests::{eventually, full_form, scaled, seed};
use tokio::task::JoinSet;

use crate::lost_replies_job::{Job, Step, Stores};
use crate::rig::{Cluster, Member};

/// One in so many replies of changes is lost.
const ONE_IN: u64 = 20;
/// As many jobs are worked on at a time: a lost connection takes the requests of all.
const JOBS: u64 = 3;
const LIMIT: Duration = Duration::from_secs(120);

/// How much is done.
struct Form {
    operations: usize,
    /// How often leadership moves.
    moves: usize,
    /// The most operations that may end unknown: in the long run fewer than one in a thousand; in a short one no more
    /// than are under way when terms end.
    most_unknown: usize,
}

/// What the operations came to.
#[derive(Default)]
struct Outcomes {
    applied: usize,
    not_applied: BTreeMap<String, usize>,
    unknown: BTreeMap<String, usize>,
    by_kind: BTreeMap<&'static str, usize>,
}

impl Outcomes {
    fn note(&mut self, kind: &'static str, outcome: &Result<(), Error>) {
        *self.by_kind.entry(kind).or_default() += 1;
        match outcome {
            Ok(()) => self.applied += 1,
            Err(error) => {
                let failed = match error.is_safe_to_repeat() {
                    true => &mut self.not_applied,
                    false => &mut self.unknown,
                };
                *failed.entry(format!("{kind}: {}", error.kind())).or_default() += 1;
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.applied += other.applied;
        for (mine, others) in [
            (&mut self.not_applied, other.not_applied),
            (&mut self.unknown, other.unknown),
        ] {
            for (what, count) in others {
                *mine.entry(what).or_default() += count;
            }
        }
        for (kind, count) in other.by_kind {
            *self.by_kind.entry(kind).or_default() += count;
        }
    }

    fn unknown(&self) -> usize {
        self.unknown.values().sum()
    }
}

/// A term of one process: its operations are counted, and it goes on until it is refused or told to stop.
struct Term {
    member: Arc<Member>,
    cluster: Arc<Cluster>,
    done: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    /// One of its workers was refused.
    is_over: AtomicBool,
}

impl Term {
    /// Works on one job until the term is over.
    async fn work(self: Arc<Self>, mut job: Job) -> (Job, Outcomes) {
        let mut outcomes = Outcomes::default();
        let mut is_over = false;
        while !is_over && !self.stop.load(Ordering::SeqCst) {
            let stores = match Stores::open(&self.member, &job).await {
                Ok(stores) => stores,
                Err(error) => {
                    // Another one leads.
                    is_over = !error.is_retryable();
                    continue;
                }
            };
            while !self.stop.load(Ordering::SeqCst) {
                let step = job.next_step();
                let outcome = job.take(&step, &stores).await;
                self.done.fetch_add(1, Ordering::SeqCst);
                outcomes.note(step.kind(), &outcome);
                job.verify(&step, &outcome, &self.cluster).await;
                is_over = outcome.as_ref().is_err_and(|error| !error.is_retryable());
                // What a store is not sure of is opened anew, and so is another job.
                if outcome.is_err() || step.begins_a_new_life() {
                    break;
                }
            }
            stores.close().await;
        }
        self.is_over.store(true, Ordering::SeqCst);
        (job, outcomes)
    }
}

async fn wait_for_leader(members: &[Arc<Member>]) -> Arc<Member> {
    eventually("one leads", LIMIT, async || {
        for member in members {
            if member.leads().await {
                return Ok(Arc::clone(member));
            }
        }
        anyhow::bail!("nobody does")
    })
    .await
    .unwrap()
}

/// Ends the present term from outside, the forced way or by an operator's request, when there is another process to
/// lead: else the same one would lead again at once, and its workers would go on.
async fn end_term(cluster: &Cluster, forced: bool) {
    let mut latches = eventually("both stand in the election", LIMIT, async || {
        let latches = cluster.admin.children(&cluster.paths.latches()).await?;
        anyhow::ensure!(latches.len() > 1, "{latches:?}");
        Ok(latches)
    })
    .await
    .unwrap();
    let number = |name: &String| name.rsplit_once('-').unwrap().1.parse::<u64>().unwrap();
    latches.sort_by_key(number);
    let latch = cluster.paths.latch(latches.first().unwrap());
    let ended = match forced {
        true => cluster.admin.delete(&latch).await,
        false => {
            let data = cluster.admin.get(&latch).await.unwrap().unwrap_or_default();
            cluster.admin.set(&latch, &data).await
        }
    };
    // It may have gone by itself.
    drop(ended);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_reported_is_true_although_replies_are_lost_and_leadership_moves() {
    let form = match full_form() {
        true => Form {
            operations: 10_000,
            moves: 24,
            most_unknown: 9,
        },
        false => Form {
            operations: 300,
            moves: 3,
            most_unknown: 9,
        },
    };
    let seed = seed().unwrap();
    println!("seed {seed}");
    let cluster = Arc::new(Cluster::new().await);
    let mut members = Vec::new();
    for name in ["a", "b"] {
        let member = cluster.member(name).await;
        member.contend().await;
        members.push(Arc::new(member));
    }
    let changes = |request: &integration_tests::proxy::RequestView| {
        matches!(
            request.kind,
            RequestKind::Create | RequestKind::SetData | RequestKind::Delete | RequestKind::Multi
        )
    };
    let losses: Vec<_> = members
        .iter()
        .zip(1..)
        .map(|(member, number)| {
            let filter = RequestFilter::matching(changes);
            member
                .proxy
                .lose_replies(filter, ONE_IN, seed.wrapping_mul(31) + number)
        })
        .collect();

    let mut jobs: Vec<_> = (0..JOBS).map(|number| Job::new(seed ^ (number << 32))).collect();
    let done = Arc::new(AtomicUsize::new(0));
    let stop = Arc::new(AtomicBool::new(false));
    let mut outcomes = Outcomes::default();
    let mut leaders = Vec::new();
    let chunk = form.operations / (form.moves + 1);
    while done.load(Ordering::SeqCst) < form.operations {
        let wanted = form.operations.min(done.load(Ordering::SeqCst) + chunk);
        let member = wait_for_leader(&members).await;
        leaders.push(member.name.clone());
        let term = Arc::new(Term {
            member,
            cluster: Arc::clone(&cluster),
            done: Arc::clone(&done),
            stop: Arc::clone(&stop),
            is_over: AtomicBool::new(false),
        });
        let mut working = JoinSet::new();
        for job in std::mem::take(&mut jobs) {
            working.spawn(Arc::clone(&term).work(job));
        }
        eventually("the operations of this term are made", LIMIT * 5, async || {
            let done = done.load(Ordering::SeqCst);
            let is_over = term.is_over.load(Ordering::SeqCst);
            anyhow::ensure!(done >= wanted || is_over, "{done} of {wanted}");
            Ok(())
        })
        .await
        .unwrap();
        match done.load(Ordering::SeqCst) < form.operations {
            true => end_term(&cluster, leaders.len() % 2 == 0).await,
            false => stop.store(true, Ordering::SeqCst),
        }
        let mut workers_end = async || {
            while let Some(worked) = working.join_next().await {
                let (job, of_job) = worked.unwrap();
                jobs.push(job);
                outcomes.merge(of_job);
            }
        };
        // All that a process has to do is to notice.
        tokio::time::timeout(scaled(LIMIT), workers_end()).await.unwrap();
    }
    let lost: Vec<_> = losses.iter().map(|losses| losses.count()).collect();
    drop(losses);
    let operations = done.load(Ordering::SeqCst);
    println!(
        "{operations} operations {:?}, {lost:?} replies lost, terms of {leaders:?}: {} applied, not applied {:?}, \
         unknown {:?}",
        outcomes.by_kind, outcomes.applied, outcomes.not_applied, outcomes.unknown
    );
    assert!(
        leaders.contains(&"a".to_owned()) && leaders.contains(&"b".to_owned()),
        "{leaders:?}"
    );
    assert!(lost.iter().all(|lost| *lost > 0), "{lost:?}");
    assert_eq!(outcomes.by_kind.len(), Step::KINDS, "{:?}", outcomes.by_kind);
    assert!(
        outcomes.unknown() <= form.most_unknown,
        "seed {seed}: {:?}",
        outcomes.unknown
    );

    // A process that knows nothing of all this reads the same.
    let reader = cluster.member("reader").await;
    for job in &jobs {
        job.verify_recovery(&reader).await;
    }
    let health = reader.services.health().snapshot();
    assert!(!health.is_degraded(), "{health:?}");
    for member in members.iter().chain([&Arc::new(reader)]) {
        member.services.close().await.unwrap();
    }
}
