//! What an operator sees and does with ZooKeeper's own tools.

#![allow(clippy::print_stderr, reason = "the test tells how long it took")]

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use integration_tests::waiting::now;
use integration_tests::zk_cli::zk_cli;
use integration_tests::{
    AdminClient, ClusterProcess, Ensemble, EnsembleOptions, TestCluster, TestJob, eventually, full_form,
    scaled, unstalled,
};

/// Long: where it ends by itself, nothing moves soon.
const SESSION_TIMEOUT: Duration = Duration::from_secs(40);
const TIMEOUT: Duration = Duration::from_secs(30);

fn spawn_three(cluster: &TestCluster) -> Result<Vec<ClusterProcess>> {
    ["one", "two", "three"]
        .iter()
        .map(|name| cluster.spawn(name, &[]))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_znode_reads_as_text_with_zookeepers_own_client() -> Result<()> {
    let ensemble = Ensemble::start(EnsembleOptions::standalone()).await?;
    let admin = AdminClient::connect(&ensemble.connect_string()).await?;
    let cluster = TestCluster::new(&ensemble.connect_string(), SESSION_TIMEOUT)?;
    let processes = spawn_three(&cluster)?;
    cluster
        .wait_until_standing(&admin, &processes.iter().collect::<Vec<_>>())
        .await?;
    let job = TestJob::create(cluster.folder(), "text", 3, 2_000_000, Duration::from_secs(120))?;
    cluster.submit(&job).await?;
    let watch = cluster.watch_checkpoints(&admin, &job);
    eventually("a checkpoint", TIMEOUT, async || watch.newest().await).await?;
    let nodes = admin.walk(&cluster.znode("")).await?;
    let names: Vec<_> = nodes.iter().map(|node| node.path.as_str()).collect();
    for expected in [
        "/identity",
        "/leader/dispatcher/connection_info",
        "/checkpoint_id_counter",
        "-latch-",
        "/checkpoints/",
    ] {
        ensure!(
            names.iter().any(|path| path.contains(expected)),
            "no {expected} in {names:?}"
        );
    }
    for node in &nodes {
        ensure!(
            node.data.len() <= 8192,
            "{} has {} bytes",
            node.path,
            node.data.len()
        );
        let text = std::str::from_utf8(&node.data).with_context(|| node.path.clone())?;
        ensure!(
            !text.chars().any(char::is_control),
            "{} holds {text:?}",
            node.path
        );
        // Checkpoints come and go: what they look like is checked above, and by the one below that stays.
        if text.is_empty() || node.path.contains("/checkpoint") {
            continue;
        }
        let shown = zk_cli(&ensemble.connect_string(), &["get", &node.path])?;
        let shown = String::from_utf8(shown).with_context(|| node.path.clone())?;
        ensure!(
            shown.lines().any(|line| line == text),
            "{} is shown as {shown}, it is {text}",
            node.path
        );
    }
    let counter = cluster.znode(&format!("jobs/{}/checkpoint_id_counter", job.id));
    let shown = String::from_utf8(zk_cli(&ensemble.connect_string(), &["get", &counter])?)?;
    ensure!(
        shown.lines().any(|line| line.parse::<u64>().is_ok()),
        "the counter is shown as {shown}"
    );
    let listed = zk_cli(
        &ensemble.connect_string(),
        &["ls", &cluster.znode(&format!("jobs/{}", job.id))],
    )?;
    ensure!(String::from_utf8(listed)?.contains("[checkpoint_id_counter, checkpoints]"));
    Ok(())
}

/// `HA_TEST_FULL=1` asserts the two seconds. The short form, which runs on machines that stall, tells how long it took,
/// and asserts that no session had to expire for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleting_the_leaders_latch_moves_leadership_within_2_s() -> Result<()> {
    unstalled(async || {
        let ensemble = Ensemble::start(EnsembleOptions::standalone()).await?;
        let admin = AdminClient::connect(&ensemble.connect_string()).await?;
        let cluster = TestCluster::new(&ensemble.connect_string(), SESSION_TIMEOUT)?;
        let mut processes = spawn_three(&cluster)?;
        let leader = cluster
            .wait_until_standing(&admin, &processes.iter().collect::<Vec<_>>())
            .await?;
        let started = now();
        admin.delete(&leader.latch).await?;
        let bound = if full_form() {
            Duration::from_secs(2)
        } else {
            SESSION_TIMEOUT / 2
        };
        let next = cluster
            .leader(&admin, "another process leads", bound, |next| {
                next.process != leader.process && next.session_id != leader.session_id
            })
            .await?;
        let took = now().saturating_since(started);
        eprintln!("{} leads after {took:?}", next.process);
        ensure!(took <= scaled(bound), "{} leads after {took:?}", next.process);
        // The deposed process goes on living, and stands in the election again.
        let latches = cluster.znode("leader/latch");
        eventually("three stand in the election again", TIMEOUT, async || {
            ensure!(admin.children(&latches).await?.len() == 3);
            Ok(())
        })
        .await?;
        for process in &mut processes {
            ensure!(process.process().is_alive(), "{} has ended", process.name());
        }
        Ok(())
    })
    .await
}
