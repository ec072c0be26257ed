//! The reading commands of `hactl` on recordings of running Flink clusters, loaded into a real ZooKeeper: they say what
//! the descriptions of the recordings say, for each version; and a copy whose files are gone is told pointer by pointer.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};
use ha_testkit::FlinkRecording;
use integration_tests::process::run_binary;
use integration_tests::{AdminClient, Ensemble, unique_name};
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
            format!("high-availability.storageDir={storage}"),
        ];
        let mut all = vec!["--output", "json", "--map-path", &mapping];
        for definition in &definitions {
            all.extend(["-D", definition]);
        }
        all.extend(arguments);
        let output = run_binary("hactl", &all).await?;
        let document = serde_json::from_slice(&output.stdout)
            .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
        Ok((output.status.code(), document))
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

fn texts<'a>(document: &'a Value, list: &str, field: &str) -> Vec<&'a str> {
    let entries = document[list].as_array().unwrap().iter();
    entries.map(|entry| entry[field].as_str().unwrap()).collect()
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
    Ok(())
}

#[tokio::test]
async fn running_jobs_of_1_14_and_2_3_are_shown_with_leader_checkpoints_and_counter() -> Result<()> {
    for (recording, job, ids, next, registry) in [
        (
            FlinkRecording::running_2_3(),
            "871c6b3ce33cf24f843e42c417ff8b5f",
            [6, 7, 8],
            9,
            None,
        ),
        (
            FlinkRecording::running_1_14(),
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

        let tree = cluster.hactl(&["tree"]).await?;
        let nodes = tree["nodes"].as_array().unwrap();
        assert_eq!(nodes.len(), cluster.recording.znodes.len() - 1);
        let said = format!("next checkpoint id {next}");
        assert!(
            nodes.iter().any(|node| node["decoded"] == said.as_str()),
            "{tree:#}"
        );

        // A copy without its files: each pointer is told.
        let empty = TempDir::new()?;
        let (code, checkpoints) = cluster.hactl_in(empty.path(), &["checkpoints", job]).await?;
        assert_eq!(code, Some(1));
        assert_eq!(texts(&checkpoints, "broken", "path").len(), 3, "{checkpoints:#}");
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

    let cluster = FlinkCluster::load(FlinkRecording::ended_1_14()).await?;
    let leaders = cluster.hactl(&["leaders"]).await?;
    assert_eq!(texts(&leaders, "leaders", "component"), COMPONENTS);
    assert_eq!(texts(&leaders, "contenders", "election"), COMPONENTS);
    let jobs = cluster.hactl(&["jobs"]).await?;
    assert_eq!(jobs["jobs"].as_array().map(Vec::len), Some(0));
    let results = cluster.hactl(&["results"]).await?;
    assert_eq!(results["results"].as_array().map(Vec::len), Some(0));
    Ok(())
}
