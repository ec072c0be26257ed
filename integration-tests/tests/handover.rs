//! An orderly end: the leader that is asked to stop takes a checkpoint, gives leadership up, and another process
//! leads at once, whatever the session timeout is.

#![allow(clippy::print_stderr, reason = "the test tells how long it took")]

use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use integration_tests::waiting::now;
use integration_tests::{
    AdminClient, ClusterProcess, Ensemble, EnsembleOptions, TestCluster, TestJob, eventually, full_form,
    scaled, unstalled,
};

const SESSION_TIMEOUT: Duration = Duration::from_secs(40);
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// Asserted by the full form.
const TAKE_OVER: Duration = Duration::from_secs(1);
/// The checkpoint on the way out takes at most 5 s.
const EXIT_TIMEOUT: Duration = Duration::from_secs(15);
const END_TIMEOUT: Duration = Duration::from_secs(120);

/// The REST leader that a process knows by its own retrieval.
async fn known_rest_leader(client: &reqwest::Client, address: &str) -> Result<String> {
    let overview: serde_json::Value = client
        .get(format!("{address}/v1/overview"))
        .send()
        .await?
        .json()
        .await?;
    let leader = overview.pointer("/leaders/rest_server/address");
    Ok(leader
        .and_then(|leader| leader.as_str())
        .context("no REST leader is known")?
        .to_owned())
}

/// The address under which a process's own REST endpoint is reached.
async fn rest_address(process: &ClusterProcess) -> Result<String> {
    let line = process
        .output()
        .wait_for_line("the REST endpoint listens", START_TIMEOUT, |line| {
            line.contains("http://127.0.0.1:")
        })
        .await?;
    let start = line.find("http://127.0.0.1:").context("no address")?;
    let address: String = line
        .chars()
        .skip(line.get(..start).map_or(0, |head| head.chars().count()))
        .take_while(|c| !c.is_whitespace() && !"\"',}".contains(*c))
        .collect();
    Ok(address)
}

/// `HA_TEST_FULL=1` asserts the second. The short form, which runs on machines that stall, tells how long it took, and
/// asserts that no session had to expire for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigterm_hands_leadership_over_within_a_second() -> Result<()> {
    unstalled(async || {
        let ensemble = Ensemble::start(EnsembleOptions::standalone()).await?;
        let admin = AdminClient::connect(&ensemble.connect_string()).await?;
        let cluster = TestCluster::new(&ensemble.connect_string(), SESSION_TIMEOUT)?;
        let job = TestJob::create(
            cluster.folder(),
            "handover",
            7,
            2_000_000,
            Duration::from_secs(20),
        )?;
        let mut processes = ["one", "two", "three"]
            .iter()
            .map(|name| cluster.spawn(name, &[]))
            .collect::<Result<Vec<_>>>()?;
        let standing: Vec<_> = processes.iter().collect();
        let leader = cluster.wait_until_standing(&admin, &standing).await?;
        cluster.submit(&job).await?;
        let watch = cluster.watch_checkpoints(&admin, &job);
        eventually("a checkpoint", START_TIMEOUT, async || watch.newest().await).await?;

        let index = processes
            .iter()
            .position(|process| process.name() == leader.process)
            .context("the leader is one of them")?;
        let mut leaving = processes.remove(index);
        // Asked over and over, this one tells when a retriever knows the next REST leader.
        let observer = processes.first().context("two are left")?;
        let observer_address = rest_address(observer).await?;
        ha_services::choose_tls_provider();
        let client = reqwest::Client::new();
        ensure!(known_rest_leader(&client, &observer_address).await? == leader.address);

        let before = watch.newest().await?.id;
        leaving.process().terminate()?;
        eventually("the latch is given up", EXIT_TIMEOUT, async || {
            match admin.node(&leader.latch).await? {
                Some(_) => bail!("it is there"),
                None => Ok(()),
            }
        })
        .await?;
        let given_up = now();
        let limit = if full_form() {
            TAKE_OVER
        } else {
            SESSION_TIMEOUT / 2
        };
        let on_the_way_out = watch.newest().await?.id;
        let next = cluster
            .leader(&admin, "another process leads", limit, |next| {
                next.session_id != leader.session_id
            })
            .await?;
        let known = eventually("a retriever knows the next REST leader", limit, async || {
            let known = known_rest_leader(&client, &observer_address).await?;
            if known == leader.address {
                bail!("it knows the old one");
            }
            Ok(known)
        })
        .await?;
        let took = now().saturating_since(given_up);
        eprintln!("leadership was handed over in {took:?}");
        ensure!(took <= scaled(limit), "it took {took:?}");
        ensure!(known == next.address, "{known} is known, {} leads", next.address);

        let status = leaving.wait(EXIT_TIMEOUT).await?;
        ensure!(
            status.success(),
            "the leaving process ended with {status}: {}",
            leaving.output().end()
        );
        let completed = leaving
            .events()
            .into_iter()
            .rfind(|event| event.name == "checkpointCompleted");
        let completed = completed
            .and_then(|event| event.number("checkpointId"))
            .context("none completed")?;
        ensure!(
            completed > before && completed >= on_the_way_out,
            "no checkpoint on the way out: {completed} is the newest, it was {before} before"
        );
        let successor = processes
            .iter()
            .find(|process| process.name() == next.process)
            .context("the leader is one of them")?;
        let restored = successor
            .wait_for_event("checkpointRestored", 0, START_TIMEOUT, |event| {
                event.text("jobId") == job.id
            })
            .await?;
        ensure!(
            restored.number("checkpointId") == Some(completed),
            "the job went on from {restored:?}, not from {completed}"
        );
        cluster.wait_until_cleaned_up(&admin, &job, END_TIMEOUT).await?;
        watch.expect_strictly_increasing()?;
        job.verify_output()
    })
    .await
}
