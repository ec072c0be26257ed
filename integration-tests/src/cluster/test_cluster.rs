use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use tempfile::TempDir;

use super::{CheckpointWatch, TestJob};
use crate::ensemble::{Choice, EnsembleOptions};
use crate::process::{binaries, run_adapted_binary};
use crate::{AdminClient, ClusterProcess, StepFault, eventually, unique_name};

const ROOT: &str = "/flink";
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// The configuration of one cluster: an id that nobody else uses, a storage folder of its own.
#[derive(Debug)]
pub struct TestCluster {
    cluster_id: String,
    definitions: Vec<(String, String)>,
    secrets: Vec<(String, String)>,
    storage: PathBuf,
    folder: TempDir,
}

/// Who leads, as ZooKeeper says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderSnapshot {
    /// The name of the process.
    pub process: String,
    /// The leader session id.
    pub session_id: String,
    /// The address of the REST endpoint.
    pub address: String,
    /// The znode of its latch.
    pub latch: String,
    /// Its ZooKeeper session.
    pub zookeeper_session: i64,
}

impl TestCluster {
    /// A cluster in ZooKeeper mode with this session timeout. The tick of the tests' own servers is told to it; of a
    /// given server the default is assumed.
    ///
    /// # Errors
    /// Its folder cannot be made, the programs cannot be built, or HA_TEST_ZOOKEEPER is wrong.
    pub fn new(connect_string: &str, session_timeout: Duration) -> Result<Self> {
        binaries::prepare()?;
        let folder = tempfile::Builder::new().prefix("ha-test-cluster-").tempdir()?;
        let storage = folder.path().join("storage");
        let cluster_id = unique_name("test");
        let definitions = [
            ("high-availability", "zookeeper"),
            ("high-availability.cluster-id", &cluster_id),
            ("high-availability.zookeeper.path.root", ROOT),
            ("high-availability.zookeeper.quorum", connect_string),
            ("high-availability.zookeeper.client.retry-wait", "200 ms"),
            (
                "high-availability.zookeeper.client.session-timeout",
                &format!("{} ms", session_timeout.as_millis()),
            ),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()));
        let cluster = Self {
            cluster_id,
            definitions: definitions.into(),
            secrets: Vec::new(),
            storage,
            folder,
        };
        Ok(match Choice::from_environment()? {
            Choice::Process | Choice::Container(_) => {
                let tick = EnsembleOptions::standalone().tick_time.as_millis();
                cluster.with(
                    "high-availability.zookeeper.server-tick-time",
                    &format!("{tick} ms"),
                )
            }
            Choice::Given(_) => cluster,
        })
    }

    /// The same with another value of an option.
    #[must_use]
    pub fn with(mut self, key: &str, value: &str) -> Self {
        self.definitions.retain(|(known, _)| known != key);
        self.definitions.push((key.to_owned(), value.to_owned()));
        self
    }

    /// The same with a secret option, which its programs find in their environment.
    #[must_use]
    pub fn with_secret(mut self, key: &str, value: &str) -> Self {
        let name = key.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        let name = format!("HA_{}", name.to_ascii_uppercase());
        self.secrets.push((name, value.to_owned()));
        self
    }

    /// The same with another storage directory.
    #[must_use]
    pub fn with_storage(mut self, storage: &Path) -> Self {
        self.storage = storage.to_owned();
        self
    }

    /// Its id.
    pub fn cluster_id(&self) -> &str {
        &self.cluster_id
    }

    /// Its storage directory.
    pub fn storage(&self) -> &Path {
        &self.storage
    }

    /// A folder for texts, job files and outputs.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The znode of the cluster, or `below` it.
    pub fn znode(&self, below: &str) -> String {
        if below.is_empty() {
            format!("{ROOT}/{}", self.cluster_id)
        } else {
            format!("{ROOT}/{}/{below}", self.cluster_id)
        }
    }

    /// `-D` arguments for every program of the workspace.
    pub fn arguments(&self) -> Vec<String> {
        let storage = (
            "high-availability.storageDir".to_owned(),
            self.storage.display().to_string(),
        );
        let definitions = self.definitions.iter().chain([&storage]);
        definitions
            .map(|(key, value)| format!("-D{key}={value}"))
            .collect()
    }

    /// Starts `ha-cluster run` under this name, with a free REST port and the JSON log.
    ///
    /// # Errors
    /// It cannot be built or started.
    pub fn spawn(&self, name: &str, more: &[&str]) -> Result<ClusterProcess> {
        let arguments = self.run_arguments(name, more);
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        ClusterProcess::spawn_binary("ha-cluster", name, &arguments, |command| {
            command.envs(self.secrets.iter().cloned());
        })
    }

    /// The same, but the process meets `fault`.
    ///
    /// # Errors
    /// It cannot be built or started.
    pub fn spawn_with(&self, name: &str, more: &[&str], fault: &StepFault) -> Result<ClusterProcess> {
        let arguments = self.run_arguments(name, more);
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        ClusterProcess::spawn_program("integration-tests", "test-cluster", name, &arguments, |command| {
            command.envs(self.secrets.iter().cloned());
            fault.apply_to(command);
        })
    }

    fn run_arguments(&self, name: &str, more: &[&str]) -> Vec<String> {
        let fixed = [
            "run",
            "--name",
            name,
            "--rest",
            "127.0.0.1:0",
            "--log-format",
            "json",
        ];
        let fixed = fixed.iter().copied().map(str::to_owned);
        let more = more.iter().copied().map(str::to_owned);
        fixed.chain(self.arguments()).chain(more).collect()
    }

    /// Runs a program of the workspace on this cluster to its end.
    ///
    /// # Errors
    /// It cannot be built or started, or does not end.
    pub async fn run(&self, program: &str, arguments: &[&str]) -> Result<Output> {
        let definitions = self.arguments();
        let all: Vec<_> = arguments
            .iter()
            .copied()
            .chain(definitions.iter().map(String::as_str))
            .collect();
        run_adapted_binary(program, &all, |command| {
            command.envs(self.secrets.iter().cloned());
        })
        .await
    }

    /// Submits a job to the leader.
    ///
    /// # Errors
    /// `ha-cluster submit` fails; its output is in the error.
    pub async fn submit(&self, job: &TestJob) -> Result<()> {
        let file = job.file.display().to_string();
        let output = self.run("ha-cluster", &["submit", &file]).await?;
        if !output.status.success() {
            bail!(
                "submit ended with {}: {}",
                output.status,
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(())
    }

    /// Runs `hactl` with `--output json` and gives its document, whatever the exit code.
    ///
    /// # Errors
    /// It writes no document.
    pub async fn hactl(&self, arguments: &[&str]) -> Result<Value> {
        let mut all = vec!["--output", "json"];
        all.extend(arguments);
        let output = self.run("hactl", &all).await?;
        serde_json::from_slice(&output.stdout)
            .with_context(|| format!("hactl: {}", String::from_utf8_lossy(&output.stderr)))
    }

    /// Watches the checkpoints of a job.
    pub fn watch_checkpoints(&self, admin: &AdminClient, job: &TestJob) -> CheckpointWatch {
        CheckpointWatch::start(admin.clone(), self.znode(&format!("jobs/{}/checkpoints", job.id)))
    }

    /// Who leads the dispatcher now.
    ///
    /// # Errors
    /// Nobody does, or what is there does not fit together.
    pub async fn leader_now(&self, admin: &AdminClient) -> Result<LeaderSnapshot> {
        let information = self.znode("leader/dispatcher/connection_info");
        let information = admin
            .text(&information)
            .await?
            .context("no leader is published")?;
        let information: Value = serde_json::from_str(&information)?;
        let session_id = text(&information, "leaderSessionId")?;
        let address = text(&information, "leaderAddress")?;
        let latches = self.znode("leader/latch");
        for name in admin.children(&latches).await? {
            let latch = format!("{latches}/{name}");
            let Some(node) = admin.node(&latch).await? else {
                continue;
            };
            let data: Value = serde_json::from_slice(&node.data)?;
            if data.get("leaderSessionId").and_then(Value::as_str) == Some(&session_id) {
                return Ok(LeaderSnapshot {
                    process: text(&data, "process")?,
                    session_id,
                    address,
                    latch,
                    zookeeper_session: node.stat.ephemeral_owner,
                });
            }
        }
        bail!("the leader {session_id} has no latch")
    }

    /// Waits until somebody leads that `matches`.
    ///
    /// # Errors
    /// Nobody does within `timeout` times the time factor.
    pub async fn leader(
        &self,
        admin: &AdminClient,
        what: &str,
        timeout: Duration,
        matches: impl Fn(&LeaderSnapshot) -> bool,
    ) -> Result<LeaderSnapshot> {
        eventually(what, timeout, async || {
            let leader = self.leader_now(admin).await?;
            if !matches(&leader) {
                bail!("{leader:?} leads");
            }
            Ok(leader)
        })
        .await
    }

    /// Waits until all of `processes` stand in the election and one of them leads.
    ///
    /// # Errors
    /// They do not within a minute times the time factor; the ends of their output are in the error.
    pub async fn wait_until_standing(
        &self,
        admin: &AdminClient,
        processes: &[&ClusterProcess],
    ) -> Result<LeaderSnapshot> {
        let latches = self.znode("leader/latch");
        let standing = eventually("all processes stand in the election", START_TIMEOUT, async || {
            let found = admin.children(&latches).await?.len();
            if found < processes.len() {
                bail!("{found} of {} do", processes.len());
            }
            self.leader_now(admin).await
        });
        standing.await.with_context(|| {
            let ends: Vec<_> = processes
                .iter()
                .map(|process| format!("{}:\n{}", process.name(), process.output().end()))
                .collect();
            ends.join("\n")
        })
    }

    /// The files below the storage directory, relative to it, sorted; temporary names too.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn files(&self) -> Result<Vec<String>> {
        let mut files = Vec::new();
        let mut folders = vec![self.storage.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder)? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    files.push(path.strip_prefix(&self.storage)?.display().to_string());
                }
            }
        }
        files.sort();
        Ok(files)
    }

    /// Waits until the result of the job is clean and nothing else of the job is left: no znode, no file.
    ///
    /// # Errors
    /// That is not so within `timeout` times the time factor.
    pub async fn wait_until_cleaned_up(
        &self,
        admin: &AdminClient,
        job: &TestJob,
        timeout: Duration,
    ) -> Result<()> {
        self.wait_until_only_result_is_left(admin, job, timeout, || self.files())
            .await
    }

    /// The same where the storage directory is none of the local file system: `files` lists what is in it.
    ///
    /// # Errors
    /// That is not so within `timeout` times the time factor.
    pub async fn wait_until_only_result_is_left(
        &self,
        admin: &AdminClient,
        job: &TestJob,
        timeout: Duration,
        files: impl Fn() -> Result<Vec<String>>,
    ) -> Result<()> {
        let clean = format!("job-results-store/{}/{}.json", self.cluster_id, job.id);
        eventually("the job has ended and is cleaned up", timeout, async || {
            let of_job: Vec<_> = files()?
                .into_iter()
                .filter(|file| file.contains(&job.id))
                .collect();
            if of_job != [clean.as_str()] {
                bail!("files of the job: {of_job:?}");
            }
            for parent in ["jobgraphs", "jobs", "running_job_registry"] {
                let children = admin.children(&self.znode(parent)).await?;
                if children.contains(&job.id) {
                    bail!("{parent} holds {children:?}");
                }
            }
            let leaders = admin.children(&self.znode("leader")).await?;
            if leaders.iter().any(|name| name.contains(&job.id)) {
                bail!("leader holds {leaders:?}");
            }
            Ok(())
        })
        .await
    }
}

fn text(document: &Value, field: &str) -> Result<String> {
    document
        .get(field)
        .and_then(Value::as_str)
        .map(str::to_owned)
        .with_context(|| format!("{document} has no {field}"))
}
