//! A rolling restart (B12): every server once, then the ensemble's leader twice, one at a time; each time the server
//! serves again, and the ensemble has a leader, before the next.

use std::time::Duration;

use anyhow::Context as _;
use ha_zookeeper::session::SessionOptions;
use integration_tests::ensemble::{ServerRole, four_letter_word};
use integration_tests::waiting::now;
use integration_tests::{
    AdminClient, CheckpointWatch, ClusterProcess, Ensemble, EnsembleOptions, NodeSnapshot, TestCluster,
    TestJob, eventually, full_form, scaled,
};
use serde_json::Value;

use crate::group::{Group, LONG, grants_and_revocations};
use crate::zookeeper::{Process, options};

const SERVERS: usize = 3;
const TICK: Duration = Duration::from_secs(2);
/// Six ticks: what is recommended at least.
const TIMEOUT: Duration = Duration::from_secs(12);
/// The job goes on for this long besides what the restarts take.
const JOB_DURATION: Duration = Duration::from_secs(15);
const COMPONENTS: [&str; 3] = ["dispatcher", "resource_manager", "rest_server"];

/// Three servers, and how long they took to start: a measure of how long a restart takes on this machine now.
async fn ensemble() -> (Ensemble, Duration) {
    let options = EnsembleOptions::three()
        .with_tick_time(TICK)
        .with_max_session_timeout(LONG * 2);
    let starting = now();
    let ensemble = Ensemble::start(options).await.unwrap();
    (ensemble, now().saturating_since(starting))
}

/// A session timeout that outlasts the election of the ensemble's leader and the clients' backoff, which are longer on
/// a busy machine.
fn outlasting(restart: Duration, at_least: Duration) -> Duration {
    let timeout = scaled(at_least).max(restart * 3);
    eprintln!("the servers started in {restart:?}; the session timeout is {timeout:?}");
    timeout
}

/// What is restarted next.
#[derive(Clone, Copy, Debug)]
enum Next {
    Server(usize),
    Leader,
}

const ORDER: [Next; 5] = [
    Next::Server(0),
    Next::Server(1),
    Next::Server(2),
    Next::Leader,
    Next::Leader,
];

/// kill -9 and start; it serves, and the ensemble has a leader, when this returns.
async fn restart(ensemble: &mut Ensemble, next: Next) {
    let leader = ensemble.leader().await.unwrap();
    let index = match next {
        Next::Server(index) => index,
        Next::Leader => leader,
    };
    let started = now();
    ensemble.server(index).unwrap().restart().await.unwrap();
    let new = ensemble.leader().await.unwrap();
    let role = if index == leader {
        ServerRole::Leader
    } else {
        ServerRole::Follower
    };
    eprintln!(
        "server {index}, {role:?}, restarted in {:?}; server {new} leads",
        now().saturating_since(started)
    );
}

/// When the next server is restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// As soon as the one before serves and the ensemble has a leader, whether or not the clients are back.
    Servers,
    /// Once the job has gone on, too.
    Job,
}

/// With the default, real processes and a running job notice nothing: no component changes its leader or epoch, the
/// job is not restarted, checkpoints go on, and the result is right. The full form (`HA_TEST_FULL=1`) does not wait
/// for the clients either, with twice the timeout.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b12_no_leader_changes_and_no_job_restarts() {
    restart_under_a_job(TIMEOUT, Pace::Job).await;
    if full_form() {
        restart_under_a_job(TIMEOUT * 2, Pace::Servers).await;
    }
}

