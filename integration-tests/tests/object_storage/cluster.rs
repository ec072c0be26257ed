//! Three `ha-cluster` processes in ZooKeeper mode whose storage directory is a bucket: the leader is killed under a
//! job, another goes on from the newest acknowledged checkpoint, the job ends with the right output, and in the bucket
//! is what should be and nothing else, as orphan detection says too. The credentials stand in the environment, and
//! nowhere in what the processes write.

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use ha_core::environment::Environment;
use ha_core::lease::LeaseTerms;
use ha_core::services::HighAvailabilityServices as _;
use ha_storage::{OrphanReport, OrphanRules};
use ha_zookeeper::services::ZooKeeperHaServices;
use integration_tests::object_server::{Bucket, CREDENTIALS};
use integration_tests::{
    AdminClient, CheckpointWatch, ClusterProcess, Ensemble, LeaderSnapshot, TestCluster, TestJob, eventually,
    unstalled,
};

use crate::places::configuration;

const SESSION_TIMEOUT: Duration = Duration::from_secs(6);
const TIMEOUT: Duration = Duration::from_secs(60);
const END_TIMEOUT: Duration = Duration::from_secs(120);
/// Longer than a leader's session lives, so that its successor has something left to do.
const JOB_DURATION: Duration = Duration::from_secs(4);
const NAMES: [&str; 3] = ["one", "two", "three"];
/// Older than the age from which a file may be an orphan.
const OLD: Duration = Duration::from_secs(3600);
/// The file of a checkpoint.
const LATE: &str = "0000000000000000001-7f1de0a5-3c55-4d8e-9f0e-0d9b6c1f2a34";
/// The folder of the bucket that is the storage directory.
const FOLDER: &str = "ha";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_of_a_cluster_in_a_bucket_survives_its_leader_and_leaves_what_it_should() -> Result<()> {
    unstalled(async || {
        let mut run = Run::begin().await?;
        let outcome = run.survive().await;
        outcome.with_context(|| run.outputs())?;
        run.end_in_order().await?;
        run.expect_what_should_be_left().await?;
        run.expect_no_credentials().await
    })
    .await
}

struct Run {
    bucket: Bucket,
    admin: AdminClient,
    cluster: TestCluster,
    job: TestJob,
    running: Vec<ClusterProcess>,
    ended: Vec<ClusterProcess>,
    /// What the commands wrote.
    told: Vec<Output>,
    // Dropped last: the server that the others use.
    _ensemble: Ensemble,
}

impl Run {
    async fn begin() -> Result<Self> {
        let bucket = Bucket::create().await?;
        let ensemble = Ensemble::shared().await?;
        let mut cluster = TestCluster::new(&ensemble.connect_string(), SESSION_TIMEOUT)?
            .with_storage(Path::new(&bucket.uri(FOLDER)))
            .with("job-result-store.delete-on-commit", "false");
        for (key, value) in bucket.options() {
            cluster = cluster.with(key, &value);
        }
        for (key, value) in CREDENTIALS {
            cluster = cluster.with_secret(key, value);
        }
        Ok(Self {
            job: TestJob::create(cluster.folder(), "bucket", 7, 500_000, JOB_DURATION)?,
            running: NAMES
                .iter()
                .map(|name| cluster.spawn(name, &["--log", "debug"]))
                .collect::<Result<_>>()?,
            ended: Vec::new(),
            told: Vec::new(),
            admin: AdminClient::connect(&ensemble.connect_string()).await?,
            bucket,
            cluster,
            _ensemble: ensemble,
        })
    }

    async fn survive(&mut self) -> Result<()> {
        let processes: Vec<_> = self.running.iter().collect();
        self.cluster.wait_until_standing(&self.admin, &processes).await?;
        let watch = self.cluster.watch_checkpoints(&self.admin, &self.job);
        let job_file = self.job.file.display().to_string();
        self.command("ha-cluster", &["submit", &job_file]).await?;
        eventually("a second checkpoint", TIMEOUT, async || {
            ensure!(watch.newest().await?.id >= 2);
            Ok(())
        })
        .await?;
        let killed = self.cluster.leader_now(&self.admin).await?;
        let place = self
            .running
            .iter()
            .position(|process| process.name() == killed.process);
        let mut process = self.running.remove(place.context("a process that runs leads")?);
        process.process().kill()?;
        self.ended.push(process);
        self.expect_taken_over(&killed, &watch).await?;
        self.cluster
            .wait_until_only_result_is_left(&self.admin, &self.job, END_TIMEOUT, || self.objects())
            .await?;
        watch.expect_strictly_increasing()?;
        self.job.verify_output()
    }

    async fn expect_taken_over(&self, killed: &LeaderSnapshot, watch: &CheckpointWatch) -> Result<()> {
        // After the kill nothing can be acknowledged any more: what is newest now was acknowledged before.
        let acknowledged = watch.newest().await?.id;
        let other = |leader: &LeaderSnapshot| leader.process != killed.process;
        let leader = self
            .cluster
            .leader(&self.admin, "another process leads", TIMEOUT, other)
            .await?;
        let mut processes = self.running.iter();
        let process = processes.find(|process| process.name() == leader.process);
        process
            .context("the leader runs")?
            .wait_for_event("checkpointRestored", 0, TIMEOUT, |event| {
                event.text("jobId") == self.job.id
                    && event.number("checkpointId").is_some_and(|id| id >= acknowledged)
            })
            .await
            .with_context(|| format!("from checkpoint {acknowledged} or newer"))?;
        Ok(())
    }

