//! Ten processes, and leadership that is taken from whoever has it, again and again.

use std::time::Duration;

use ha_core::ids::{ComponentId, LeaderSessionId};
use integration_tests::waiting::now;
use integration_tests::workload::Random;
use integration_tests::{AdminClient, Ensemble, EnsembleOptions, eventually, full_form, pause, scaled, seed};
use serde_json::Value;

use crate::group::{Group, SOON};
use crate::latch_log::LatchLog;
use crate::zookeeper::{Process, close_all, options};

/// Long, so that nothing here waits for a session to expire.
const TIMEOUT: Duration = Duration::from_secs(40);
const PROCESSES: usize = 10;

/// How leadership is taken from the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    /// The operator's polite way: a set of its latch.
    Set,
    /// The operator's forced way: its latch is deleted.
    Delete,
    /// Its contender stops, and stands anew in the same session.
    Stop,
    /// Its process ends, and another one starts in its place.
    Restart,
}

const WAYS: [Way; 4] = [Way::Set, Way::Delete, Way::Stop, Way::Restart];

/// What is published of a term.
struct Published {
    term: LeaderSessionId,
    epoch: i64,
}

struct Run {
    admin: AdminClient,
    group: Group,
    servers: String,
    made: usize,
}

/// `HA_TEST_FULL=1` makes 200 of them; `HA_TEST_SEED` repeats a run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_handover_elects_and_leaves_nothing_behind() {
    let seed = seed().unwrap();
    let count = if full_form() { 200 } else { 20 };
    eprintln!("{count} hand-overs with HA_TEST_SEED={seed}");
    let mut random = Random::new(seed);
    let ensemble = Ensemble::start(EnsembleOptions::standalone()).await.unwrap();
    let servers = ensemble.connect_string();
    let mut run = Run {
        admin: AdminClient::connect(&servers).await.unwrap(),
        group: Group::start(PROCESSES, &options(&servers, TIMEOUT)).await,
        servers,
        made: PROCESSES,
    };
    let mut last = run.published(None).await;
    let mut took = Vec::new();
    for round in 0..count {
        // Every way comes up, in an order of the seed's.
        let way = WAYS[usize::try_from((round + random.below(2)) % 4).unwrap()];
        let (next, time) = run.take_from_leader(way, &last).await;
        assert!(
            next.epoch > last.epoch,
            "round {round}, {way:?}: the epoch went back"
        );
        took.push((way, time));
        last = next;
        // Sometimes into the middle of what the last one left to do.
        if random.below(2) == 0 {
            pause(Duration::from_millis(random.below(60))).await;
        }
    }
    print_times(&took);
    run.all_stand().await;
    // Not judged: by a forced deletion two may lead for a moment.
    close_all(&run.group.processes).await;
    let left: Vec<_> = run
        .admin
        .walk(&run.group.paths.roots()[0])
        .await
        .unwrap()
        .into_iter()
        .filter(|node| node.stat.ephemeral_owner != 0)
        .collect();
    assert!(left.is_empty(), "left behind: {left:?}");
    let log = LatchLog::replay(&run.group.paths.latches(), &ensemble.transactions().unwrap());
    eprintln!("{} latches were made", log.made);
    assert!(
        log.made >= run.made,
        "{} of {} latches are in the log",
        log.made,
        run.made
    );
    assert_eq!(
        log.most_of_a_session, 1,
        "a session had several latches at a time"
    );
    assert!(log.left().is_empty(), "left behind: {:?}", log.left());
}

impl Run {
    /// Takes leadership from the leader, and waits until another process leads and is published.
    async fn take_from_leader(&mut self, way: Way, last: &Published) -> (Published, Duration) {
        let old = self.group.one_leads(SOON).await;
        let started = now();
        let process = &mut self.group.processes[old];
        let latch = process.latch();
        match way {
            Way::Set => self.admin.set(&latch, b"step down").await.unwrap(),
            Way::Delete => self.admin.delete(&latch).await.unwrap(),
            Way::Stop => {
                process.service.stop().await.unwrap();
                assert!(self.admin.node(&latch).await.unwrap().is_none(), "{latch} stands");
                process.stand_anew().await;
            }
            Way::Restart => {
                process.close().await;
                assert!(self.admin.node(&latch).await.unwrap().is_none(), "{latch} stands");
                let name = format!("p{old}");
                *process = Process::start(&name, &self.group.paths, options(&self.servers, TIMEOUT)).await;
            }
        }
        self.made += 1;
        let next = self.published(Some(last.term)).await;
        let time = now().saturating_since(started);
        let new = self.group.one_leads(SOON).await;
        assert_ne!(new, old, "{way:?}: the same process leads");
        assert_eq!(self.group.processes[new].term().await, Some(next.term));
        (next, time)
    }

    /// Waits until a term other than `old` is published.
    async fn published(&self, old: Option<LeaderSessionId>) -> Published {
        let path = self.group.paths.connection_info(&ComponentId::dispatcher());
        eventually("another leader is published", SOON, async || {
            let text = self.admin.text(&path).await?;
            let info: Value = serde_json::from_str(&text.unwrap_or_default())?;
            let published = Published {
                term: serde_json::from_value(info["leaderSessionId"].clone())?,
                epoch: serde_json::from_value(info["epoch"].clone())?,
            };
            anyhow::ensure!(Some(published.term) != old, "the old one still is");
            Ok(published)
        })
        .await
        .unwrap()
    }

    async fn all_stand(&self) {
        eventually("all stand again", SOON, async || {
            let latches = self.admin.children(&self.group.paths.latches()).await?;
            anyhow::ensure!(latches.len() == PROCESSES, "{latches:?}");
            Ok(())
        })
        .await
        .unwrap();
    }
}

fn print_times(took: &[(Way, Duration)]) {
    for way in WAYS {
        let mut times: Vec<_> = took
            .iter()
            .filter(|(of, _)| *of == way)
            .map(|(_, time)| *time)
            .collect();
        times.sort();
        if let (Some(median), Some(most)) = (times.get(times.len() / 2), times.last()) {
            eprintln!(
                "{way:?}: {} times, {median:?} in the middle, {most:?} at most",
                times.len()
            );
        }
    }
    let most = took.iter().map(|(_, time)| *time).max().unwrap_or_default();
    assert!(
        most < scaled(TIMEOUT),
        "a hand-over took {most:?}, as long as a session takes to expire"
    );
}
