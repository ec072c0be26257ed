use std::time::Duration;

use anyhow::{Result, ensure};
use integration_tests::{AdminClient, Ensemble, TestCluster, TestJob};

use super::made::TIMEOUT;

/// Long: a stall ends no leadership here.
const SESSION_TIMEOUT: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leadership_moves_to_whoever_is_next_and_to_a_named_process_and_a_job_ends_as_it_should() -> Result<()>
{
    let ensemble = Ensemble::shared().await?;
    let admin = AdminClient::connect(&ensemble.connect_string()).await?;
    let cluster = TestCluster::new(&ensemble.connect_string(), SESSION_TIMEOUT)?;
    let processes = ["one", "two", "three"].map(|name| cluster.spawn(name, &[]).unwrap());
    let first = cluster
        .wait_until_standing(&admin, &processes.iter().collect::<Vec<_>>())
        .await?;
    let job = TestJob::create(cluster.folder(), "text", 9, 200_000, Duration::from_secs(5))?;
    cluster.submit(&job).await?;

    let planned = cluster.hactl(&["switchover"]).await?;
    ensure!(planned["led"]["name"] == first.process.as_str(), "{planned:#}");
    ensure!(
        cluster.leader_now(&admin).await? == first,
        "a dry run moved leadership"
    );

    let moved = cluster.hactl(&["switchover", "--apply"]).await?;
    let second = cluster
        .leader(&admin, "another one leads", TIMEOUT, |leader| {
            leader.session_id != first.session_id
        })
        .await?;
    ensure!(moved["led"]["name"] == first.process.as_str(), "{moved:#}");
    ensure!(moved["leads"]["name"] == second.process.as_str(), "{moved:#}");
    ensure!(second.process != first.process);

    // Back, past whoever is next.
    cluster
        .wait_until_standing(&admin, &processes.iter().collect::<Vec<_>>())
        .await?;
    let moved = cluster
        .hactl(&["switchover", "--to", &first.process, "--apply"])
        .await?;
    ensure!(moved["leads"]["name"] == first.process.as_str(), "{moved:#}");
    let asked = moved["changes"].as_array().map(Vec::len);
    ensure!(asked == Some(2), "the one between, and the leader: {moved:#}");

    // By force: the latch is deleted, whatever its owner does.
    let standing = cluster
        .wait_until_standing(&admin, &processes.iter().collect::<Vec<_>>())
        .await?;
    let moved = cluster.hactl(&["switchover", "--force", "--apply"]).await?;
    ensure!(moved["changes"][0]["action"] == "deleteZnode", "{moved:#}");
    ensure!(
        moved["changes"][0]["path"] == standing.latch.as_str(),
        "{moved:#}"
    );
    ensure!(moved["leads"]["name"] != first.process.as_str(), "{moved:#}");

    let output = cluster
        .run("hactl", &["switchover", "--to", "nobody", "--apply"])
        .await?;
    ensure!(output.status.code() == Some(2), "{output:?}");

    cluster.wait_until_cleaned_up(&admin, &job, TIMEOUT).await?;
    job.verify_output()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_leader_or_anybody_to_take_over_leadership_is_not_moved() -> Result<()> {
    let ensemble = Ensemble::shared().await?;
    let admin = AdminClient::connect(&ensemble.connect_string()).await?;
    let cluster = TestCluster::new(&ensemble.connect_string(), SESSION_TIMEOUT)?;
    let mut process = cluster.spawn("one", &[])?;
    let leader = cluster.wait_until_standing(&admin, &[&process]).await?;
    let output = cluster.run("hactl", &["switchover", "--apply"]).await?;
    ensure!(output.status.code() == Some(1), "{output:?}");
    ensure!(cluster.leader_now(&admin).await? == leader);
    process.process().terminate()?;
    process.wait(TIMEOUT).await?;
    let output = cluster
        .run("hactl", &["switchover", "--timeout", "100 ms", "--apply"])
        .await?;
    ensure!(output.status.code() == Some(3), "{output:?}");
    Ok(())
}
