//! Commands that are measured as they run.

use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use ha_core::environment::{Clock as _, SystemClock};
use integration_tests::ensemble::four_letter_word;
use integration_tests::process::binaries;
use integration_tests::{ClusterProcess, TestCluster};

/// How often the memory is looked at. After what it writes last, a command waits for the end of its session.
const POLL: Duration = Duration::from_millis(2);

/// What a command did.
pub(crate) struct Measured {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The peak of its resident memory, in bytes.
    pub(crate) peak: u64,
    /// What of the peak is no page of the program's file: how many of those are there is the system's business.
    pub(crate) data: u64,
    pub(crate) requests: u64,
    pub(crate) seconds: f64,
}

/// Runs `hactl` on a cluster whose server nobody else uses.
pub(crate) async fn hactl(cluster: &TestCluster, server: &str, words: &[&str]) -> Result<Measured> {
    let definitions = cluster.arguments();
    let arguments: Vec<_> = words
        .iter()
        .copied()
        .chain(definitions.iter().map(String::as_str))
        .collect();
    let before = received(server)?;
    let began = SystemClock.now();
    let mut process = ClusterProcess::spawn_binary("hactl", "hactl", &arguments, |_| {})?;
    let status = format!("/proc/{}/status", process.pid());
    let (mut peak_kib, mut program_kib) = (0, 0);
    let code = loop {
        if let Some(status) = process.process().exit_status()? {
            break status.code();
        }
        // Without memory it is about to end.
        let told = std::fs::read_to_string(&status).unwrap_or_default();
        if let (Some(peak), Some(program)) = (kib_of(&told, "VmHWM:"), kib_of(&told, "RssFile:")) {
            (peak_kib, program_kib) = (peak, program);
        }
        integration_tests::pause(POLL).await;
    };
    let seconds = SystemClock.now().saturating_since(began).as_secs_f64();
    if peak_kib == 0 {
        bail!("the system does not tell the memory of {words:?}");
    }
    Ok(Measured {
        code,
        stdout: process.output().stdout(),
        stderr: process.output().stderr(),
        peak: peak_kib * 1024,
        data: peak_kib.saturating_sub(program_kib) * 1024,
        requests: received(server)?.saturating_sub(before),
        seconds,
    })
}

fn kib_of(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// How many packets the server has had.
fn received(server: &str) -> Result<u64> {
    let answer = four_letter_word(server.parse()?, "srvr")?;
    let line = answer.lines().find_map(|line| line.strip_prefix("Received: "));
    Ok(line.context("no count")?.trim().parse()?)
}

/// Runs `hactl` with its stderr on a terminal of 100 columns, its stdout in a file; gives what each had.
pub(crate) async fn on_a_terminal(cluster: &TestCluster, words: &[&str]) -> Result<(String, String)> {
    let program = binaries::find_or_build("hactl", "hactl")?;
    let file = cluster.folder().join("stdout");
    let quoted = |word: &str| format!("'{word}'");
    let definitions = cluster.arguments();
    let words = words
        .iter()
        .copied()
        .chain(definitions.iter().map(String::as_str));
    let line: Vec<_> = words.map(quoted).collect();
    let line = format!(
        "stty cols 100 rows 30; exec {} {} > {}",
        quoted(&program.display().to_string()),
        line.join(" "),
        quoted(&file.display().to_string())
    );
    // Part of every Debian: bsdutils.
    let output = tokio::task::spawn_blocking(move || {
        Command::new("script")
            .args(["--quiet", "--return", "--flush", "--command", &line, "/dev/null"])
            .stdin(Stdio::null())
            .output()
    });
    let output = output.await?.context("script cannot be run")?;
    ensure!(output.status.success(), "{output:?}");
    let terminal = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok((std::fs::read_to_string(file)?, terminal))
}
