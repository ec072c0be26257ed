//! B16. Symptom: leadership is lost and regained at once, and the job graph vanishes: what ends the first term
//! runs after the recovery of the second, and acts on the same names.
//!
//! Provoked: the leader's latch is deleted, so that the same process leads again within milliseconds; removals of
//! the first term are made half a second later, by its stores, or are sent in the first term and arrive then.
//!
//! Right: the second grant waits until the revocation of the first has returned, and whatever a store of the first
//! term does in the second is refused (`NotLeader`, not applied) and changes nothing.
//!
//! Sources: FLINK-11665 (flink#7889), FLINK-11843 (flink#9832), FLINK-39704.

use std::sync::Arc;
use std::time::Duration;

use ha_core::checkpoints::{CheckpointIdCounter, CompletedCheckpointStore};
use ha_core::configuration::{Configuration, HighAvailabilityOptions as Options};
use ha_core::environment::Environment;
use ha_core::ids::{ClusterId, ComponentId};
use ha_core::jobs::{JobGraphStore, JobStatus};
use ha_core::services::HighAvailabilityServices as _;
use ha_core::{Error, ErrorKind};
use ha_testkit::contract::{checkpoint, graph, job};
use ha_testkit::fakes::{
    Behaviour, ContenderCall, Gate, Recorder, RecordingContender, RecordingJobGraphListener,
};
use ha_zookeeper::paths::ClusterPaths;
use ha_zookeeper::services::ZooKeeperHaServices;
use integration_tests::proxy::{Direction, FaultProxy, RequestFilter, RequestKind};
use integration_tests::{AdminClient, Ensemble, pause, unique_name};
use tempfile::TempDir;

/// How late the removals of the first term come, and in what time a second term would begin that did not wait.
const LATE: Duration = Duration::from_millis(500);
const ROOT: &str = "/ha-test";

struct Cluster {
    proxy: FaultProxy,
    admin: AdminClient,
    paths: ClusterPaths,
    services: Arc<ZooKeeperHaServices>,
    _storage: TempDir,
    _ensemble: Ensemble,
}

/// The stores of one term.
struct Stores {
    graphs: Arc<dyn JobGraphStore>,
    checkpoints: Arc<dyn CompletedCheckpointStore>,
    counter: Arc<dyn CheckpointIdCounter>,
}

impl Cluster {
    async fn new() -> Self {
        let ensemble = Ensemble::shared().await.unwrap();
        let proxy = FaultProxy::start(&ensemble.connect_string()).await.unwrap();
        let storage = tempfile::tempdir().unwrap();
        let id = unique_name("b16");
        let configuration = Configuration::new()
            .with(Options::HA_MODE.key(), "zookeeper")
            .with(Options::HA_CLUSTER_ID.key(), &id)
            .with(Options::HA_STORAGE_PATH.key(), storage.path().to_str().unwrap())
            .with(Options::HA_ZOOKEEPER_QUORUM.key(), proxy.address())
            .with(Options::HA_ZOOKEEPER_ROOT.key(), ROOT)
            .with(Options::HA_ZOOKEEPER_SESSION_TIMEOUT.key(), "40 s")
            .with(Options::HA_ZOOKEEPER_SERVER_TICK_TIME.key(), "500 ms");
        Self {
            admin: AdminClient::connect(&ensemble.connect_string()).await.unwrap(),
            paths: ClusterPaths::new("", ROOT, &ClusterId::new(&id).unwrap()).unwrap(),
            services: ZooKeeperHaServices::connect(&configuration, Environment::system())
                .await
                .unwrap(),
            proxy,
            _storage: storage,
            _ensemble: ensemble,
        }
    }

    async fn stand(&self, on_revoke: Behaviour) -> Arc<RecordingContender> {
        let election = self.services.leader_election(ComponentId::dispatcher());
        let contender =
            RecordingContender::with("http://a:1", &Recorder::new(), Behaviour::Confirm, on_revoke);
        contender.contend(&election).await;
        contender
    }

    async fn stores(&self) -> Stores {
        let graphs = self.services.job_graph_store();
        graphs
            .start(Arc::new(RecordingJobGraphListener::new()))
            .await
            .unwrap();
        let factory = self.services.checkpoint_recovery_factory();
        let checkpoints = factory
            .create_recovered_completed_checkpoint_store(job(1), 1)
            .await
            .unwrap();
        let counter = factory.create_checkpoint_id_counter(job(1)).await.unwrap();
        counter.start().await.unwrap();
        Stores {
            graphs,
            checkpoints,
            counter,
        }
    }

    /// Ends the present term from outside.
    async fn delete_latch(&self) {
        let latches = self.admin.children(&self.paths.latches()).await.unwrap();
        assert_eq!(latches.len(), 1, "{latches:?}");
        self.admin.delete(&self.paths.latch(&latches[0])).await.unwrap();
    }
}

