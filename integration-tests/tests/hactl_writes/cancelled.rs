use std::time::Duration;

use anyhow::{Result, ensure};
use integration_tests::{AdminClient, Ensemble, TestCluster, TestJob};

use super::made::TIMEOUT;

/// Long: a stall ends no leadership here.
const SESSION_TIMEOUT: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_job_is_cancelled_by_its_leader_and_forgotten_by_nobody() -> Result<()> {
    let ensemble = Ensemble::shared().await?;
    let admin = AdminClient::connect(&ensemble.connect_string()).await?;
    let cluster = TestCluster::new(&ensemble.connect_string(), SESSION_TIMEOUT)?;
    let mut process = cluster.spawn("one", &[])?;
    cluster.wait_until_standing(&admin, &[&process]).await?;
    let job = TestJob::create(cluster.folder(), "text", 5, 500_000, Duration::from_secs(300))?;
    cluster.submit(&job).await?;

    // A dry run, and what must not be done to a running cluster.
    let planned = cluster.hactl(&["job", "cancel", &job.id]).await?;
    let request = planned["changes"][0]["path"].as_str().unwrap_or_default();
    ensure!(
        request.starts_with("DELETE http://") && request.ends_with(&job.id),
        "{planned:#}"
    );
    let forgotten = cluster
        .run("hactl", &["job", "forget", &job.id, "--apply"])
        .await?;
    let text = String::from_utf8(forgotten.stderr)?;
    ensure!(forgotten.status.code() == Some(1), "{text}");
    ensure!(text.contains("the leader \"one\""), "{text}");
    let unknown = "00000000000000000000000000000009";
    let output = cluster
        .run("hactl", &["job", "cancel", unknown, "--apply"])
        .await?;
    ensure!(output.status.code() == Some(1), "{output:?}");
    let again = cluster.hactl(&["job", "cancel", &job.id]).await?;
    ensure!(again["job"]["status"] != "CANCELED", "{again:#}");

    let done = cluster.hactl(&["job", "cancel", &job.id, "--apply"]).await?;
    ensure!(done["job"]["status"] == "CANCELED", "{done:#}");
    ensure!(done["changes"][0]["outcome"] == "applied", "{done:#}");
    cluster.wait_until_cleaned_up(&admin, &job, TIMEOUT).await?;
    let results = cluster.hactl(&["results"]).await?;
    ensure!(results.to_string().contains("CANCELED"), "{results:#}");
    // It has ended: once more changes nothing.
    let once_more = cluster
        .run("hactl", &["job", "cancel", &job.id, "--apply"])
        .await?;
    ensure!(once_more.status.code() == Some(0), "{once_more:?}");

    process.process().terminate()?;
    process.wait(TIMEOUT).await?;
    let line = ["job", "cancel", &job.id, "--timeout", "100 ms", "--apply"];
    let output = cluster.run("hactl", &line).await?;
    ensure!(output.status.code() == Some(3), "{output:?}");
    Ok(())
}
