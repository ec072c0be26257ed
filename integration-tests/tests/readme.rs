//! What the README promises, run as it stands there; and what only the program that it builds does, which has no
//! feature but the default ones: the programs of the other tests have all.

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

/// Where `cargo run` puts what it builds. The same place would replace the programs of the other tests while they run.
/// What it is built of stays where it is, so nothing is built twice.
fn target_of_the_readme() -> Result<PathBuf> {
    Ok(target_folder()?.join("readme"))
}

/// Begins a command of the README in the workspace, as a user would.
fn bash(command: &str, target: &Path) -> Result<Command> {
    let mut bash = Command::new("bash");
    bash.args(["-c", command])
        .current_dir(workspace()?)
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_BUILD_BUILD_DIR", target_folder()?);
    Ok(bash)
}

/// Runs it to a good end.
fn run(command: &str, target: &Path) -> Result<Output> {
    let output = bash(command, target)?.output()?;
    ensure!(
        output.status.success(),
        "{command}: {}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(output)
}

const FIRST_COMMAND: &str = "cargo run -p ha-cluster -- run ";

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
    let output = run(&command(FIRST_COMMAND)?, &target_of_the_readme()?)?;
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

#[test]
fn the_program_that_it_builds_refuses_the_stores_that_need_a_feature_and_names_it() -> Result<()> {
    for (uri, feature) in [
        ("s3://bucket/ha", "s3"),
        ("gs://bucket/ha", "gcs"),
        ("az://box@account/ha", "azure"),
        ("hdfs://name-node/ha", "hdfs"),
    ] {
        // A server that is not there would be told of with another status, after a while.
        let command = format!(
            "{FIRST_COMMAND} -Dhigh-availability=zookeeper -Dhigh-availability.zookeeper.quorum=127.0.0.1:1 \
             -Dhigh-availability.storageDir={uri}"
        );
        let output = bash(&command, &target_of_the_readme()?)?.output()?;
        let told = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.code() == Some(2),
            "{uri}: {}\n{told}",
            output.status
        );
        ensure!(
            told.contains(uri) && told.contains(&format!("--features {feature}`")),
            "{uri}: {told}"
        );
    }
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
    let output = tokio::task::spawn_blocking(move || run(&here, &target_folder()?)).await??;
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(
        told.contains("equal: the job survived losing its leader"),
        "{told}"
    );
    ensure!(told.contains("restored from checkpoint"), "{told}");
    Ok(())
}