async fn restart_under_a_job(timeout: Duration, pace: Pace) {
    let (mut ensemble, started_in) = ensemble().await;
    let servers = ensemble.connect_string();
    let admin = AdminClient::connect(&servers).await.unwrap();
    let tick = format!("{} ms", TICK.as_millis());
    let cluster = TestCluster::new(&servers, outlasting(started_in, timeout))
        .unwrap()
        .with("high-availability.zookeeper.server-tick-time", &tick);
    let job = TestJob::create(
        cluster.folder(),
        "rolling",
        12,
        2_000_000,
        scaled(JOB_DURATION) + started_in * 4,
    )
    .unwrap();
    let processes: Vec<_> = ["one", "two", "three"]
        .iter()
        .map(|name| cluster.spawn(name, &[]).unwrap())
        .collect();
    let standing: Vec<_> = processes.iter().collect();
    cluster.wait_until_standing(&admin, &standing).await.unwrap();
    cluster.submit(&job).await.unwrap();
    let watch = cluster.watch_checkpoints(&admin, &job);
    wait_for_checkpoint_after(&watch, 0).await;
    let rest = Rest::of(&processes).await;
    let before = eventually("all know all leaders", LONG, async || rest.leaders().await)
        .await
        .unwrap();
    let published = published(&cluster, &admin, &job).await;

    for next in ORDER {
        let newest = watch.all().last().unwrap().id;
        restart(&mut ensemble, next).await;
        if pace == Pace::Job {
            wait_for_checkpoint_after(&watch, newest).await;
        }
    }

    wait_for_checkpoint_after(&watch, watch.all().last().unwrap().id).await;
    let after = eventually("all know all leaders", LONG, async || rest.leaders().await)
        .await
        .unwrap();
    assert_eq!(after, before);
    assert_eq!(self::published(&cluster, &admin, &job).await, published);
    let status = rest.job(&job).await;
    eprintln!("after the restarts: {status}");
    assert_eq!(
        status["status"], "RUNNING",
        "the job ended before the restarts did"
    );
    assert_eq!(status["restoredCheckpointId"], Value::Null);
    let count = |name: &str| events(&processes, name);
    assert_eq!(
        count("leadershipGranted"),
        COMPONENTS.len() + 1,
        "one grant a component"
    );
    assert_eq!(count("leadershipRevoked"), 0);

    cluster
        .wait_until_cleaned_up(&admin, &job, LONG * 3)
        .await
        .unwrap();
    job.verify_output().unwrap();
    watch.expect_strictly_increasing().unwrap();
    assert_eq!(
        (
            count("jobStarted"),
            count("checkpointRestored"),
            count("jobSuspended")
        ),
        (1, 0, 0)
    );
    eprintln!(
        "{} checkpoints, {} failed ones",
        count("checkpointCompleted"),
        count("checkpointFailed")
    );
}

async fn wait_for_checkpoint_after(watch: &CheckpointWatch, id: u64) {
    eventually("checkpoints go on", LONG, async || {
        let newest = watch.newest().await?;
        anyhow::ensure!(newest.id > id, "{newest:?}");
        Ok(())
    })
    .await
    .unwrap();
}

/// The leader information of each component and of the job, as it stands in ZooKeeper, with its stat.
async fn published(cluster: &TestCluster, admin: &AdminClient, job: &TestJob) -> Vec<NodeSnapshot> {
    let of_job = format!("job-{}", job.id);
    let mut published = Vec::new();
    for component in COMPONENTS.into_iter().chain([of_job.as_str()]) {
        let path = cluster.znode(&format!("leader/{component}/connection_info"));
        let node = eventually(&path, LONG, async || {
            admin.node(&path).await?.context("nothing is published")
        });
        published.push(node.await.unwrap());
    }
    published
}

/// How often the processes logged an event.
fn events(processes: &[ClusterProcess], name: &str) -> usize {
    let all = processes.iter().flat_map(ClusterProcess::events);
    all.filter(|event| event.name == name).count()
}

/// The REST endpoints of the processes.
struct Rest {
    client: reqwest::Client,
    addresses: Vec<String>,
}

impl Rest {
    async fn of(processes: &[ClusterProcess]) -> Self {
        let mut addresses = Vec::new();
        for process in processes {
            let started = process
                .wait_for_event("processStarted", 0, LONG, |_| true)
                .await
                .unwrap();
            addresses.push(started.text("restAddress").to_owned());
        }
        Self {
            client: reqwest::Client::new(),
            addresses,
        }
    }

