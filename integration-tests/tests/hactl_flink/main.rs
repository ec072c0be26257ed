//! The reading commands and the doctor of `hactl` on recordings of running Flink clusters, loaded into a real ZooKeeper:
//! they say what the descriptions of the recordings say, for each version; and a copy whose files are gone is told
//! pointer by pointer. `hactl watch` follows what the test changes in them; and `living` what a living Flink does.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod living;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use ha_testkit::FlinkRecording;
use integration_tests::process::run_binary;
use integration_tests::{AdminClient, ClusterProcess, Ensemble, unique_name};
use serde_json::Value;
use tempfile::TempDir;
use zookeeper_client::{Acls, CreateMode};

/// A cluster of Flink as it was recorded.
struct FlinkCluster {
    recording: FlinkRecording,
    root: String,
    folder: TempDir,
    ensemble: Ensemble,
    /// What owns the latch nodes and the leader information.
    _sessions: Vec<AdminClient>,
}

impl FlinkCluster {
    async fn load(recording: FlinkRecording) -> Result<Self> {
        let ensemble = Ensemble::shared().await?;
        let root = format!("/{}", unique_name("flink"));
        let mut sessions = BTreeMap::new();
        for znode in &recording.znodes {
            let owner = znode.ephemeral_owner();
            if let std::collections::btree_map::Entry::Vacant(vacant) = sessions.entry(owner) {
                vacant.insert(AdminClient::connect(&ensemble.connect_string()).await?);
            }
            let mode = match owner {
                0 => CreateMode::Persistent,
                _ => CreateMode::Ephemeral,
            };
            let path = znode.path.replacen("/flink", &root, 1);
            let options = mode.with_acls(Acls::anyone_all());
            let client = sessions[&owner].client();
            client.create(&path, &znode.data(), &options).await?;
        }
        let folder = TempDir::new()?;
        for (path, content) in recording.files() {
            let below = path.strip_prefix(&recording.storage_dir).unwrap();
            let path = folder.path().join(below.trim_start_matches('/'));
            std::fs::create_dir_all(path.parent().unwrap())?;
            std::fs::write(path, content)?;
        }
        Ok(Self {
            recording,
            root,
            folder,
            ensemble,
            _sessions: sessions.into_values().collect(),
        })
    }

    /// The exit code and the document of a command; the files are looked for in `storage`.
    async fn hactl_in(&self, storage: &Path, arguments: &[&str]) -> Result<(Option<i32>, Value)> {
        let mut all = self.arguments(storage);
        all.extend(arguments.iter().copied().map(str::to_owned));
        let all: Vec<_> = all.iter().map(String::as_str).collect();
        let output = run_binary("hactl", &all).await?;
        let document = serde_json::from_slice(&output.stdout)
            .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
        Ok((output.status.code(), document))
    }

    /// What every command is told; the files are looked for in `storage`.
    fn arguments(&self, storage: &Path) -> Vec<String> {
        let storage = storage.display();
        let mapping = format!("{}={storage}", self.recording.storage_dir);
        let definitions = [
            "high-availability=zookeeper".to_owned(),
            format!(
                "high-availability.zookeeper.quorum={}",
                self.ensemble.connect_string()
            ),
            format!("high-availability.zookeeper.path.root={}", self.root),
            format!("high-availability.cluster-id={}", self.recording.cluster_id()),
            // As Flink itself is configured.
            format!("high-availability.storageDir={}", self.recording.storage_dir),
        ];
        let fixed = ["--output", "json", "--map-path", &mapping].map(str::to_owned);
        let definitions = definitions.map(|definition| format!("-D{definition}"));
        fixed.into_iter().chain(definitions).collect()
    }

    /// The path of a znode of the cluster.
    fn at(&self, below: &str) -> String {
        format!("{}/{}/{below}", self.root, self.recording.cluster_id())
    }

    /// The data of a znode as it was recorded.
    fn recorded(&self, below: &str) -> Vec<u8> {
        let path = format!("{}/{below}", self.recording.cluster());
        let znode = self.recording.znodes.iter().find(|znode| znode.path == path);
        znode.unwrap().data()
    }

    /// Starts `hactl watch`.
    fn watch(&self, layout: &str) -> Result<ClusterProcess> {
        let mut arguments = vec!["watch".to_owned(), "--layout".to_owned(), layout.to_owned()];
        arguments.extend(self.arguments(self.folder.path()));
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        ClusterProcess::spawn_binary("hactl", "watch", &arguments, |_| {})
    }

