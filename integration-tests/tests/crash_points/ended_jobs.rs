//! Processes that stand still or are killed around the end of a job: it never runs again.
//!
//! B41. Symptom: a job has ended, leadership is lost before the result is written, and the next leader runs the job
//! again.
//!
//! Provoked: the process stands still before the end is decided, or between the decision and the result file, until
//! another one leads.
//!
//! Right: where the end was decided the next leader only cleans up; where it was not, the job goes on from its
//! newest checkpoint and ends once. What the first process does when it goes on changes no end. (The file that it was
//! about to write cannot be fenced: it may come to stand beside the clean result, which counts.)
//!
//! B42. Symptom: after a restart a job that has ended runs again, or nobody is told why it does not.
//!
//! Provoked: kill -9 after each step of the end and of the clean-up; restart with the same job.
//!
//! Right: the clean-up is completed, the job does not run, and `run` says so. With delete-on-commit nothing is known
//! of it after the last step, and it runs again, as documented.
//!
//! Sources: FLINK-39704; FLINK-21928 (flink#16464), FLINK-26583 (flink#19047), FLINK-11813.

use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use ha_core::environment::steps::{self, Step};
use integration_tests::{ClusterProcess, Fault, StepFault, TestJob, eventually};

use super::place::{DELETE_ON_COMMIT, Place};

const TIMEOUT: Duration = Duration::from_secs(60);
const RUNS: [&str; 3] = ["jobStarted", "checkpointRestored", "jobEnded"];

fn short_job(place: &Place) -> Result<TestJob> {
    TestJob::create(
        place.cluster.folder(),
        "short",
        42,
        40_000,
        Duration::from_secs(2),
    )?
    .with_checkpoint_interval(Duration::from_millis(20))
}

fn arguments(job: &TestJob) -> [String; 3] {
    let file = job.file.display().to_string();
    ["--job".to_owned(), file, "--exit-when-idle".to_owned()]
}

/// Runs the job, in so far as it is still to be run, to the end of its clean-up.
async fn run_to_the_end(place: &Place, job: &TestJob) -> Result<ClusterProcess> {
    let arguments = arguments(job);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let mut process = place.cluster.spawn("two", &arguments)?;
    let status = process.wait(TIMEOUT).await?;
    ensure!(
        status.success(),
        "it ended with {status}: {}",
        process.output().end()
    );
    Ok(process)
}

fn events_of_runs(process: &ClusterProcess) -> Vec<String> {
    let events = process.events().into_iter();
    events
        .map(|event| event.name)
        .filter(|name| RUNS.contains(&name.as_str()))
        .collect()
}

/// The process runs the job until it meets its fault.
fn start(place: &Place, job: &TestJob, fault: Fault, moment: &str) -> Result<ClusterProcess> {
    let arguments = arguments(job);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    place
        .cluster
        .spawn_with("one", &arguments, &StepFault::new(fault, moment, 1))
}

async fn wait_until_stopped(process: &ClusterProcess) -> Result<()> {
    eventually("the process stands still", TIMEOUT, async || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.pid()))?;
        let state = stat.rsplit(") ").next().unwrap_or_default();
        ensure!(state.starts_with('T'), "{stat}");
        Ok(())
    })
    .await
    .with_context(|| process.output().end())
}