    /// The leaders of all components, with term and epoch, once every process knows them and all the same.
    async fn leaders(&self) -> anyhow::Result<Value> {
        let mut known = Vec::new();
        for address in &self.addresses {
            let overview = self.get(&format!("{address}/v1/overview")).await?;
            let leaders = overview["leaders"].clone();
            for component in COMPONENTS {
                anyhow::ensure!(leaders[component]["epoch"].is_u64(), "{overview}");
            }
            known.push(leaders);
        }
        anyhow::ensure!(known.windows(2).all(|pair| pair[0] == pair[1]), "{known:?}");
        Ok(known.remove(0))
    }

    async fn job(&self, job: &TestJob) -> Value {
        let path = format!("{}/v1/jobs/{}", self.addresses[0], job.id);
        eventually("the job's status", LONG, async || self.get(&path).await)
            .await
            .unwrap()
    }

    async fn get(&self, url: &str) -> anyhow::Result<Value> {
        Ok(self
            .client
            .get(url)
            .send()
            .await?
            .error_for_status()?
            .json()
            .await?)
    }
}

/// Without tolerance each real disconnection of the leader is one revocation and one grant, in a term of another id.
/// Nobody else is called.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b12_without_tolerance_each_disconnection_is_one_revocation_and_one_grant() {
    let (mut ensemble, started_in) = ensemble().await;
    let options = SessionOptions {
        server_tick_time: Some(TICK),
        tolerate_suspended_connections: false,
        ..options(&ensemble.connect_string(), outlasting(started_in, TIMEOUT))
    };
    let group = Group::start(3, &options).await;
    let leader = &group.processes[0];
    let mut socket = socket_of(&mut ensemble, leader).await;
    let mut sockets = 0;
    for next in ORDER {
        restart(&mut ensemble, next).await;
        group.answered().await;
        let present = socket_of(&mut ensemble, leader).await;
        sockets += usize::from(present != socket);
        socket = present;
        // The next disconnection is one of a leader again.
        eventually("granted as often as connected", LONG, async || {
            let connects = group.connects()[0];
            let (grants, revocations) = grants_and_revocations(leader);
            anyhow::ensure!(leader.leads().await);
            anyhow::ensure!(grants as u64 == connects, "{grants} grants, {connects} connects");
            anyhow::ensure!(
                revocations + 1 == grants,
                "{revocations} revocations, {grants} grants"
            );
            Ok(())
        })
        .await
        .unwrap();
    }
    let (grants, revocations) = grants_and_revocations(leader);
    eprintln!(
        "{revocations} disconnections, {sockets} seen by the servers: {grants} grants, {revocations} revocations"
    );
    assert!(sockets > 0, "no restart met the server of the leader");
    assert!(revocations >= sockets, "a disconnection was not noticed");
    assert_eq!(
        group.grants_and_revocations(),
        (grants, revocations),
        "only the leader is called"
    );
    let mut terms = leader.contender.sessions();
    terms.sort();
    terms.dedup();
    assert_eq!(terms.len(), grants, "a term came again");
    group.close().await;
}

/// The address of the client's end of the process's connection, as the server says that has it: another one for each
/// connection.
async fn socket_of(ensemble: &mut Ensemble, process: &Process) -> String {
    let session = process.session.status().borrow().session.unwrap();
    let session = format!("sid=0x{:x},", session.0);
    eventually("a server has the session", LONG, async || {
        for server in 0..SERVERS {
            let answer = four_letter_word(ensemble.server(server)?.address(), "cons")?;
            let line = answer.lines().find(|line| line.contains(&session));
            if let Some((socket, _)) = line.and_then(|line| line.trim().split_once('[')) {
                return Ok(socket.to_owned());
            }
        }
        anyhow::bail!("none has {session}")
    })
    .await
    .unwrap()
}
