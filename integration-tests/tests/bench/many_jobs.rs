//! Recovering many jobs from a cold start. The full form prints the table of 1,000, 3,000 and 10,000 jobs.

use anyhow::{Context as _, Result};
use integration_tests::full_form;

use crate::rig::{Bench, check_shape, count, number};

/// A row of the table: how a number of jobs was recovered.
struct Recovery {
    jobs: u64,
    seconds: f64,
    requests: u64,
    peak_rss_mb: f64,
}

#[tokio::test(flavor = "multi_thread")]
async fn b60_many_jobs_are_recovered_with_bounded_requests_in_linear_time_and_memory() -> Result<()> {
    let numbers: &[u64] = if full_form() {
        &[1000, 3000, 10_000]
    } else {
        &[40, 120]
    };
    let bench = Bench::start().await?;
    let mut table = Vec::new();
    for &jobs in numbers {
        let lines = bench.run(&["recover", "--n", &jobs.to_string()]).await?;
        let line = lines.first().context("no line")?;
        check_shape(line, "recover", jobs);
        for name in ["lead_ms", "list_ms", "graphs_ms", "checkpoints_ms"] {
            assert!(number(line, name) >= 0.0, "{name}: {line}");
        }
        // To connect and lead; to start the store of the graphs, list and recover them; a sync, a listing and a read for
        // the checkpoints of all jobs that are recovered at the same time, or of each where none is.
        let reads = 1 + jobs.div_ceil(500);
        let at_most = 20 + 4 * (1 + reads) + 3 * jobs + count(line, "background_at_most");
        let requests = count(line, "requests");
        assert!(requests <= at_most, "{requests}, at most {at_most}: {line}");
        table.push(Recovery {
            jobs,
            seconds: number(line, "total_ms") / 1e3,
            requests,
            peak_rss_mb: number(line, "peak_rss_mb"),
        });
    }
    println!("| jobs | seconds | seconds per 1,000 | requests | peak RSS MiB |\n|---|---|---|---|---|");
    for row in &table {
        let per_thousand = row.seconds / row.jobs as f64 * 1e3;
        println!(
            "| {} | {:.2} | {per_thousand:.2} | {} | {:.1} |",
            row.jobs, row.seconds, row.requests, row.peak_rss_mb
        );
    }
    let [first, .., last] = table.as_slice() else {
        anyhow::bail!("a table of two rows at least");
    };
    // What is kept of a job: its graph and newest checkpoint, 1 KiB each, its pointers, and the books on them.
    // 8 MiB for what each thread that had work keeps, however many jobs there are.
    let grown = last.peak_rss_mb - first.peak_rss_mb;
    let at_most = 8.0 + (last.jobs - first.jobs) as f64 * 12.0 / 1024.0;
    assert!(grown < at_most, "{grown:.1} MiB more, at most {at_most:.1}");
    // Time says little where there are few.
    if full_form() {
        // Ten times the jobs at a quadratic cost would take ten times as long each.
        for row in &table {
            let [here, where_few] = [row, first].map(|row| row.seconds / row.jobs as f64);
            assert!(
                here < 4.0 * where_few,
                "{} jobs: {here:.5} s each, {where_few:.5} s where there are {}",
                row.jobs,
                first.jobs
            );
            assert!(
                row.requests < row.jobs,
                "{} requests for {} jobs",
                row.requests,
                row.jobs
            );
        }
    }
    Ok(())
}
