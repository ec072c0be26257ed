//! B60: a restart of ZooKeeper's leader is no storm: a process reads again what it watches, once, whatever the number
//! of its retrievers and jobs. In the full form the other servers are restarted too.
#![allow(clippy::print_stderr, reason = "figures are printed")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use ha_core::configuration::Configuration;
use ha_core::environment::Environment;
use ha_core::ids::ComponentId;
use ha_core::services::HighAvailabilityServices as _;
use ha_testkit::contract::{graph, job};
use ha_testkit::fakes::{RecordingContender, RecordingJobGraphListener, RecordingListener};
use ha_zookeeper::client::ClientSource as _;
use ha_zookeeper::services::ZooKeeperHaServices;
use integration_tests::ensemble::four_letter_word;
use integration_tests::waiting::now;
use integration_tests::{Ensemble, EnsembleOptions, eventually, full_form, pause};

const LONG: Duration = Duration::from_secs(60);
/// Longer than any election of servers and stall of the machine, so that sessions outlive them.
const TIMEOUT: Duration = Duration::from_secs(40);
const RETRIEVERS: usize = 50;
const JOBS: u8 = 200;

/// The packets that these servers have received.
fn received(servers: &[SocketAddr]) -> Result<u64> {
    servers
        .iter()
        .map(|server| {
            let answer = four_letter_word(*server, "srvr")?;
            let line = answer.lines().find_map(|line| line.strip_prefix("Received: "));
            Ok(line.context("no counter")?.trim().parse::<u64>()?)
        })
        .sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn b60_a_restart_of_zookeepers_leader_makes_each_process_read_once() -> Result<()> {
    let mut ensemble = Ensemble::start(EnsembleOptions::three()).await?;
    let storage = tempfile::tempdir()?;
    let configuration = Configuration::new()
        .with("high-availability", "zookeeper")
        .with("high-availability.cluster-id", "storm")
        .with(
            "high-availability.storageDir",
            storage.path().display().to_string(),
        )
        .with("high-availability.zookeeper.quorum", ensemble.connect_string())
        .with(
            "high-availability.zookeeper.client.session-timeout",
            format!("{} ms", TIMEOUT.as_millis()),
        );
    let connect = || ZooKeeperHaServices::connect(&configuration, Environment::system());
    let (leader, follower) = (connect().await?, connect().await?);
    let contender = RecordingContender::confirming("http://leader:1");
    let election = leader.leader_election(ComponentId::dispatcher());
    contender.contend(&election).await;
    contender.wait_for_grant().await;
    let graphs = leader.job_graph_store();
    graphs.start(Arc::new(RecordingJobGraphListener::new())).await?;
    for number in 0..JOBS {
        graphs.put_job_graph(&graph(job(number), "payload")).await?;
    }
    let mut listeners = Vec::new();
    for _ in 0..RETRIEVERS {
        let retriever = follower.dispatcher_leader_retriever();
        let listener = RecordingListener::new();
        listener.listen(&retriever).await;
        listeners.push((retriever, listener));
    }
    for (_, listener) in &listeners {
        listener.wait_for_address("http://leader:1").await;
    }
    // What the jobs made the store read is over.
    pause(Duration::from_secs(1)).await;

    // Without their leader the other servers serve nobody, so that every session loses its server.
    let first = ensemble.leader().await?;
    for index in (first..first + if full_form() { 3 } else { 1 }).map(|index| index % 3) {
        let mut others = Vec::new();
        for other in (0..3).filter(|other| *other != index) {
            others.push(ensemble.server(other)?.address());
        }
        let began = now();
        let before = received(&others)?;
        ensemble.server(index)?.kill()?;
        // One answered question each, of few that may be lost with the connection.
        let mut own = 2;
        for services in [&leader, &follower] {
            eventually("the session is served again", LONG, async || {
                own += 1;
                let client = services.session().client().await?;
                client.exists(&services.paths().identity()).await?;
                Ok(())
            })
            .await?;
        }
        ensemble.server(index)?.start()?;
        ensemble.wait_until_serving().await?;
        // What was to be read is read.
        pause(Duration::from_secs(2)).await;
        let elapsed = now().saturating_since(began);
        let counted = received(&others)?.saturating_sub(before);
        // Per process: to connect, perhaps more than once, and arm its watches again; the leader reads its latch and
        // information, and its jobs: a sync, a listing, the pointers; the follower one component. Beside it heartbeats,
        // pings, and this test's own questions.
        eprintln!("server {index} restarted: {counted} packets in {elapsed:?}, {own} of them the test's own");
        let heartbeats = u64::try_from(elapsed.as_millis() / (TIMEOUT / 8).as_millis())?;
        ensure!(
            counted < 50 + 2 * own + 4 * heartbeats,
            "{counted} packets in {elapsed:?}"
        );
    }
    for (retriever, listener) in &listeners {
        // With tolerance nobody was told anything.
        ensure!(listener.leaders().len() == 1, "{:?}", listener.events());
        retriever.stop().await?;
    }
    ensure!(contender.sessions().len() == 1, "leadership moved");
    ensure!(graphs.job_ids().await?.len() == usize::from(JOBS));
    graphs.stop().await?;
    follower.close().await?;
    leader.close().await?;
    Ok(())
}
