//! The mode `filesystem`: one process, files that outlive it.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use integration_tests::{ClusterProcess, TestCluster, TestJob};

const TIMEOUT: Duration = Duration::from_secs(30);
const END_TIMEOUT: Duration = Duration::from_secs(120);

async fn completed(process: &ClusterProcess) -> Result<u64> {
    let event = process
        .wait_for_event("checkpointCompleted", 0, TIMEOUT, |event| {
            event.number("checkpointId") >= Some(3)
        })
        .await?;
    event.number("checkpointId").context("no id")
}

#[tokio::test]
async fn killed_process_goes_on_from_its_newest_checkpoint() -> Result<()> {
    let cluster =
        TestCluster::new("127.0.0.1:1", Duration::from_secs(6))?.with("high-availability", "filesystem");
    let job = TestJob::create(cluster.folder(), "files", 11, 1_000_000, Duration::from_secs(8))?;
    let file = job.file.display().to_string();
    let arguments = ["--job", file.as_str(), "--exit-when-idle"];
    let mut first = cluster.spawn("one", &arguments)?;
    let acknowledged = completed(&first).await?;

    let jobs = cluster.hactl(&["jobs"]).await?;
    let field = |name: &str| {
        jobs.pointer(&format!("/jobs/0/{name}"))
            .and_then(|value| value.as_str())
    };
    ensure!(
        field("id") == Some(job.id.as_str())
            && field("status") == Some("RUNNING")
            && field("name") == Some("files"),
        "hactl shows {jobs}"
    );
    ensure!(
        jobs.get("broken") == Some(&serde_json::json!([])),
        "hactl shows {jobs}"
    );

    // The lock of the operating system keeps a second process out.
    let mut second = cluster.spawn("two", &[])?;
    let refused = second.wait(TIMEOUT).await?;
    ensure!(
        refused.code() == Some(1),
        "the second process ended with {refused}: {}",
        second.output().end()
    );

    first.process().kill()?;
    let mut successor = cluster.spawn("one", &arguments)?;
    let restored = successor
        .wait_for_event("checkpointRestored", 0, TIMEOUT, |event| {
            event.text("jobId") == job.id
        })
        .await?;
    ensure!(
        restored.number("checkpointId") >= Some(acknowledged),
        "{restored:?} after {acknowledged}"
    );
    let status = successor.wait(END_TIMEOUT).await?;
    ensure!(
        status.success(),
        "it ended with {status}: {}",
        successor.output().end()
    );
    job.verify_output()?;
    let left: Vec<_> = cluster
        .files()?
        .into_iter()
        .filter(|path| path.contains(&job.id))
        .collect();
    let clean = format!("job-results-store/{}/{}.json", cluster.cluster_id(), job.id);
    ensure!(left == [clean], "{left:?}");
    let results = cluster.hactl(&["results"]).await?;
    ensure!(
        results
            .pointer("/results/0/cleanUp")
            .and_then(|value| value.as_str())
            == Some("DONE"),
        "hactl shows {results}"
    );
    Ok(())
}
