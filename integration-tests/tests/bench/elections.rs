//! What a hand-over costs, a leader that many follow, and a process that leads and does nothing.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use integration_tests::process::{CapturedOutput, ManagedProcess};

use crate::rig::{Bench, check_cost, check_part, check_shape, count, number};

/// The longest that leading may take, and giving it up.
const TIMEOUT: Duration = Duration::from_secs(60);
/// How long it is seen to go on leading.
const HELD: Duration = Duration::from_secs(1);
/// Hand-overs.
const N: u64 = 10;

#[tokio::test(flavor = "multi_thread")]
async fn a_hand_over_costs_three_transactions_however_the_leader_ends() -> Result<()> {
    let bench = Bench::start().await?;
    // The leader leaves: a sync, a listing, what stands there, and the deletion. The next one lists and claims, watches
    // its latch, publishes, and watches that and the other components. The retriever reads that nobody leads, and who
    // does. In between, what the leader's own watches read when they fire.
    for (mode, least, most) in [("graceful", 14, 20), ("crash", 9, 15)] {
        let n = N.to_string();
        let lines = bench
            .run(&["w4", "--mode", mode, "--n", &n, "--warmup", "2"])
            .await?;
        let [line] = lines.as_slice() else {
            anyhow::bail!("{lines:?}");
        };
        check_shape(line, &format!("w4-{mode}"), N);
        for part in ["close_call", "grant", "confirm"] {
            check_part(line, part);
        }
        assert!(
            number(line, "grant_median_us") <= number(line, "confirm_median_us"),
            "{line}"
        );
        assert!(
            number(line, "grant_median_us") <= number(line, "median_us"),
            "{line}"
        );
        let background = count(line, "background_at_most");
        let (requests, transactions) = (count(line, "requests"), count(line, "transactions"));
        // The end, the claim, and the publication.
        assert!((3 * N..=3 * N + background).contains(&transactions), "{line}");
        assert!((least * N..=most * N + background).contains(&requests), "{line}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn any_number_of_retrievers_in_a_process_costs_the_same() -> Result<()> {
    let bench = Bench::start().await?;
    for listeners in [1, 300] {
        let line = fan_out(&bench, listeners, "shared").await?;
        // The leader's write: refused, since it has published before; what stands there; the write. Its own watch's
        // read. The process of the retrievers reads who leads, and in which tree.
        check_cost(&line, N * (3 + 1 + 2), N * 2);
    }
    let line = fan_out(&bench, 7, "own").await?;
    check_cost(&line, N * (3 + 1 + 7 * 2), N * 2);
    Ok(())
}

async fn fan_out(bench: &Bench, listeners: u64, clients: &str) -> Result<serde_json::Value> {
    let (n, of) = (N.to_string(), listeners.to_string());
    let arguments = [
        "w5",
        "--listeners",
        &of,
        "--clients",
        clients,
        "--n",
        &n,
        "--warmup",
        "2",
    ];
    let line = bench.run(&arguments).await?.pop().context("no line")?;
    check_shape(&line, "w5-fanout", N);
    assert_eq!(line["variant"], format!("L={listeners} clients={clients}"));
    check_part(&line, "publish");
    check_part(&line, "each_listener");
    assert!(number(&line, "setup_ms") > 0.0, "{line}");
    Ok(line)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_only_leads_says_so_and_ends_with_its_standard_input() -> Result<()> {
    let bench = Bench::start().await?;
    let folder = tempfile::tempdir()?;
    let output = CapturedOutput::new(folder.path().to_owned());
    let (stdout, stderr) = output.files()?;
    let mut command = bench.command(&["w6"])?;
    command.stdin(Stdio::piped()).stdout(stdout).stderr(stderr);
    let mut process = ManagedProcess::spawn("ha-bench", &mut command)?;
    let stdin = process.take_stdin().context("no stdin")?;
    integration_tests::eventually("it leads", TIMEOUT, async || {
        ensure!(output.stdout() == "LEADER\n", "{}", output.end());
        Ok(())
    })
    .await?;
    // Nothing tells of an end that does not come.
    integration_tests::pause(HELD).await;
    ensure!(process.is_alive(), "it leads no longer\n{}", output.end());
    drop(stdin);
    let status = process.wait(TIMEOUT).await?;
    ensure!(status.success(), "it ended with {status}\n{}", output.end());
    ensure!(output.stdout() == "LEADER\n", "{}", output.end());
    bench.check_left(&["w6"])
}
