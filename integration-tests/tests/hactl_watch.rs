//! `hactl watch` beside a real server: it tells of a leader that is killed and of what becomes of a job; over a server that
//! restarts, and over a session that ends while it is stopped, it tells what happened meanwhile; and it ends when
//! nobody reads on, and at a second signal.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::collections::BTreeSet;
use std::io::Read as _;
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use integration_tests::ensemble::four_letter_word;
use integration_tests::{
    AdminClient, ClusterProcess, Ensemble, EnsembleOptions, TestCluster, TestJob, eventually,
};
use serde_json::{Value, json};

const TIMEOUT: Duration = Duration::from_secs(60);
const JOB: &str = "00000000000000000000000000000001";
const OTHER: &str = "00000000000000000000000000000002";

/// `hactl watch`, and how far its lines were read.
struct Watch {
    process: ClusterProcess,
    read: usize,
}

impl Watch {
    fn start(cluster: &TestCluster) -> Result<Self> {
        let process = spawn(cluster, &[], |_| {})?;
        Ok(Self { process, read: 0 })
    }

    /// Waits for the next line that `matches`, and gives it; the ones before it are passed over.
    async fn until(&mut self, what: &str, matches: impl Fn(&Value) -> bool) -> Result<Value> {
        let output = self.process.output();
        let (read, line) = eventually(what, TIMEOUT, async || {
            let text = output.stdout();
            // The last one may not be whole yet.
            let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
            for (number, line) in whole.enumerate().skip(self.read) {
                let line = serde_json::from_str(line)?;
                if matches(&line) {
                    return Ok((number + 1, line));
                }
            }
            anyhow::bail!("no such line")
        })
        .await
        .with_context(|| format!("the end of its output:\n{}", output.end()))?;
        self.read = read;
        Ok(line)
    }

    /// The next line of this event of this job.
    async fn until_job(&mut self, event: &str, job: &str) -> Result<Value> {
        let what = format!("{event} of the job {job}");
        self.until(&what, |line| line["event"] == event && line["jobId"] == job)
            .await
    }

    /// The next line that says who leads the dispatcher at `address`.
    async fn until_leader(&mut self, address: &str) -> Result<Value> {
        let what = format!("the dispatcher is led by {address}");
        self.until(&what, |line| {
            line["event"] == "leaderChanged"
                && line["component"] == "dispatcher"
                && line["address"] == address
        })
        .await
    }

    async fn until_event(&mut self, event: &str) -> Result<Value> {
        self.until(event, |line| line["event"] == event).await
    }
}

fn spawn(
    cluster: &TestCluster,
    more: &[&str],
    adapt: impl FnOnce(&mut std::process::Command),
) -> Result<ClusterProcess> {
    let mut arguments = vec!["watch".to_owned(), "--output".to_owned(), "json".to_owned()];
    arguments.extend(cluster.arguments());
    arguments.extend(more.iter().copied().map(str::to_owned));
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    ClusterProcess::spawn_binary("hactl", "watch", &arguments, adapt)
}

/// A cluster that the test itself makes in the tree: a leader and a job with one checkpoint.
struct HandMade {
    admin: AdminClient,
    cluster: TestCluster,
}

impl HandMade {
    async fn on(ensemble: &Ensemble, session_timeout: Duration) -> Result<Self> {
        let made = Self {
            admin: AdminClient::connect(&ensemble.connect_string()).await?,
            cluster: TestCluster::new(&ensemble.connect_string(), session_timeout)?,
        };
        made.lead(1).await?;
        made.add_job(JOB).await?;
        made.complete(JOB, 1).await?;
        Ok(made)
    }

    /// Waits for an answer: the server may have come up a moment ago.
    async fn put(&self, path: &str, data: &str) -> Result<()> {
        let path = self.cluster.znode(path);
        eventually("the test's own write is answered", TIMEOUT, async || {
            match self.admin.node(&path).await? {
                Some(_) => self.admin.set(&path, data.as_bytes()).await,
                None => self.admin.create(&path, data.as_bytes()).await,
            }
        })
        .await
    }

    async fn lead(&self, term: u64) -> Result<()> {
        let information = json!({
            "format": 1,
            "leaderAddress": address(term),
            "leaderSessionId": format!("11111111-2222-3333-4444-{term:012}"),
            "epoch": term,
        });
        self.put("leader/dispatcher/connection_info", &information.to_string())
            .await
    }