fn assert_refused<T>(outcome: Result<T, Error>, what: &str) {
    let error = outcome.err().unwrap_or_else(|| panic!("{what} was let through"));
    assert_eq!(error.kind(), ErrorKind::NotLeader, "{what}: {error}");
    assert!(error.is_safe_to_repeat(), "{what}: {error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn b16_what_the_first_term_removes_in_the_second_is_refused() {
    let cluster = Cluster::new().await;
    let contender = cluster.stand(Behaviour::Record).await;
    contender.wait_for_grant().await;
    let first = cluster.stores().await;
    first.graphs.put_job_graph(&graph(job(1), "a")).await.unwrap();
    first.graphs.put_job_graph(&graph(job(2), "a")).await.unwrap();
    first
        .checkpoints
        .add_and_subsume(checkpoint(job(1), 1))
        .await
        .unwrap();

    cluster.delete_latch().await;
    contender.wait_for_grants(2).await;
    let second = cluster.stores().await;
    let recovered = second.graphs.recover_job_graph(job(1)).await.unwrap();
    assert_eq!(recovered, Some(graph(job(1), "a")));
    let nodes = async || {
        let mut nodes = cluster.admin.walk(cluster.paths.cluster()).await.unwrap();
        nodes.retain(|node| !node.path.starts_with(&cluster.paths.leader()));
        nodes
    };
    let before = nodes().await;

    pause(LATE).await;
    assert_refused(first.graphs.remove_job_graph(job(1)).await, "remove");
    assert_refused(first.graphs.put_job_graph(&graph(job(1), "b")).await, "replace");
    let shutdown = first.checkpoints.shutdown(JobStatus::Finished).await;
    assert_refused(shutdown, "shutdown of the checkpoints");
    let shutdown = first.counter.shutdown(JobStatus::Finished).await;
    assert_refused(shutdown, "shutdown of the counter");
    AdminClient::expect_unchanged(&before, &nodes().await).unwrap();
    let newest = second.checkpoints.latest().await.unwrap();
    assert_eq!(newest, Some(checkpoint(job(1), 1)));
    let recovered = second.graphs.recover_job_graph(job(1)).await.unwrap();
    assert_eq!(recovered, Some(graph(job(1), "a")));

    // Who recovered it in the present term may remove it, be it with a store that is older.
    second.graphs.remove_job_graph(job(1)).await.unwrap();
    first.graphs.recover_job_graph(job(2)).await.unwrap();
    first.graphs.remove_job_graph(job(2)).await.unwrap();
    cluster.services.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn b16_a_removal_that_was_sent_in_the_first_term_and_arrives_later_is_refused() {
    let cluster = Cluster::new().await;
    let contender = cluster.stand(Behaviour::Record).await;
    contender.wait_for_grant().await;
    let first = cluster.stores().await;
    first.graphs.put_job_graph(&graph(job(1), "a")).await.unwrap();
    let removals = RequestFilter::from(RequestKind::Multi).about(&cluster.paths.job_graph(job(1)));
    let sent = cluster.proxy.arrival(removals, 1);
    cluster.proxy.hold(Direction::ToServer, true);
    let (removal, ()) = futures::join!(first.graphs.remove_job_graph(job(1)), async {
        sent.happened().await.unwrap();
        cluster.delete_latch().await;
        cluster.proxy.hold_both(false);
    });
    assert_refused(removal, "remove");
    contender.wait_for_grants(2).await;
    let second = cluster.stores().await;
    let recovered = second.graphs.recover_job_graph(job(1)).await.unwrap();
    assert_eq!(recovered, Some(graph(job(1), "a")));
    cluster.services.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn b16_the_second_term_begins_when_the_first_has_ended() {
    let cluster = Cluster::new().await;
    let gate = Gate::new();
    let contender = cluster.stand(Behaviour::Block(gate.clone())).await;
    contender.wait_for_grant().await;
    cluster.delete_latch().await;
    contender
        .wait_for_call("revoked", |call| matches!(call, ContenderCall::Revoked { .. }))
        .await;
    pause(LATE).await;
    assert_eq!(
        contender.sessions().len(),
        1,
        "granted while the revocation goes on"
    );
    let latches = cluster.admin.children(&cluster.paths.latches()).await.unwrap();
    assert_eq!(
        latches, [""; 0],
        "it contends anew once the revocation has returned"
    );
    gate.open();
    contender.wait_for_grants(2).await;
    let calls = contender.calls();
    let place = |wanted: fn(&ContenderCall) -> bool| calls.iter().rposition(wanted).unwrap();
    let returned = place(|call| *call == ContenderCall::RevokeReturned);
    let granted = place(|call| matches!(call, ContenderCall::Granted { .. }));
    assert!(returned < granted, "{calls:?}");
    cluster.services.close().await.unwrap();
}
