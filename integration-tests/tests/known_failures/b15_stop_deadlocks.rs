//! B15. Symptom: `close` or the revocation never returns, and the process is half alive: callbacks and `stop` wait
//! for each other.
//!
//! Provoked, many times (1,000 in the full form): `stop` inside the grant and inside the revocation; `stop` at the
//! same time as a grant, and as the revocation that a deleted latch brings. Every callback asks `has_leadership`,
//! and grants confirm.
//!
//! Right: nothing blocks; no callback begins after `stop` has returned; nothing of it stays in ZooKeeper.
//!
//! Sources: FLINK-20008 (flink#13968), FLINK-32311 (flink#22769), FLINK-34672 (flink#24561), FLINK-34007
//! (flink#24132).

use std::sync::Arc;
use std::time::Duration;

use ha_core::election::LeaderElectionService;
use ha_core::ids::ComponentId;
use ha_testkit::fakes::{Behaviour, ContenderCall, Recorder, RecordingContender, SeededIdSource};
use integration_tests::{AdminClient, Ensemble, eventually, full_form, pause, scaled, seed};

use crate::zookeeper::{AT_ONCE, Process, new_cluster, options};

/// No call may block for so long.
const BOUND: Duration = Duration::from_secs(20);

/// What the rounds of one test share.
struct Rounds {
    /// The server ends soon after the last one that holds it.
    _ensemble: Ensemble,
    process: Process,
    admin: AdminClient,
    random: SeededIdSource,
    count: usize,
    /// The contenders of earlier rounds, and what each had been told when its `stop` had returned.
    stopped: Vec<(Arc<RecordingContender>, Vec<ContenderCall>)>,
}

impl Rounds {
    async fn new() -> Self {
        let seed = seed().unwrap();
        println!("HA_TEST_SEED={seed}");
        let ensemble = Ensemble::shared().await.unwrap();
        let servers = ensemble.connect_string();
        let options = options(&servers, Duration::from_secs(40));
        Self {
            process: Process::connect("a", &new_cluster(), options).await,
            admin: AdminClient::connect(&servers).await.unwrap(),
            random: SeededIdSource::new(seed),
            count: if full_form() { 1000 } else { 20 },
            stopped: Vec::new(),
            _ensemble: ensemble,
        }
    }

    /// A contender that stands in the election of this round.
    async fn stand(
        &self,
        on_grant: Behaviour,
        on_revoke: Behaviour,
    ) -> (Arc<RecordingContender>, Arc<dyn LeaderElectionService>) {
        let service = self.process.election.election(ComponentId::dispatcher());
        let contender = RecordingContender::with("http://a:1", &Recorder::new(), on_grant, on_revoke);
        contender.contend(&service).await;
        (contender, service)
    }

    /// The latches that stand.
    async fn latches(&self) -> Vec<String> {
        let latches = self.process.paths.latches();
        let names = self.admin.children(&latches).await.unwrap();
        names.iter().map(|name| self.process.paths.latch(name)).collect()
    }

    async fn delete_latches(&self) {
        for latch in self.latches().await {
            // Its owner may be faster.
            let _ = self.admin.delete(&latch).await;
        }
    }

    /// Some time in which about as much happens as in a start or a stop.
    async fn moment(&self) {
        pause(Duration::from_micros(self.random.next_u64() % 10_000)).await;
    }

    /// Its `stop` has returned.
    async fn ended(&mut self, contender: Arc<RecordingContender>) {
        let calls = contender.calls();
        self.stopped.push((contender, calls));
    }

    async fn nothing_stands(&self) {
        eventually("no latch stands", AT_ONCE, async || {
            let latches = self.latches().await;
            anyhow::ensure!(latches.is_empty(), "{latches:?}");
            Ok(())
        })
        .await
        .unwrap();
    }

    /// Nobody was called after his `stop`.
    async fn check(self) {
        self.process.close().await;
        for (round, (contender, calls)) in self.stopped.iter().enumerate() {
            assert_eq!(&contender.calls(), calls, "called after stop, round {round}");
        }
    }
}

async fn within_bound<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(scaled(BOUND), future)
        .await
        .unwrap_or_else(|_| panic!("blocked: {what}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn b15_stop_inside_a_callback_blocks_nothing() {
    let mut rounds = Rounds::new().await;
    for round in 0..rounds.count {
        let (contender, service) = if round % 2 == 0 {
            let (contender, service) = rounds.stand(Behaviour::Stop, Behaviour::Record).await;
            contender
                .wait_for_call("the grant returned", |call| *call == ContenderCall::GrantReturned)
                .await;
            (contender, service)
        } else {
            let (contender, service) = rounds.stand(Behaviour::Confirm, Behaviour::Stop).await;
            contender
                .wait_for_call("the grant returned", |call| *call == ContenderCall::GrantReturned)
                .await;
            rounds.delete_latches().await;
            contender
                .wait_for_call("the revocation returned", |call| {
                    *call == ContenderCall::RevokeReturned
                })
                .await;
            (contender, service)
        };
        // The one that stops inside a callback waits for nothing; this one finds it stopped.
        within_bound("stop after stop", service.stop()).await.unwrap();
        rounds.ended(contender).await;
        rounds.nothing_stands().await;
    }
    rounds.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b15_stop_beside_a_grant_blocks_nothing() {
    let mut rounds = Rounds::new().await;
    for _ in 0..rounds.count {
        let (contender, service) = rounds.stand(Behaviour::Confirm, Behaviour::Record).await;
        rounds.moment().await;
        within_bound("stop", service.stop()).await.unwrap();
        rounds.ended(contender).await;
        assert_eq!(rounds.latches().await, [""; 0], "stop has given the election up");
    }
    rounds.check().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b15_stop_beside_a_revocation_blocks_nothing() {
    let mut rounds = Rounds::new().await;
    for _ in 0..rounds.count {
        let (contender, service) = rounds.stand(Behaviour::Confirm, Behaviour::Record).await;
        contender.wait_for_grant().await;
        let stopping = async {
            rounds.moment().await;
            within_bound("stop", service.stop()).await.unwrap();
            contender.calls()
        };
        let (calls, ()) = futures::join!(stopping, rounds.delete_latches());
        rounds.stopped.push((contender, calls));
        assert_eq!(rounds.latches().await, [""; 0], "stop has given the election up");
    }
    rounds.check().await;
}
