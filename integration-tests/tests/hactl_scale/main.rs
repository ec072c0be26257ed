//! `hactl` on clusters of many jobs: as many as 33,000, whose names alone take more than a server takes in a request.
//! Prints the table of what each command took.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod crowd;
mod measured;

use anyhow::{Context as _, Result, ensure};
use integration_tests::{Ensemble, EnsembleOptions, full_form};
use serde_json::Value;

use crowd::{Crowd, PAYLOAD};
use measured::{Measured, hactl, on_a_terminal};

/// From so many jobs on the names of a listing come near the server's limit, three quarters of 1 MiB.
const TOLD: u64 = 21_846;
/// What a command takes however few jobs there are, in bytes, beside the pages of its program: those are 27 MiB of one
/// that is not optimized.
const AT_LEAST: u64 = 4 << 20;
/// What it may take beside for each job, in bytes: what it tells of it. 33,000 jobs make 36 MiB of that.
const JOB: u64 = 1150;
/// And for each checkpoint: the path of its file, which `doctor` keeps, and where it lies, while files are listed. What
/// is in the file is many times as long.
const CHECKPOINT: u64 = 700;

struct Shape {
    jobs: u64,
    checkpoints: u64,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_read_many_jobs_in_bounded_memory() -> Result<()> {
    let shape = |jobs, checkpoints| Shape { jobs, checkpoints };
    let (shapes, heap) = match full_form() {
        true => (
            vec![
                shape(1000, 1),
                shape(10_000, 1),
                shape(33_000, 0),
                shape(33_000, 1),
            ],
            1024,
        ),
        false => (vec![shape(3000, 1)], 128),
    };
    let ensemble = Ensemble::start(EnsembleOptions::standalone().with_heap(heap)).await?;
    let server = ensemble.connect_string();
    println!(
        "| jobs | checkpoints each | command | peak MiB | of it data MiB | requests | seconds |\n|---|---|---|---|---|---|---|"
    );
    for shape in &shapes {
        let crowd = Crowd::gather(&server, shape.jobs, shape.checkpoints).await?;
        let cluster = &crowd.cluster;

        let table = hactl(cluster, &server, &["jobs"]).await?;
        println!("{}", row(&table, "jobs", shape));
        check(&table, "jobs", shape, 0)?;
        let rows = table.stdout.matches(" RUNNING ").count();
        ensure!(u64::try_from(rows)? == shape.jobs, "{rows} rows");

        let json = hactl(cluster, &server, &["jobs", "--output", "json"]).await?;
        println!("{}", row(&json, "jobs --output json", shape));
        check(&json, "jobs --output json", shape, 0)?;
        check_jobs(&json.stdout, shape)?;

        let doctor = hactl(cluster, &server, &["doctor", "--output", "json"]).await?;
        println!("{}", row(&doctor, "doctor --output json", shape));
        check(
            &doctor,
            "doctor --output json",
            shape,
            i32::from(shape.jobs >= TOLD),
        )?;
        check_findings(&doctor.stdout, shape)?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bar_on_the_terminal_shows_how_far_it_is() -> Result<()> {
    let ensemble = Ensemble::start(EnsembleOptions::standalone()).await?;
    let server = ensemble.connect_string();
    let crowd = Crowd::gather(&server, 1000, 1).await?;
    for (words, parts) in [
        (
            ["jobs", "--output", "json"],
            &["job graphs [", "jobs [", "registry ["][..],
        ),
        (
            ["doctor", "--output", "json"],
            &["leaders [", "job graphs [", "jobs [", "registry ["],
        ),
    ] {
        let alone = hactl(&crowd.cluster, &server, &words).await?;
        ensure!(alone.stderr.is_empty(), "without a terminal: {}", alone.stderr);
        let (data, terminal) = on_a_terminal(&crowd.cluster, &words).await?;
        // Nothing of the bars is among the data, and nothing of the data on the terminal.
        ensure!(data == alone.stdout, "{words:?}");
        for part in parts {
            ensure!(terminal.contains(part), "{words:?}: no {part:?} in {terminal:?}");
        }
        ensure!(terminal.contains(" %"), "{terminal:?}");
        ensure!(!terminal.contains('{'), "{terminal:?}");
    }
    Ok(())
}

/// What was measured, as a row of the table.
fn row(done: &Measured, words: &str, shape: &Shape) -> String {
    let Shape { jobs, checkpoints } = shape;
    let [mib, data] = [done.peak, done.data].map(|bytes| bytes as f64 / f64::from(1 << 20));
    let seconds = done.seconds;
    format!(
        "| {jobs} | {checkpoints} | {words} | {mib:.1} | {data:.1} | {} | {seconds:.1} |",
        done.requests
    )
}

/// The exit code, the silence beside the data, and the memory.
fn check(done: &Measured, words: &str, shape: &Shape, code: i32) -> Result<()> {
    let Shape { jobs, checkpoints } = shape;
    ensure!(
        done.code == Some(code),
        "{words}: {:?}, {}",
        done.code,
        done.stderr
    );
    // Without a terminal nothing is told of how far it is.
    ensure!(done.stderr.is_empty(), "{words}: {}", done.stderr);
    let of_entries = jobs * JOB + jobs * checkpoints * CHECKPOINT;
    let at_most = AT_LEAST + of_entries;
    ensure!(
        done.data <= at_most,
        "{words}: {} bytes, at most {at_most}",
        done.data
    );
    let contents = jobs * (1 + checkpoints) * PAYLOAD as u64;
    ensure!(contents > 2 * of_entries, "who keeps contents would not be seen");
    Ok(())
}

fn check_jobs(document: &str, shape: &Shape) -> Result<()> {
    let document: Value = serde_json::from_str(document)?;
    ensure!(
        document["broken"] == serde_json::json!([]),
        "{}",
        document["broken"]
    );
    let jobs = document["jobs"].as_array().context("no jobs")?;
    ensure!(u64::try_from(jobs.len())? == shape.jobs, "{} jobs", jobs.len());
    let as_made = |job: &Value| {
        job["status"] == "RUNNING"
            && job["jobGraphReadable"] == true
            && job["checkpoints"] == shape.checkpoints
            && job["nextCheckpointId"] == shape.checkpoints + 1
            && !job["leader"].is_null()
    };
    match jobs.iter().find(|job| !as_made(job)) {
        None => Ok(()),
        Some(other) => anyhow::bail!("{other}"),
    }
}

/// Nothing is wrong but that there are many.
fn check_findings(document: &str, shape: &Shape) -> Result<()> {
    let document: Value = serde_json::from_str(document)?;
    ensure!(
        document["broken"] == serde_json::json!([]),
        "{}",
        document["broken"]
    );
    let findings = document["findings"].as_array().context("no findings")?;
    let ids: Vec<_> = findings.iter().map(|finding| &finding["id"]).collect();
    // Job graphs, jobs, the registry, leaders.
    let expected = if shape.jobs >= TOLD {
        vec!["children-near-limit"; 4]
    } else {
        Vec::new()
    };
    ensure!(ids == expected, "{ids:?}");
    Ok(())
}
