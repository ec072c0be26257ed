//! B36. Symptom: the storage is slow, the recovery of many jobs waits for it where heartbeats and revocations should
//! run, and the session is lost.
//!
//! Provoked: every operation of the storage takes longer than the session timeout, first while a process takes over
//! the jobs of another one, then while it runs them.
//!
//! Right: one term and one session from the first to the last; jobs are recovered at the same time, a bounded number of
//! files at once; checkpoints go on, as slow as the storage is. The storage comes back to speed, and the next
//! checkpoint is fast.
//!
//! In the full form 50 jobs are recovered, and listing is slow too.
//!
//! Sources: FLINK-22483 (flink#16652), FLINK-19401 (flink#13709), FLINK-27204 (flink#22341), FLINK-3107.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use ha_cluster::job::{JobOverview, JobSpec};
use ha_cluster::process::{ClusterProcess, ProcessOptions};
use ha_cluster::rest::RestListener;
use ha_core::configuration::{Configuration, HighAvailabilityOptions as Options};
use ha_core::environment::Environment;
use ha_core::health::HealthMonitor;
use ha_core::ids::{CheckpointId, ClusterId, JobId};
use ha_core::jobs::JobStatus;
use ha_core::services::HighAvailabilityServices;
use ha_storage::HaStorage;
use ha_zookeeper::services::ZooKeeperHaServices;
use ha_zookeeper::session::{SessionOptions, ZooKeeperSession};
use integration_tests::waiting::now;
use integration_tests::workload::write_text;
use integration_tests::{Ensemble, eventually, full_form, unique_name, unstalled};
use object_store::ObjectStore;
use object_store::memory::InMemory;
use object_store::throttle::{ThrottleConfig, ThrottledStore};

/// How much of it there is.
#[derive(Clone, Copy)]
struct Scale {
    jobs: u8,
    session_timeout: Duration,
    /// Of each operation of the storage: more than a session timeout.
    latency: Duration,
    lists_slowly: bool,
}

const SHORT: Scale = Scale {
    jobs: 16,
    session_timeout: Duration::from_secs(3),
    latency: Duration::from_millis(3750),
    lists_slowly: false,
};
const FULL: Scale = Scale {
    jobs: 50,
    session_timeout: Duration::from_secs(4),
    latency: Duration::from_secs(5),
    lists_slowly: true,
};
const TIMEOUT: Duration = Duration::from_secs(120);

/// A cluster over a storage whose speed the test sets.
struct Cluster {
    store: Arc<ThrottledStore<InMemory>>,
    id: ClusterId,
    configuration: Configuration,
    _ensemble: Ensemble,
}

/// One process of it.
struct Member {
    process: ClusterProcess,
    services: Arc<ZooKeeperHaServices>,
}

impl Cluster {
    async fn new(scale: Scale) -> Result<Self> {
        let ensemble = Ensemble::shared().await?;
        let id = unique_name("b36");
        let timeout = format!("{} ms", scale.session_timeout.as_millis());
        let configuration = Configuration::new()
            .with(Options::HA_MODE.key(), "zookeeper")
            .with(Options::HA_CLUSTER_ID.key(), &id)
            .with(Options::HA_STORAGE_PATH.key(), "memory:///")
            .with(Options::HA_ZOOKEEPER_QUORUM.key(), ensemble.connect_string())
            .with(Options::HA_ZOOKEEPER_ROOT.key(), "/ha-test")
            .with(Options::HA_ZOOKEEPER_SESSION_TIMEOUT.key(), &timeout)
            .with(Options::HA_ZOOKEEPER_SERVER_TICK_TIME.key(), "500 ms")
            .with("cluster.job-slots", "100");
        Ok(Self {
            store: Arc::new(ThrottledStore::new(InMemory::new(), ThrottleConfig::default())),
            id: ClusterId::new(&id)?,
            configuration,
            _ensemble: ensemble,
        })
    }

    fn set_latency(&self, latency: Duration, of_lists: Duration) {
        self.store.config_mut(|config| {
            *config = ThrottleConfig {
                wait_delete_per_call: latency,
                wait_get_per_call: latency,
                wait_list_per_call: of_lists,
                wait_list_with_delimiter_per_call: of_lists,
                wait_put_per_call: latency,
                ..ThrottleConfig::default()
            };
        });
    }