    async fn add_job(&self, job: &str) -> Result<()> {
        let write_id = "99999999-2222-3333-4444-555555555555";
        let pointer = json!({
            "format": 1,
            "kind": "jobGraph",
            "path": format!("jobgraphs/{job}-{write_id}"),
            "size": 1,
            "crc32c": 1,
            "writeId": write_id,
            "name": "wordcount",
        });
        self.put(&format!("jobgraphs/{job}"), &pointer.to_string()).await
    }

    async fn complete(&self, job: &str, checkpoint: u64) -> Result<()> {
        self.put(&format!("jobs/{job}/checkpoints/{checkpoint:019}"), "")
            .await
    }

    /// Another leader, a job more, two checkpoints more of the other.
    async fn change(&self) -> Result<()> {
        self.lead(2).await?;
        self.complete(JOB, 2).await?;
        self.complete(JOB, 3).await?;
        self.add_job(OTHER).await
    }

    async fn expect_present(watch: &mut Watch) -> Result<()> {
        let leader = watch.until_leader(&address(1)).await?;
        ensure!(leader["present"] == true, "{leader}");
        watch.until_job("jobAdded", JOB).await?;
        watch.until_job("checkpointCompleted", JOB).await?;
        Ok(())
    }

    /// What [`HandMade::change`] made; what came and went in between need not be told.
    async fn expect_changed(watch: &mut Watch) -> Result<()> {
        let leader = watch.until_leader(&address(2)).await?;
        ensure!(leader["present"] == false && leader["epoch"] == 2, "{leader}");
        watch
            .until("checkpoint 3", |line| line["checkpointId"] == 3)
            .await?;
        watch.until_job("jobAdded", OTHER).await?;
        Ok(())
    }
}

