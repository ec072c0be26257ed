//! Starts that come to nothing: dropped, aborted and stopped at any moment, while the session stays open (B07).

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use ha_core::ErrorKind;
use ha_core::election::{DefaultLeaderElectionService, LeaderElectionService};
use ha_core::ids::ComponentId;
use ha_testkit::fakes::RecordingContender;
use integration_tests::workload::Random;
use integration_tests::{AdminClient, Ensemble, EnsembleOptions, eventually, full_form, pause, seed};
use tokio::task::JoinSet;

use crate::group::SOON;
use crate::latch_log::LatchLog;
use crate::zookeeper::{Process, new_cluster, options};

const TIMEOUT: Duration = Duration::from_secs(40);
/// Within this time most starts have led and published.
const LONGEST_WAIT: Duration = Duration::from_millis(20);

/// How a start comes to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The future is dropped after it was polled some times, and nobody stops the service.
    DropAfterPolls,
    /// The future is dropped after some time, and nobody stops the service.
    DropAfterTime,
    /// The task is aborted after some time, then the service is stopped.
    AbortAndStop,
    /// `stop` is called while it starts.
    StopMeanwhile,
    /// It starts, and is stopped after some time.
    StartAndStop,
    /// Everything of the election is dropped after some time: service, contender, election.
    DropEverything,
}

const WAYS: [Way; 6] = [
    Way::DropAfterPolls,
    Way::DropAfterTime,
    Way::AbortAndStop,
    Way::StopMeanwhile,
    Way::StartAndStop,
    Way::DropEverything,
];

struct Run {
    process: Process,
    election: Arc<DefaultLeaderElectionService>,
    random: Random,
}

/// `HA_TEST_FULL=1` makes 1,000 starts; `HA_TEST_SEED` repeats a run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b07_starts_dropped_or_stopped_at_any_moment_leave_no_znode() {
    let seed = seed().unwrap();
    let rounds: usize = if full_form() { 1000 } else { 60 };
    eprintln!("{rounds} starts with HA_TEST_SEED={seed}");
    let ensemble = Ensemble::start(EnsembleOptions::standalone()).await.unwrap();
    let servers = ensemble.connect_string();
    let admin = AdminClient::connect(&servers).await.unwrap();
    let paths = new_cluster();
    let process = Process::connect("a", &paths, options(&servers, TIMEOUT)).await;
    let mut run = Run {
        election: process.new_election(),
        process,
        random: Random::new(seed),
    };
    let latches = paths.latches();
    for round in 0..rounds {
        let way = WAYS[round % WAYS.len()];
        if !run.start(way).await {
            run.wait_until_given_up().await;
        }
        let children = admin.children(&latches).await.unwrap();
        assert!(children.is_empty(), "round {round}, {way:?}: {children:?}");
    }
    let left: Vec<_> = admin
        .walk(&paths.roots()[0])
        .await
        .unwrap()
        .into_iter()
        .filter(|node| node.stat.ephemeral_owner != 0)
        .collect();
    assert!(left.is_empty(), "{left:?}");
    let log = LatchLog::replay(&latches, &ensemble.transactions().unwrap());
    eprintln!("{} latches were made in {rounds} starts", log.made);
    assert!(log.made > 0, "no start came so far as a latch");
    assert_eq!(
        log.most_of_a_session, 1,
        "the session had several latches at a time"
    );
    assert!(log.left().is_empty(), "{:?}", log.left());
    run.election.close().await.unwrap();
    run.process.close().await;
}

impl Run {
    /// After a start that nobody stopped: it has been given up once another contender of the process can start, and
    /// stop, in its place.
    async fn wait_until_given_up(&self) {
        eventually("another contender starts", SOON, async || {
            let service = self.election.election(ComponentId::dispatcher());
            let contender = RecordingContender::new("http://a:2");
            contender.try_contend(&service).await?;
            Ok(service.stop().await?)
        })
        .await
        .unwrap();
    }

    /// One start. `true`: a `stop` has returned, so that nothing may be left of it.
    async fn start(&mut self, way: Way) -> bool {
        let service = self.election.election(ComponentId::dispatcher());
        let contender = RecordingContender::confirming("http://a:1");
        let longest = u64::try_from(LONGEST_WAIT.as_micros()).unwrap();
        let wait = Duration::from_micros(self.random.below(longest));
        match way {
            Way::DropAfterPolls => {
                let mut start = pin!(start(&service, &contender));
                for _ in 0..self.random.below(4) {
                    if futures::poll!(&mut start).is_ready() {
                        service.stop().await.unwrap();
                        return true;
                    }
                    tokio::task::yield_now().await;
                }
                false
            }
            Way::DropAfterTime => {
                // A start takes far less than the wait for all that follows.
                let wait = wait / 10;
                tokio::select! {
                    biased;
                    () = pause(wait) => false,
                    () = start(&service, &contender) => {
                        service.stop().await.unwrap();
                        true
                    }
                }
            }
            Way::AbortAndStop => {
                let mut tasks = JoinSet::new();
                tasks.spawn({
                    let (service, contender) = (Arc::clone(&service), Arc::clone(&contender));
                    async move { start(&service, &contender).await }
                });
                pause(wait).await;
                tasks.shutdown().await;
                service.stop().await.unwrap();
                true
            }
            Way::StopMeanwhile => {
                futures::join!(start(&service, &contender), async {
                    pause(wait / 10).await;
                    service.stop().await.unwrap();
                });
                true
            }
            Way::StartAndStop => {
                start(&service, &contender).await;
                pause(wait).await;
                service.stop().await.unwrap();
                true
            }
            Way::DropEverything => {
                let next = self.process.new_election();
                let election = std::mem::replace(&mut self.election, next);
                tokio::select! {
                    biased;
                    () = pause(wait) => {}
                    () = async {
                        start(&service, &contender).await;
                        std::future::pending().await
                    } => {}
                }
                drop((service, contender, election));
                false
            }
        }
    }
}

/// Starts; that it was stopped meanwhile is as good.
async fn start(service: &Arc<dyn LeaderElectionService>, contender: &Arc<RecordingContender>) {
    if let Err(error) = contender.try_contend(service).await {
        assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
    }
}
