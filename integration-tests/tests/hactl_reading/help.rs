//! The example in the help of each command works as it is pasted into a shell. Those that name a server are given one.

use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use ha_core::environment::Environment;
use ha_core::ids::JobId;
use ha_storage::{HaStorage, StateKind};
use integration_tests::process::{binaries, run_binary};
use integration_tests::{AdminClient, Ensemble, TestCluster, scaled};
use rustix::process::Signal;
use serde_json::json;
use zookeeper_client::{Acls, CreateMode};

/// How long a program may take to say its first word.
const LIMIT: Duration = Duration::from_secs(60);
/// Where the examples expect a server.
const SERVER: &str = "127.0.0.1:2181";

/// On the server: two processes of the cluster `default`, of which one leads, and a job with a checkpoint.
async fn make_what_the_examples_expect(admin: &AdminClient) -> Result<()> {
    let cluster = "/flink/default";
    let session = "11111111-2222-3333-4444-555555555555";
    let information = format!("{cluster}/leader/dispatcher/connection_info");
    let leader = format!(
        "{{\"format\":1,\"leaderAddress\":\"http://127.0.0.1:1\",\"leaderSessionId\":\"{session}\",\"epoch\":42}}"
    );
    write(admin, &information, &leader).await?;
    let job: JobId = "0123456789abcdef0123456789abcdef".parse()?;
    let address = answer_for(job)?;
    let information = format!("{cluster}/leader/rest_server/connection_info");
    let leader = leader.replace("http://127.0.0.1:1", &address);
    write(admin, &information, &leader).await?;
    let latches = format!("{cluster}/leader/latch");
    if admin.node(&latches).await?.is_none() {
        admin.create(&latches, b"").await?;
    }
    for (name, leads) in [("one", true), ("two", false)] {
        let mut latch = json!({"format": 1, "process": name, "host": "h", "pid": 7});
        if leads {
            latch["leaderSessionId"] = session.into();
        }
        let options = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
        let path = format!("{latches}/{session}-latch-");
        let data = latch.to_string();
        admin.client().create(&path, data.as_bytes(), &options).await?;
    }
    let storage = HaStorage::open("/tmp/ha-example", &"default".parse()?, &Environment::system()).await?;
    let name = format!("{:019}", 7);
    let file = storage
        .put_state(StateKind::Checkpoint, job, &name, Default::default(), "x".into())
        .await?;
    let pointer = json!({
        "format": 1,
        "kind": file.kind,
        "path": file.path,
        "size": file.size,
        "crc32c": file.crc32c,
        "writeId": session,
    });
    let pointer = pointer.to_string();
    write(
        admin,
        &format!("{cluster}/jobs/{job}/checkpoints/{name}"),
        &pointer,
    )
    .await
}

/// A REST endpoint that knows this one job, until the test ends; its address.
fn answer_for(job: JobId) -> Result<String> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}", listener.local_addr()?);
    let body = json!({"id": job, "name": "wordcount", "status": "RUNNING"}).to_string();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut lines = std::io::BufReader::new(&stream)
                .lines()
                .map_while(std::result::Result::ok);
            while lines.next().is_some_and(|line| !line.is_empty()) {}
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close",
                body.len()
            );
            let _ = stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes());
        }
    });
    Ok(address)
}

/// Makes a znode, or gives it other data.
async fn write(admin: &AdminClient, path: &str, data: &str) -> Result<()> {
    match admin.node(path).await? {
        None => admin.create(path, data.as_bytes()).await,
        Some(_) => admin.set(path, data.as_bytes()).await,
    }
}

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
    let admin = AdminClient::connect(&ensemble.connect_string()).await?;
    make_what_the_examples_expect(&admin).await?;
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