/// The process goes on, and has noticed that its term is over.
async fn go_on(process: &mut ClusterProcess) -> Result<()> {
    let skip = process.events().len();
    process.process().cont()?;
    process
        .wait_for_event("leadershipRevoked", skip, TIMEOUT, |event| {
            event.text("component") == "dispatcher"
        })
        .await?;
    // What was under way has ended when it leads again.
    process
        .wait_for_event("leadershipConfirmed", skip, TIMEOUT, |event| {
            event.text("component") == "dispatcher"
        })
        .await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b41_an_end_that_was_decided_stands_though_its_file_was_not_written() -> Result<()> {
    let place = Place::in_zookeeper_mode().await?;
    let job = short_job(&place)?;
    let mut one = start(&place, &job, Fault::Stop, steps::END_FILE.before)?;
    wait_until_stopped(&one).await?;
    let state = place.snapshot().await?.job(&job.id);
    ensure!(
        state.end.as_deref() == Some("SUCCEEDED") && !state.is_clean,
        "{state:?}"
    );
    job.verify_output()?;
    std::fs::remove_file(&job.sink)?;
    place.end_session(false).await?;
    let two = run_to_the_end(&place, &job).await?;
    ensure!(events_of_runs(&two).is_empty(), "{}", two.output().end());
    ensure!(
        two.output().stdout().contains("has ended already"),
        "{}",
        two.output().end()
    );
    go_on(&mut one).await?;
    let state = place.snapshot().await?.job(&job.id);
    ensure!(
        state.end.as_deref() == Some("SUCCEEDED") && state.is_clean,
        "{state:?}"
    );
    ensure!(!job.sink.exists(), "the job ran again: {}", one.output().end());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b41_an_end_that_was_not_decided_is_decided_by_the_next_leader() -> Result<()> {
    let place = Place::in_zookeeper_mode().await?;
    let job = short_job(&place)?;
    let mut one = start(&place, &job, Fault::Stop, steps::END_POINTER.before)?;
    wait_until_stopped(&one).await?;
    let state = place.snapshot().await?.job(&job.id);
    ensure!(state.end.is_none() && state.has_graph, "{state:?}");
    place.end_session(false).await?;
    let two = run_to_the_end(&place, &job).await?;
    ensure!(
        events_of_runs(&two) == ["checkpointRestored", "jobEnded"],
        "{}",
        two.output().end()
    );
    job.verify_output()?;
    go_on(&mut one).await?;
    ensure!(
        !events_of_runs(&one).contains(&"jobEnded".to_owned()),
        "{}",
        one.output().end()
    );
    let snapshot = place.snapshot().await?;
    let state = snapshot.job(&job.id);
    ensure!(
        state.end.as_deref() == Some("SUCCEEDED") && state.is_clean && snapshot.left.is_empty(),
        "{snapshot:?}"
    );
    Ok(())
}

/// The job has ended when the process is killed after `step`: the next one completes the clean-up and no more.
async fn expect_not_run_again(place: &Place, step: Step) -> Result<()> {
    let job = short_job(place)?;
    let mut one = start(place, &job, Fault::Kill, step.after)?;
    let status = one.wait(TIMEOUT).await?;
    ensure!(
        status.signal() == Some(9),
        "it ended with {status}: {}",
        one.output().end()
    );
    let state = place.snapshot().await?.job(&job.id);
    ensure!(state.end.as_deref() == Some("SUCCEEDED"), "{state:?}");
    job.verify_output()?;
    std::fs::remove_file(&job.sink)?;
    place.end_session(true).await?;
    let two = run_to_the_end(place, &job).await?;
    let said = two.output().stdout();
    ensure!(
        events_of_runs(&two).is_empty() && said.contains("has ended already, FINISHED at"),
        "{}",
        two.output().end()
    );
    let snapshot = place.snapshot().await?;
    let state = snapshot.job(&job.id);
    ensure!(
        state.end.as_deref() == Some("SUCCEEDED") && state.is_clean && snapshot.left.is_empty(),
        "{snapshot:?}"
    );
    ensure!(!job.sink.exists(), "the job ran again");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b42_a_job_that_has_ended_does_not_run_again_in_zookeeper_mode() -> Result<()> {
    for step in [
        steps::END_POINTER,
        steps::END_FILE,
        steps::REMOVE_CHECKPOINT_POINTERS,
        steps::REMOVE_GRAPH_POINTER,
        steps::MARK_CLEAN_FILE,
        steps::MARK_CLEAN_DIRTY_FILE,
    ] {
        let place = Place::in_zookeeper_mode().await?;
        expect_not_run_again(&place, step)
            .await
            .with_context(|| step.after)?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b42_a_job_that_has_ended_does_not_run_again_in_filesystem_mode() -> Result<()> {
    for step in [
        steps::END_FILE,
        steps::REMOVE_CHECKPOINT_FILE,
        steps::REMOVE_GRAPH_FILE,
        steps::MARK_CLEAN_FILE,
        steps::MARK_CLEAN_DIRTY_FILE,
    ] {
        let place = Place::in_filesystem_mode()?;
        expect_not_run_again(&place, step)
            .await
            .with_context(|| step.after)?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b42_with_delete_on_commit_a_job_that_was_cleaned_up_runs_again() -> Result<()> {
    let place = Place::in_filesystem_mode()?.with(DELETE_ON_COMMIT, "true");
    let job = short_job(&place)?;
    let mut one = start(&place, &job, Fault::Kill, steps::MARK_CLEAN_DIRTY_FILE.after)?;
    let status = one.wait(TIMEOUT).await?;
    ensure!(
        status.signal() == Some(9),
        "it ended with {status}: {}",
        one.output().end()
    );
    let snapshot = place.snapshot().await?;
    ensure!(
        snapshot.job(&job.id).end.is_none() && snapshot.left.is_empty(),
        "{snapshot:?}"
    );
    std::fs::remove_file(&job.sink)?;
    let two = run_to_the_end(&place, &job).await?;
    ensure!(
        events_of_runs(&two) == ["jobStarted", "jobEnded"],
        "{}",
        two.output().end()
    );
    job.verify_output()
}