    async fn hactl(&self, arguments: &[&str]) -> Result<Value> {
        let (code, document) = self.hactl_in(self.folder.path(), arguments).await?;
        assert_eq!(
            (code, &document["broken"]),
            (Some(0), &Value::Array(Vec::new())),
            "{document:#}"
        );
        Ok(document)
    }
}

/// That `doctor` makes its checks, and that there is nothing wrong.
async fn expect_healthy(cluster: &FlinkCluster) -> Result<()> {
    let doctor = cluster.hactl(&["doctor"]).await?;
    assert_eq!(texts(&doctor, "findings", "id"), [""; 0], "{doctor:#}");
    let made = texts(&doctor, "checks", "");
    for check in [
        "no-leader",
        "pointer-to-missing-file",
        "dirty-result-old",
        "session-timeout-shortened",
    ] {
        assert!(made.contains(&check), "{doctor:#}");
    }
    Ok(())
}

fn texts<'a>(document: &'a Value, list: &str, field: &str) -> Vec<&'a str> {
    let entries = document[list].as_array().unwrap().iter();
    entries
        .map(|entry| match field {
            "" => entry.as_str().unwrap(),
            field => entry[field].as_str().unwrap(),
        })
        .collect()
}

const COMPONENTS: [&str; 3] = ["dispatcher", "resource_manager", "rest_server"];

#[tokio::test]
async fn an_idle_cluster_of_2_3_has_two_processes_one_leader_and_no_job() -> Result<()> {
    let cluster = FlinkCluster::load(FlinkRecording::idle_2_3()).await?;
    let leaders = cluster.hactl(&["leaders"]).await?;
    assert_eq!(texts(&leaders, "leaders", "component"), COMPONENTS);
    let contenders = leaders["contenders"].as_array().unwrap();
    let leading: Vec<_> = contenders
        .iter()
        .map(|contender| contender["leading"].as_bool())
        .collect();
    assert_eq!(leading, [Some(true), Some(false)]);
    let jobs = cluster.hactl(&["jobs"]).await?;
    assert_eq!(jobs["jobs"].as_array().map(Vec::len), Some(0));
    expect_healthy(&cluster).await
}

