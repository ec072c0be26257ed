//! B52: a session that is over is noticed and replaced, by the same process, whoever ended it: another connection of
//! the same session, or a server that was away for longer than the session may be. (That the process was stopped, and
//! that a server put another session in its place, is provoked by `crash_points` and `zookeeper_election_faults`.)

use std::time::Duration;

use ha_core::ErrorKind;
use ha_core::ids::ComponentId;
use ha_core::services::HighAvailabilityServices as _;
use ha_testkit::contract::{checkpoint, graph, job};
use ha_testkit::fakes::ContenderCall;
use ha_zookeeper::client::ClientSource as _;
use integration_tests::{Ensemble, EnsembleOptions, eventually};

use crate::rig::{Cluster, Member};

const LONG: Duration = Duration::from_secs(60);

/// A leader with a job; `end` ends its session, or what it knows of it.
async fn goes_on_in_a_new_term(cluster: &mut Cluster, end: impl AsyncFnOnce(&mut Cluster, &Member)) {
    let leader = cluster.leader("a").await;
    let graphs = leader.job_graphs().await;
    graphs.put_job_graph(&graph(job(1), "a")).await.unwrap();
    let of_the_old_term = leader.checkpoints(job(1), 1).await;
    of_the_old_term
        .add_and_subsume(checkpoint(job(1), 1))
        .await
        .unwrap();
    let terms = leader.contender.sessions();
    end(cluster, &leader).await;

    // A stall may end the new term too. What counts is the one that lasts.
    eventually("it leads in another term", LONG, async || {
        let now = leader.services.session().client().await?.session_id();
        let standing = leader.contender.sessions();
        anyhow::ensure!(
            standing.len() > terms.len() && leader.leads().await,
            "{standing:?}"
        );
        // Nothing of the session before is left, and all that this one needs is its own.
        let latches = cluster.admin.children(&cluster.paths.latches()).await?;
        let info = cluster.paths.connection_info(&ComponentId::dispatcher());
        let info = cluster.admin.node(&info).await?;
        let owner = info.map(|info| info.stat.ephemeral_owner);
        anyhow::ensure!(
            latches.len() == 1 && owner == Some(now.0),
            "{latches:?}, {owner:?}"
        );
        Ok(())
    })
    .await
    .unwrap();
    let late = of_the_old_term.add_and_subsume(checkpoint(job(1), 2)).await;
    let error = late.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotLeader, "{error}");
    eventually("the new term goes on", LONG, async || {
        let store = leader.checkpoints(job(1), 1).await;
        if store.latest().await?.as_ref() == Some(&checkpoint(job(1), 1)) {
            store.add_and_subsume(checkpoint(job(1), 3)).await?;
        }
        anyhow::ensure!(store.latest().await? == Some(checkpoint(job(1), 3)));
        let recovered = graphs.recover_job_graph(job(1)).await?;
        anyhow::ensure!(recovered == Some(graph(job(1), "a")), "{recovered:?}");
        Ok(())
    })
    .await
    .unwrap();
    leader.services.close().await.unwrap();
}

/// ClickHouse#116690, strimzi-kafka-operator#339.
#[tokio::test(flavor = "multi_thread")]
async fn b52_a_session_that_another_connection_has_closed_is_replaced() {
    let mut cluster = Cluster::new().await;
    goes_on_in_a_new_term(&mut cluster, async |_, leader| {
        let old = leader.services.session().client().await.unwrap().session_id();
        // The server drops the connection for another one of its session; coming back would drop that one.
        leader.proxy.refuse(true);
        leader.proxy.close_session().await.unwrap();
        leader.proxy.refuse(false);
        eventually("another session", LONG, async || {
            let now = leader.services.session().client().await?.session_id();
            anyhow::ensure!(now != old, "{now}");
            Ok(())
        })
        .await
        .unwrap();
    })
    .await;
}

/// brooklin#699: the server was away for longer than the session may be, and comes back with a tree in which the session
/// still stands, for a while, and is attached to again: that is no reason to go on in the old term.
#[tokio::test(flavor = "multi_thread")]
async fn b52_a_server_that_was_away_for_longer_than_the_session_finds_the_process_again() {
    let ensemble = Ensemble::start(EnsembleOptions::standalone()).await.unwrap();
    let mut cluster = Cluster::on(ensemble).await;
    cluster.session_timeout = Duration::from_secs(4);
    goes_on_in_a_new_term(&mut cluster, async |cluster, leader| {
        cluster.ensemble.server(0).unwrap().kill().unwrap();
        leader
            .contender
            .wait_for_call("the revocation", |call| {
                matches!(call, ContenderCall::Revoked { .. })
            })
            .await;
        cluster.ensemble.server(0).unwrap().start().unwrap();
        cluster.ensemble.wait_until_serving().await.unwrap();
    })
    .await;
}
