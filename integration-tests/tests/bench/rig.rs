//! Running `ha-bench` on a server of its own, and checking its lines.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use integration_tests::process::{CapturedOutput, ManagedProcess, binaries};
use integration_tests::{Ensemble, EnsembleOptions, full_form};
use serde_json::Value;
use tempfile::TempDir;

/// The longest that one workload may take.
const TIMEOUT: Duration = Duration::from_secs(240);
/// The same of a full form.
const LONG_TIMEOUT: Duration = Duration::from_secs(3600);
/// What every line has beside its names.
const NUMBERS: [&str; 13] = [
    "n",
    "median_us",
    "p99_us",
    "mean_us",
    "min_us",
    "ops_per_s",
    "req_per_op",
    "txn_per_op",
    "total_ms",
    "background_at_most",
    "ref_set_us",
    "ratio_to_set",
    "peak_rss_mb",
];

/// A server that nobody else uses, and a storage directory.
pub(crate) struct Bench {
    ensemble: Ensemble,
    storage: TempDir,
}

impl Bench {
    pub(crate) async fn start() -> Result<Self> {
        binaries::find_or_build("ha-bench", "ha-bench")?;
        Ok(Self {
            ensemble: Ensemble::start(EnsembleOptions::standalone()).await?,
            storage: in_memory()?,
        })
    }

    /// Runs a workload; gives its lines.
    pub(crate) async fn run(&self, arguments: &[&str]) -> Result<Vec<Value>> {
        let folder = tempfile::tempdir()?;
        let output = CapturedOutput::new(folder.path().to_owned());
        let (stdout, stderr) = output.files()?;
        let mut command = self.command(arguments)?;
        command.stdout(stdout).stderr(stderr);
        let timeout = if full_form() { LONG_TIMEOUT } else { TIMEOUT };
        let status = ManagedProcess::spawn("ha-bench", &mut command)?
            .wait(timeout)
            .await
            .with_context(|| output.end())?;
        ensure!(
            status.success(),
            "{arguments:?} ended with {status}\n{}",
            output.end()
        );
        self.check_left(arguments)?;
        output
            .stdout()
            .lines()
            .map(|line| serde_json::from_str(line).with_context(|| line.to_owned()))
            .collect()
    }

    /// The command of a workload.
    pub(crate) fn command(&self, arguments: &[&str]) -> Result<Command> {
        let mut command = Command::new(binaries::find_or_build("ha-bench", "ha-bench")?);
        command
            .args(arguments)
            .args(["--zk", &self.ensemble.connect_string(), "--dir"])
            .arg(self.storage.path());
        Ok(command)
    }

    /// Nothing is left of the cluster, whoever looks.
    pub(crate) fn check_left(&self, arguments: &[&str]) -> Result<()> {
        ensure!(files_in(self.storage.path()) == 0, "{arguments:?} left files");
        Ok(())
    }
}

/// A folder in memory where there is one: what the disk costs is not what is asserted, and it may be busy.
fn in_memory() -> Result<TempDir> {
    let memory = tempfile::tempdir_in("/dev/shm");
    Ok(memory.or_else(|_| tempfile::tempdir())?)
}

fn files_in(folder: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.path() {
            path if path.is_dir() => files_in(&path),
            _ => 1,
        })
        .sum()
}

pub(crate) fn number(line: &Value, name: &str) -> f64 {
    line[name].as_f64().unwrap_or(f64::NAN)
}

pub(crate) fn count(line: &Value, name: &str) -> u64 {
    line[name].as_u64().unwrap_or(u64::MAX)
}

/// Checks what every line must have.
pub(crate) fn check_shape(line: &Value, workload: &str, n: u64) {
    assert_eq!(line["peer"], "rust", "{line}");
    assert_eq!(line["workload"], workload, "{line}");
    assert!(line["variant"].is_string(), "{line}");
    assert_eq!(count(line, "n"), n, "{line}");
    for name in NUMBERS {
        assert!(number(line, name) >= 0.0, "{name}: {line}");
    }
    assert!(number(line, "min_us") <= number(line, "median_us"), "{line}");
    assert!(number(line, "median_us") <= number(line, "p99_us"), "{line}");
    assert!(
        number(line, "ref_set_us") > 0.0 && number(line, "peak_rss_mb") > 1.0,
        "{line}"
    );
    let ratio = number(line, "median_us") / number(line, "ref_set_us");
    assert!(
        (number(line, "ratio_to_set") - ratio).abs() < 0.01 * ratio.max(1.0),
        "{line}"
    );
    for (per_op, total) in [("req_per_op", "requests"), ("txn_per_op", "transactions")] {
        let expected = count(line, total) as f64 / n as f64;
        assert!((number(line, per_op) - expected).abs() < 0.001, "{line}");
    }
}

/// Checks that the operations cost exactly this, and the rest is what may come on top.
pub(crate) fn check_cost(line: &Value, requests: u64, transactions: u64) {
    let background = count(line, "background_at_most");
    for (name, cost) in [("requests", requests), ("transactions", transactions)] {
        let counted = count(line, name);
        assert!(
            (cost..=cost + background).contains(&counted),
            "{name}: {cost} and at most {background} more, {line}"
        );
    }
}

/// Checks that a part of every operation was timed.
pub(crate) fn check_part(line: &Value, part: &str) {
    let [median, p99] = ["median", "p99"].map(|of| number(line, &format!("{part}_{of}_us")));
    assert!(0.0 < median && median <= p99, "{part}: {line}");
}
