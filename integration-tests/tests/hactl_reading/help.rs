//! The example in the help of each command works as it is pasted into a shell. Those that name a server are given one.

use std::io::BufRead as _;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use integration_tests::process::{binaries, run_binary};
use integration_tests::{AdminClient, Ensemble, TestCluster, scaled};
use rustix::process::Signal;

/// How long a program may take to say its first word.
const LIMIT: Duration = Duration::from_secs(60);
/// Where the examples expect a server.
const SERVER: &str = "127.0.0.1:2181";

async fn help(words: &[&str]) -> Result<String> {
    let output = run_binary("hactl", &[words, &["--help"]].concat()).await?;
    ensure!(output.status.success(), "{words:?}: {output:?}");
    Ok(String::from_utf8(output.stdout)?)
}

/// The command words in a help text.
fn words(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.trim().is_empty());
    let words = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    words.filter(|word| !word.is_empty() && *word != "help").collect()
}

/// The examples in a help text: each is what is indented below a line that begins with `Example`.
fn examples(help: &str) -> Vec<String> {
    let mut lines = help.lines();
    let mut examples = Vec::new();
    while lines.by_ref().any(|line| line.starts_with("Example")) {
        let script: Vec<_> = lines.by_ref().take_while(|line| line.starts_with("  ")).collect();
        examples.push(script.join("\n"));
    }
    examples
}

/// Runs a script where `hactl` and `ha-cluster` are installed.
fn paste(script: &str, programs: &Path, folder: &Path) -> Result<Output> {
    let path = std::env::var("PATH").context("PATH")?;
    let output = std::process::Command::new("bash")
        .args(["-e", "-u", "-c", script])
        .env("PATH", format!("{}:{path}", programs.display()))
        .current_dir(folder)
        .output()?;
    Ok(output)
}

/// It goes on until it is told to end: once it has said what is there.
async fn watch(script: &str, programs: &Path) -> Result<()> {
    let path = std::env::var("PATH").context("PATH")?;
    let mut process = std::process::Command::new("bash")
        .args(["-e", "-u", "-c", &format!("exec {}", script.trim_start())])
        .env("PATH", format!("{}:{path}", programs.display()))
        .stdout(Stdio::piped())
        .spawn()?;
    let stdout = process.stdout.take().context("its output")?;
    let first = tokio::task::spawn_blocking(move || {
        let mut line = String::new();
        std::io::BufReader::new(stdout).read_line(&mut line).map(|_| line)
    });
    let first = tokio::time::timeout(scaled(LIMIT), first).await;
    let pid = rustix::process::Pid::from_child(&process);
    let signal = if first.is_ok() { Signal::TERM } else { Signal::KILL };
    rustix::process::kill_process(pid, signal)?;
    let status = process.wait()?;
    let line = first.context("it says nothing")???;
    ensure!(line.starts_with('{'), "{script}: {line}");
    // Its pipe is closed, and it was told to end.
    ensure!(status.code() == Some(0), "{script}: {status}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_example_in_the_help_of_each_command_works_as_it_is_pasted() -> Result<()> {
    let ensemble = Ensemble::shared().await?;
    // Builds the programs.
    let cluster = TestCluster::new(&ensemble.connect_string(), Duration::from_secs(6))?;
    let programs = binaries::target_folder()?.join("debug");
    let folder = tempfile::tempdir()?;
    // Where the examples expect a cluster: with something to tell of.
    let admin = AdminClient::connect(&ensemble.connect_string()).await?;
    let information = "/flink/default/leader/dispatcher/connection_info";
    if admin.node(information).await?.is_none() {
        let leader = "{\"format\":1,\"leaderAddress\":\"http://127.0.0.1:1\",\"leaderSessionId\":\
                      \"11111111-2222-3333-4444-555555555555\",\"epoch\":42}";
        admin.create(information, leader.as_bytes()).await?;
    }
    let top = help(&[]).await?;
    let mut commands = Vec::new();
    for word in words(&top) {
        let text = help(&[word]).await?;
        let below = words(&text);
        if below.is_empty() {
            commands.push((vec![word.to_owned()], text));
            continue;
        }
        for second in below {
            commands.push((
                vec![word.to_owned(), second.to_owned()],
                help(&[word, second]).await?,
            ));
        }
    }
    assert!(commands.len() >= 10, "{top}");
    for (command, text) in commands {
        let examples = examples(&text);
        assert!(
            !examples.is_empty(),
            "`hactl {}` has no example",
            command.join(" ")
        );
        for example in examples {
            let used = format!("hactl {}", command.join(" "));
            assert!(example.contains(&used), "{used}: {example}");
            let script = example.replace(SERVER, &ensemble.connect_string());
            if command == ["watch"] {
                watch(&script, &programs).await?;
                continue;
            }
            let output = paste(&script, &programs, folder.path())?;
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{script}\n{told}");
        }
    }
    drop(cluster);
    Ok(())
}