fn address(term: u64) -> String {
    format!("http://127.0.0.1:{term}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_leader_and_the_life_of_a_job_are_told() -> Result<()> {
    let ensemble = Ensemble::shared().await?;
    let admin = AdminClient::connect(&ensemble.connect_string()).await?;
    let cluster = TestCluster::new(&ensemble.connect_string(), Duration::from_secs(4))?;
    let mut processes = vec![cluster.spawn("one", &[])?, cluster.spawn("two", &[])?];
    let first = cluster
        .wait_until_standing(&admin, &processes.iter().collect::<Vec<_>>())
        .await?;
    let mut watch = Watch::start(&cluster)?;
    let told = watch.until_leader(&first.address).await?;
    ensure!(
        told["present"] == true && told["sessionId"] == first.session_id.as_str(),
        "{told}"
    );

    let job = TestJob::create(cluster.folder(), "watched", 1, 200_000, Duration::from_secs(4))?;
    cluster.submit(&job).await?;
    let added = watch.until_job("jobAdded", &job.id).await?;
    ensure!(added["name"] == "watched" && added["present"] == false, "{added}");
    let completed = watch.until_job("checkpointCompleted", &job.id).await?;
    let completed = completed["checkpointId"].as_u64().context("an id")?;

    let leading = processes
        .iter()
        .position(|process| process.name() == first.process)
        .context("a process that leads")?;
    processes.remove(leading).process().kill()?;
    let second = watch
        .until("another leader of the dispatcher", |line| {
            let another = line["address"]
                .as_str()
                .is_some_and(|address| address != first.address);
            line["component"] == "dispatcher" && another
        })
        .await?;
    ensure!(
        second["epoch"].as_u64() > told["epoch"].as_u64(),
        "{told} {second}"
    );
    let next = watch.until_job("checkpointCompleted", &job.id).await?;
    ensure!(next["checkpointId"].as_u64() > Some(completed), "{next}");
    let ended = watch.until_job("jobEnded", &job.id).await?;
    ensure!(
        ended["status"] == "FINISHED" && ended["name"] == "watched",
        "{ended}"
    );
    job.verify_output()?;

    watch.process.process().interrupt()?;
    let status = watch.process.wait(TIMEOUT).await?;
    ensure!(
        status.code() == Some(0),
        "{status}: {}",
        watch.process.output().end()
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happens_while_the_server_is_away_is_told_when_it_is_back() -> Result<()> {
    let mut ensemble = Ensemble::start(EnsembleOptions::standalone()).await?;
    // The session outlives the restart on any machine.
    let made = HandMade::on(&ensemble, TIMEOUT).await?;
    let mut watch = Watch::start(&made.cluster)?;
    HandMade::expect_present(&mut watch).await?;

    ensemble.server(0)?.kill()?;
    watch.until_event("connectionLost").await?;
    // So it sees nothing of what happens once the server is there.
    watch.process.process().stop()?;
    ensemble.server(0)?.start()?;
    ensemble.wait_until_serving().await?;
    made.change().await?;
    watch.process.process().cont()?;
    watch.until_event("connectionBack").await?;
    HandMade::expect_changed(&mut watch).await?;

    // And what follows is told as before.
    made.complete(JOB, 4).await?;
    watch
        .until("checkpoint 4", |line| line["checkpointId"] == 4)
        .await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happens_after_its_session_ended_is_told_in_a_new_one() -> Result<()> {
    let ensemble = Ensemble::start(EnsembleOptions::standalone()).await?;
    let server: SocketAddr = ensemble.connect_string().parse()?;
    let made = HandMade::on(&ensemble, Duration::from_secs(6)).await?;
    let before = sessions(server)?;
    let mut watch = Watch::start(&made.cluster)?;
    HandMade::expect_present(&mut watch).await?;
    watch.process.process().stop()?;
    eventually("the server has ended the session", TIMEOUT, async || {
        let present = sessions(server)?;
        ensure!(present.is_subset(&before), "{present:?}, before {before:?}");
        Ok(())
    })
    .await?;
    made.change().await?;
    watch.process.process().cont()?;
    watch.until_event("connectionLost").await?;
    let back = watch.until_event("connectionBack").await?;
    ensure!(back["newSession"] == true, "{back}");
    HandMade::expect_changed(&mut watch).await?;
    made.complete(OTHER, 1).await?;
    watch.until_job("checkpointCompleted", OTHER).await?;
    Ok(())
}

/// The ids of all sessions that the server knows.
fn sessions(server: SocketAddr) -> Result<BTreeSet<String>> {
    let dump = four_letter_word(server, "dump")?;
    let (sets, _) = dump
        .split_once("ephemeral nodes dump")
        .with_context(|| format!("an answer to dump: {dump}"))?;
    let ids = sets.lines().map(str::trim).filter(|line| line.starts_with("0x"));
    Ok(ids.map(str::to_owned).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_ends_with_0_when_nobody_reads_on_although_nothing_happens() -> Result<()> {
    let ensemble = Ensemble::shared().await?;
    let made = HandMade::on(&ensemble, TIMEOUT).await?;
    let (mut reader, writer) = std::io::pipe()?;
    let mut process = spawn(&made.cluster, &[], |command| {
        command.stdout(Stdio::from(writer));
    })?;
    // All that is there is told: nothing is written any more that could fail.
    let mut told = String::new();
    while !told.ends_with("\"checkpointId\":1}\n") {
        let mut byte = [0];
        reader.read_exact(&mut byte)?;
        told.push(char::from(byte[0]));
    }
    ensure!(process.process().is_alive());
    drop(reader);
    let status = process.wait(TIMEOUT).await?;
    let errors = process.output().stderr();
    ensure!(
        status.code() == Some(0) && errors.is_empty(),
        "{status}: {errors}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_signal_ends_it_at_once_with_130() -> Result<()> {
    let mut ensemble = Ensemble::start(EnsembleOptions::standalone()).await?;
    // It waits for the end of its session as long as the session would last.
    let made = HandMade::on(&ensemble, TIMEOUT).await?;
    let mut process = spawn(&made.cluster, &["--log", "info"], |_| {})?;
    let output = process.output();
    output
        .wait_for_line("it watches", TIMEOUT, |line| line.contains("checkpointCompleted"))
        .await?;
    ensemble.server(0)?.stop()?;
    process.process().interrupt()?;
    process
        .output()
        .wait_for_line("the first signal", TIMEOUT, |line| line.contains("told to stop"))
        .await?;
    ensure!(process.process().is_alive());
    process.process().terminate()?;
    let status = process.wait(TIMEOUT).await?;
    ensure!(status.code() == Some(130), "{status}: {}", process.output().end());
    Ok(())
}
