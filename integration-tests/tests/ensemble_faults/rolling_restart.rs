//! A rolling restart (B12) with the default: nobody notices.

use std::time::Duration;

use anyhow::Context as _;
use integration_tests::{
    AdminClient, ClusterProcess, NodeSnapshot, TestCluster, TestJob, eventually, full_form, scaled, unstalled,
};
use serde_json::Value;

use crate::group::LONG;
use crate::rolling::{
    COMPONENTS, JOB_DURATION, ORDER, TICK, TIMEOUT, ensemble, events, outlasting, restart,
    wait_for_checkpoint_after,
};

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
    let paces = [(TIMEOUT, Pace::Job), (TIMEOUT * 2, Pace::Servers)];
    for (timeout, pace) in paces.into_iter().take(if full_form() { 2 } else { 1 }) {
        let run = unstalled(async || {
            restart_under_a_job(timeout, pace).await;
            Ok(())
        });
        run.await.unwrap();
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
        ha_services::choose_tls_provider();
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