    async fn start(&self, name: &str) -> Result<Member> {
        let environment = Environment::system();
        let options = SessionOptions::from_configuration(&self.configuration)?;
        let session =
            ZooKeeperSession::connect(options, environment.clone(), HealthMonitor::default()).await?;
        let store = Arc::clone(&self.store) as Arc<dyn ObjectStore>;
        let storage = HaStorage::on_object_store(store, "memory:///", &self.id, &environment);
        let services =
            ZooKeeperHaServices::create_over(storage, session, &self.configuration, environment.clone())
                .await?;
        let listener = RestListener::bind(&["127.0.0.1:0".parse()?])?;
        let address = format!("http://{}", listener.address());
        let options = ProcessOptions::from_configuration(&self.configuration, name.to_owned(), address)?;
        let shared = Arc::clone(&services) as Arc<dyn HighAvailabilityServices>;
        Ok(Member {
            process: ClusterProcess::start(shared, environment, options, listener).await?,
            services,
        })
    }
}

impl Member {
    async fn job(&self, id: JobId) -> Result<JobOverview> {
        let job = self.process.dispatcher().job(id).await?;
        job.context("the job is not known")
    }

    /// The newest checkpoints of the jobs, once each has one above those that `above` gives.
    async fn checkpoints(
        &self,
        jobs: &[JobId],
        above: impl Fn(&JobOverview) -> Option<CheckpointId>,
    ) -> Result<Vec<CheckpointId>> {
        let mut newest = Vec::new();
        for id in jobs {
            let what = format!("a checkpoint of {id}");
            let checkpoint = eventually(&what, TIMEOUT, async || {
                let job = self.job(*id).await?;
                ensure!(job.status == JobStatus::Running, "{job:?}");
                match job.latest_checkpoint_id {
                    Some(checkpoint) if Some(checkpoint) > above(&job) => Ok(checkpoint),
                    _ => bail!("{job:?}"),
                }
            })
            .await?;
            newest.push(checkpoint);
        }
        Ok(newest)
    }

    async fn end(self) -> Result<()> {
        self.process.suspend().await;
        self.services.close().await?;
        self.process.stop().await;
        Ok(())
    }
}

async fn slow_storage_costs_no_leadership(scale: Scale) -> Result<()> {
    let cluster = Cluster::new(scale).await?;
    let folder = tempfile::tempdir()?;
    let source = folder.path().join("text");
    write_text(&source, 36, 1_000_000, 200)?;
    let one = cluster.start("one").await?;
    let jobs: Vec<_> = (1..=scale.jobs)
        .map(|number| JobId::from_bytes([number; 16]))
        .collect();
    for id in &jobs {
        let spec = JobSpec {
            name: format!("job {id}"),
            source: source.clone(),
            sink: folder.path().join(id.to_string()),
            checkpoint_interval: Duration::from_millis(500),
            lines_per_second: Some(1),
        };
        eventually("the job is accepted", TIMEOUT, async || {
            Ok(one.process.dispatcher().submit(*id, spec.clone()).await?)
        })
        .await?;
    }
    one.checkpoints(&jobs, |_| None).await?;
    let mut acknowledged = Vec::new();
    for id in &jobs {
        acknowledged.push(one.job(*id).await?.latest_checkpoint_id);
    }
    one.end().await?;

    let two = cluster.start("two").await?;
    let of_lists = if scale.lists_slowly {
        scale.latency
    } else {
        Duration::ZERO
    };
    cluster.set_latency(scale.latency, of_lists);
    let mut status = two.services.session().status();
    let session = status.latest().session;
    let started = now();
    let leader = || {
        let leader = two.process.rest_leader().leader();
        leader.map(|leader| leader.leader_session_id)
    };
    let term = eventually("the process leads", TIMEOUT, async || {
        leader().context("none leads")
    })
    .await?;
    // Recovered, each from what was acknowledged at least, and the next checkpoint taken.
    two.checkpoints(&jobs, |job| {
        job.restored_checkpoint_id.or(Some(CheckpointId::FIRST))
    })
    .await?;
    for (id, acknowledged) in jobs.iter().zip(acknowledged) {
        let job = two.job(*id).await?;
        ensure!(
            job.restored_checkpoint_id >= acknowledged,
            "{job:?}, {acknowledged:?}"
        );
    }
    let slow = now().saturating_since(started);
    ensure!(slow > scale.latency * 2, "the storage was not slow: {slow:?}");
    ensure!(leader() == Some(term), "another term since");
    ensure!(status.latest().session == session, "another session since");

    cluster.set_latency(Duration::ZERO, Duration::ZERO);
    let newest = two.job(jobs[0]).await?.latest_checkpoint_id;
    two.checkpoints(&jobs[..1], |_| newest).await?;
    ensure!(leader() == Some(term) && status.latest().session == session);
    two.end().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b36_a_storage_slower_than_the_session_timeout_costs_no_leadership() -> Result<()> {
    let scale = if full_form() { FULL } else { SHORT };
    unstalled(async || slow_storage_costs_no_leadership(scale).await).await
}