    /// The survivors end on SIGTERM, which deletes nothing.
    async fn end_in_order(&mut self) -> Result<()> {
        for mut process in self.running.drain(..) {
            process.process().terminate()?;
            let status = process.wait(TIMEOUT).await?;
            ensure!(status.success(), "{status}: {}", process.output().end());
            self.ended.push(process);
        }
        Ok(())
    }

    async fn expect_what_should_be_left(&mut self) -> Result<()> {
        let (cluster, job) = (self.cluster.cluster_id().to_owned(), &self.job.id);
        let expected = [
            format!("job-results-store/{cluster}/{job}.json"),
            format!("{cluster}/identity.json"),
        ];
        let mut left = self.objects()?;
        left.sort();
        ensure!(
            left.iter().all(|key| expected.contains(key)) && left.len() == 2,
            "{left:?}"
        );
        ensure!(
            self.bucket.unfinished_uploads()? == 0,
            "parts of uploads are left"
        );

        // As a put of the killed process would have done that reached the store late.
        let path = format!("jobs/{job}/checkpoints/{LATE}");
        self.bucket
            .write(&format!("{FOLDER}/{cluster}/{path}"), b"late")?;
        self.bucket.age(OLD)?;
        let report = self.look_for_orphans().await?;
        ensure!(
            report.refusal.is_none() && report.foreign.is_empty() && report.unreadable.is_empty(),
            "{report:?}"
        );
        let orphans: Vec<_> = report.orphans.iter().map(|orphan| orphan.path.as_str()).collect();
        ensure!(orphans == [path.as_str()], "{report:?}");

        let results: serde_json::Value = serde_json::from_slice(
            &self
                .command("hactl", &["results", "--output", "json"])
                .await?
                .stdout,
        )?;
        let field = |name: &str| {
            results
                .pointer(&format!("/results/0/{name}"))
                .and_then(|value| value.as_str())
        };
        ensure!(
            field("id") == Some(self.job.id.as_str())
                && field("status") == Some("FINISHED")
                && field("cleanUp") == Some("DONE"),
            "hactl shows {results}"
        );
        Ok(())
    }

    async fn look_for_orphans(&self) -> Result<OrphanReport> {
        let definitions: Vec<_> = self.cluster.arguments();
        let definitions = definitions
            .iter()
            .map(|argument| argument.strip_prefix("-D").and_then(|text| text.split_once('=')));
        let definitions: Vec<_> = definitions.collect::<Option<_>>().context("definitions")?;
        let configuration = configuration(&self.bucket, definitions);
        // All processes have ended: nobody has to be deposed between the two observations.
        let terms = LeaseTerms::new(Duration::from_secs(1), Some(Duration::from_millis(100)))?;
        let rules = OrphanRules::new(Duration::ZERO, &terms).accepting_an_empty_tree();
        eventually("orphans are looked for", TIMEOUT, async || {
            let services = ZooKeeperHaServices::connect(&configuration, Environment::system()).await?;
            let report = services.orphan_detection_by(rules).find().await;
            // It has never led, so there is nothing to give up.
            let _ = services.close().await;
            Ok(report?)
        })
        .await
    }

    /// No secret is in an output, in an object, or in a znode.
    async fn expect_no_credentials(&mut self) -> Result<()> {
        let tree = self.command("hactl", &["tree", "--output", "json"]).await?;
        ensure!(!tree.stdout.is_empty());
        let mut written: Vec<(String, Vec<u8>)> = Vec::new();
        for process in &self.ended {
            let output = process.output();
            ensure!(!output.stderr().is_empty(), "{} logs nothing", process.name());
            written.push((process.name().to_owned(), output.stdout().into()));
            written.push((process.name().to_owned(), output.stderr().into()));
        }
        for output in &self.told {
            written.push(("a command".to_owned(), output.stdout.clone()));
            written.push(("a command".to_owned(), output.stderr.clone()));
        }
        for key in self.bucket.keys()? {
            let content = self.bucket.read(&key)?;
            written.push((key, content));
        }
        for (place, content) in written {
            let content = String::from_utf8_lossy(&content);
            for (key, value) in CREDENTIALS {
                ensure!(
                    !content.contains(value),
                    "{place} shows the value of {key}:\n{content}"
                );
            }
        }
        Ok(())
    }

    /// Runs a program on the cluster.
    async fn command(&mut self, program: &str, arguments: &[&str]) -> Result<Output> {
        let output = self.cluster.run(program, arguments).await?;
        self.told.push(output.clone());
        ensure!(output.status.success(), "{program} {arguments:?}: {output:?}");
        Ok(output)
    }

    /// What is in the storage directory, relative to it.
    fn objects(&self) -> Result<Vec<String>> {
        let prefix = format!("{FOLDER}/");
        let keys = self.bucket.keys()?;
        keys.iter()
            .map(|key| Ok(key.strip_prefix(&prefix).context("outside")?.to_owned()))
            .collect()
    }

    fn outputs(&self) -> String {
        let all = self.ended.iter().chain(&self.running);
        all.map(|process| format!("==== {}\n{}\n", process.name(), process.output().end()))
            .collect()
    }
}
