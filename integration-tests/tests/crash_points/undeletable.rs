//! B32, the part of a deletion that fails: a file of a job that has ended cannot be deleted for a while.
//!
//! Right: no pointer names what is gone, the end stands, the process goes on and says which file it is; whoever leads
//! when the file can be deleted completes the clean-up.
//!
//! Sources: FLINK-26284 (flink#18869), FLINK-27051 (flink#22121).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use integration_tests::{ClusterProcess, TestJob};

use super::place::Place;

const TIMEOUT: Duration = Duration::from_secs(60);

/// A file that nobody can delete, root neither, until this is dropped.
struct Undeletable(PathBuf);

impl Undeletable {
    fn new(file: &Path) -> Result<Self> {
        set_attribute("+i", file)?;
        Ok(Self(file.to_owned()))
    }
}

impl Drop for Undeletable {
    fn drop(&mut self) {
        // Else the temporary folder stays, and the test that waits for the deletion fails.
        let _ = set_attribute("-i", &self.0);
    }
}

fn set_attribute(attribute: &str, file: &Path) -> Result<()> {
    let set = Command::new("chattr").arg(attribute).arg(file).output();
    let set = set.context("cannot run chattr")?;
    ensure!(
        set.status.success(),
        "chattr {attribute} {} (this needs root, and a file system with attributes): {}",
        file.display(),
        String::from_utf8_lossy(&set.stderr)
    );
    Ok(())
}

/// The clean-up fails at `file`, which it names.
async fn expect_to_wait(process: &ClusterProcess, file: &Path) -> Result<()> {
    let file = file.to_str().context("a path")?;
    process
        .wait_for_event("jobWaits", 0, TIMEOUT, |event| event.text("error").contains(file))
        .await?;
    Ok(())
}

async fn clean_up_waits_for_the_file(place: Place) -> Result<()> {
    let cluster = &place.cluster;
    let job = TestJob::create(cluster.folder(), "short", 32, 40_000, Duration::from_secs(2))?
        .with_checkpoint_interval(Duration::from_millis(50))?;
    let file = job.file.display().to_string();
    let arguments = ["--job", &file, "--exit-when-idle"];
    let mut first = cluster.spawn("one", &arguments)?;
    first
        .wait_for_event("checkpointCompleted", 0, TIMEOUT, |_| true)
        .await?;
    let graphs: Vec<_> = cluster.files()?;
    let graph = graphs
        .iter()
        .find(|file| file.contains("/jobgraphs/") && file.contains(&job.id))
        .context("the file of the job graph")?;
    let graph = cluster.storage().join(graph);
    let undeletable = Undeletable::new(&graph)?;
    expect_to_wait(&first, &graph).await?;
    let state = place.snapshot().await?.job(&job.id);
    ensure!(state.end.is_some() && !state.is_clean, "{state:?}");
    ensure!(first.process().is_alive(), "it ended: {}", first.output().end());
    first.process().kill()?;
    place.end_session(true).await?;

    let mut second = cluster.spawn("two", &arguments)?;
    expect_to_wait(&second, &graph).await?;
    ensure!(graph.exists());
    drop(undeletable);
    let status = second.wait(TIMEOUT).await?;
    ensure!(
        status.success(),
        "it ended with {status}: {}",
        second.output().end()
    );
    ensure!(!graph.exists());
    let snapshot = place.snapshot().await?;
    let state = snapshot.job(&job.id);
    ensure!(
        state.is_clean && state.end.as_deref() == Some("SUCCEEDED") && !snapshot.left.contains(&job.id),
        "{snapshot:?}"
    );
    let runs = |process: &ClusterProcess| {
        let events = process.events().into_iter();
        events.filter(|event| event.name == "jobStarted").count()
    };
    ensure!(
        (runs(&first), runs(&second)) == (1, 0),
        "a job that has ended ran again"
    );
    job.verify_output()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b32_a_file_that_cannot_be_deleted_delays_the_clean_up_and_is_named_in_zookeeper_mode() -> Result<()>
{
    clean_up_waits_for_the_file(Place::in_zookeeper_mode().await?).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b32_a_file_that_cannot_be_deleted_delays_the_clean_up_and_is_named_in_filesystem_mode() -> Result<()>
{
    clean_up_waits_for_the_file(Place::in_filesystem_mode()?).await
}
