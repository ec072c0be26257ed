//! What the README promises, run as it stands there.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context as _, Result, ensure};
use integration_tests::process::binaries::{profile_folder, target_folder};
use integration_tests::workload::expected_output;
use integration_tests::{Ensemble, EnsembleOptions};

fn workspace() -> Result<PathBuf> {
    let parent = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    Ok(parent.context("the crate stands in the workspace")?.to_owned())
}

/// The line of the README that begins with `start`.
fn command(start: &str) -> Result<String> {
    let readme = std::fs::read_to_string(workspace()?.join("README.md"))?;
    let line = readme.lines().find(|line| line.starts_with(start));
    Ok(line
        .with_context(|| format!("the README has no command {start:?}"))?
        .to_owned())
}

/// Runs a command of the README in the workspace, as a user would.
fn run(command: &str) -> Result<Output> {
    let output = Command::new("bash")
        .args(["-c", command])
        .current_dir(workspace()?)
        .env("CARGO_TARGET_DIR", target_folder()?)
        .output()?;
    ensure!(
        output.status.success(),
        "{command}: {}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(output)
}

#[test]
fn the_first_command_counts_the_words_of_the_sample_text() -> Result<()> {
    let job: serde_json::Value = serde_json::from_slice(&std::fs::read(
        workspace()?.join("crates/ha-cluster/examples/wordcount/job.json"),
    )?)?;
    let path =
        |field: &str| -> Result<PathBuf> { Ok(workspace()?.join(job[field].as_str().context("a path")?)) };
    let sink = path("sink")?;
    if sink.exists() {
        std::fs::remove_file(&sink)?;
    }
    let output = run(&command("cargo run -p ha-cluster -- run ")?)?;
    ensure!(std::fs::read(&sink)? == expected_output(&path("source")?)?);
    let log = String::from_utf8_lossy(&output.stderr);
    for shown in [
        "leadership of dispatcher granted",
        "checkpoint 2 completed",
        "ended: FINISHED",
    ] {
        ensure!(log.contains(shown), "{shown:?} is not shown:\n{log}");
    }
    let told = String::from_utf8_lossy(&output.stdout);
    ensure!(told.contains("FINISHED"), "{told}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_failover_script_shows_a_job_survive_its_leader() -> Result<()> {
    let ensemble = Ensemble::start(EnsembleOptions::standalone()).await?;
    ensure!(
        profile_folder()?.ends_with("debug"),
        "the script takes the debug programs"
    );
    let script = command("crates/ha-cluster/examples/failover/failover.sh ")?;
    let here = script.replace("127.0.0.1:2181", &ensemble.connect_string());
    let output = tokio::task::spawn_blocking(move || run(&here)).await??;
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(
        told.contains("equal: the job survived losing its leader"),
        "{told}"
    );
    ensure!(told.contains("restored from checkpoint"), "{told}");
    Ok(())
}