#[tokio::test]
async fn running_jobs_of_each_version_are_shown_with_leader_checkpoints_and_counter() -> Result<()> {
    for (recording, folder, job, ids, next, registry) in [
        (
            FlinkRecording::running_2_3(),
            "execution-plans",
            "871c6b3ce33cf24f843e42c417ff8b5f",
            [6, 7, 8],
            9,
            None,
        ),
        (
            FlinkRecording::running_1_20(),
            "jobgraphs",
            "2a01c0bf650974ae212bd16756254086",
            [69, 70, 71],
            72,
            None,
        ),
        (
            FlinkRecording::running_1_14(),
            "jobgraphs",
            "454c0ae7bd7ba4cbc16fee2728ee099d",
            [12, 13, 14],
            15,
            Some("RUNNING"),
        ),
    ] {
        let cluster = FlinkCluster::load(recording).await?;
        let leaders = cluster.hactl(&["leaders"]).await?;
        let manager = format!("job-{job}");
        let expected = ["dispatcher", &manager, "resource_manager", "rest_server"];
        assert_eq!(texts(&leaders, "leaders", "component"), expected);

        let jobs = cluster.hactl(&["jobs"]).await?;
        let [shown] = jobs["jobs"].as_array().unwrap().as_slice() else {
            panic!("{jobs:#}");
        };
        assert_eq!(
            (shown["id"].as_str(), shown["name"].as_str()),
            (Some(job), Some("live-job"))
        );
        assert_eq!(
            (shown["status"].as_str(), shown["registry"].as_str()),
            (Some("RUNNING"), registry)
        );
        assert_eq!(shown["latestCheckpointId"], ids[2]);
        assert_eq!(shown["nextCheckpointId"], next);
        assert_eq!(shown["jobGraphReadable"], true);

        let checkpoints = cluster.hactl(&["checkpoints", job]).await?;
        let found = checkpoints["checkpoints"].as_array().unwrap();
        let shown: Vec<_> = found
            .iter()
            .map(|one| (one["id"].as_i64(), one["readable"].as_bool()))
            .collect();
        assert_eq!(shown, ids.map(|id| (Some(id), Some(true))));
        let external = found[2]["externalPath"].as_str().unwrap();
        assert!(
            external.ends_with(&format!("/{job}/chk-{}", ids[2])),
            "{external}"
        );

        let blobs = cluster.hactl(&["blobs"]).await?;
        assert_eq!(texts(&blobs, "blobs", "jobId"), [job], "{blobs:#}");
        assert!(texts(&blobs, "blobs", "key")[0].starts_with("p-"), "{blobs:#}");

        let tree = cluster.hactl(&["tree"]).await?;
        let nodes = tree["nodes"].as_array().unwrap();
        assert_eq!(nodes.len(), cluster.recording.znodes.len() - 1);
        let said = format!("next checkpoint id {next}");
        assert!(
            nodes.iter().any(|node| node["decoded"] == said.as_str()),
            "{tree:#}"
        );

        expect_healthy(&cluster).await?;

        // A copy without its files: each pointer is told.
        let empty = TempDir::new()?;
        let (code, checkpoints) = cluster.hactl_in(empty.path(), &["checkpoints", job]).await?;
        assert_eq!(
            (code, texts(&checkpoints, "broken", "path").len()),
            (Some(1), 3),
            "{checkpoints:#}"
        );
        assert!(
            texts(&checkpoints, "broken", "reason")
                .iter()
                .all(|reason| reason.ends_with("which is missing"))
        );
        let (code, jobs) = cluster.hactl_in(empty.path(), &["jobs"]).await?;
        assert_eq!(
            (code, &jobs["jobs"][0]["jobGraphReadable"]),
            (Some(1), &Value::Bool(false))
        );
        let (code, doctor) = cluster.hactl_in(empty.path(), &["doctor"]).await?;
        assert_eq!(code, Some(1));
        assert_eq!(
            texts(&doctor, "findings", "id"),
            ["pointer-to-missing-file"; 4],
            "{doctor:#}"
        );
        let dangling: BTreeSet<_> = texts(&doctor, "findings", "znode").into_iter().collect();
        let checkpoints = ids.map(|id| format!("jobs/{job}/checkpoints/{id:019}"));
        let pointers: BTreeSet<_> = [format!("{folder}/{job}")]
            .into_iter()
            .chain(checkpoints)
            .map(|below| cluster.at(&below))
            .collect();
        assert!(dangling.into_iter().eq(&pointers), "{doctor:#}");
        for (file, found) in texts(&doctor, "findings", "file")
            .iter()
            .zip(texts(&doctor, "findings", "found"))
        {
            assert!(file.starts_with(empty.path().to_str().unwrap()), "{doctor:#}");
            assert!(found.contains("missing"), "{found}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn ended_jobs_are_shown_by_their_results_from_1_15_on() -> Result<()> {
    let cluster = FlinkCluster::load(FlinkRecording::ended_2_3()).await?;
    let results = cluster.hactl(&["results"]).await?;
    assert_eq!(texts(&results, "results", "name"), ["live-job", "finishing-job"]);
    assert_eq!(texts(&results, "results", "status"), ["CANCELED", "FINISHED"]);
    assert_eq!(texts(&results, "results", "cleanUp"), ["DONE", "DONE"]);
    let jobs = cluster.hactl(&["jobs"]).await?;
    assert_eq!(texts(&jobs, "jobs", "status"), ["CANCELED", "FINISHED"]);
    expect_healthy(&cluster).await?;

    // That version writes no names.
    let cluster = FlinkCluster::load(FlinkRecording::ended_1_20()).await?;
    let results = cluster.hactl(&["results"]).await?;
    assert_eq!(texts(&results, "results", "status"), ["CANCELED", "FINISHED"]);
    assert_eq!(texts(&results, "results", "cleanUp"), ["DONE", "DONE"]);
    expect_healthy(&cluster).await?;

    let cluster = FlinkCluster::load(FlinkRecording::ended_1_14()).await?;
    let leaders = cluster.hactl(&["leaders"]).await?;
    assert_eq!(texts(&leaders, "leaders", "component"), COMPONENTS);
    assert_eq!(texts(&leaders, "contenders", "election"), COMPONENTS);
    let jobs = cluster.hactl(&["jobs"]).await?;
    assert_eq!(jobs["jobs"].as_array().map(Vec::len), Some(0));
    let results = cluster.hactl(&["results"]).await?;
    assert_eq!(results["results"].as_array().map(Vec::len), Some(0));
    expect_healthy(&cluster).await
}

const TIMEOUT: Duration = Duration::from_secs(60);

/// Waits for a line of `hactl watch` that has all of these parts.
async fn told(watch: &ClusterProcess, parts: &[&str]) -> Result<Value> {
    let what = parts.join(" and ");
    let line = watch.output().wait_for_line(&what, TIMEOUT, |line| {
        line.starts_with('{') && parts.iter().all(|part| line.contains(part))
    });
    Ok(serde_json::from_str(&line.await?)?)
}
