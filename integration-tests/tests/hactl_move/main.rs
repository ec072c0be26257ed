//! `hactl export` and `hactl import` on real ZooKeeper: a cluster at work is moved to another ensemble, root, id and
//! storage directory, where its job goes on from the newest checkpoint and ends with the right output; copies of a
//! cluster that stands still say the same as it, and are healthy; and a target that is not empty is
//! left; one whose import was killed is told, and made whole by repeating it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod interrupted;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use ha_core::blobs::BlobStore as _;
use ha_core::environment::Environment;
use ha_core::ids::ClusterId;
use ha_storage::{HaBlobStore, HaStorage};
use integration_tests::{
    AdminClient, Ensemble, EnsembleOptions, TestCluster, TestJob, eventually, unstalled,
};
use serde_json::{Value, json};

const SESSION_TIMEOUT: Duration = Duration::from_secs(8);
const TIMEOUT: Duration = Duration::from_secs(120);
/// A job that ended, and whose clean-up is pending.
const ENDED: &str = "00000000000000000000000000000002";

/// A cluster with a job that runs for long, one that ended and is cleaned up, one that ended and is not, and a blob.
struct Source {
    cluster: TestCluster,
    admin: AdminClient,
    running: TestJob,
    done: TestJob,
}

impl Source {
    fn new(ensemble: &Ensemble, admin: AdminClient) -> Result<Self> {
        let cluster = TestCluster::new(&ensemble.connect_string(), SESSION_TIMEOUT)?;
        let long = Duration::from_secs(8);
        let running = TestJob::create(cluster.folder(), "running", 1, 200_000, long)?;
        let done = TestJob::create(cluster.folder(), "done", 2, 20_000, Duration::ZERO)?;
        Ok(Self {
            cluster,
            admin,
            running,
            done,
        })
    }

    async fn storage(&self) -> Result<Arc<HaStorage>> {
        let id: ClusterId = self.cluster.cluster_id().parse()?;
        let uri = self.cluster.storage().display().to_string();
        Ok(HaStorage::open(&uri, &id, &Environment::system()).await?)
    }

    /// What the programs of the cluster do not leave by themselves.
    async fn add_by_hand(&self, blob: usize) -> Result<()> {
        let storage = self.storage().await?;
        let blobs = HaBlobStore::new(Arc::clone(&storage));
        let local = self.cluster.folder().join("blob");
        std::fs::write(&local, vec![b'b'; blob])?;
        let key = blobs.create_key(&local).await?;
        blobs.put(&local, self.running.id.parse()?, &key).await?;
        let graph = storage
            .put_state(
                ha_storage::StateKind::JobGraph,
                ENDED.parse()?,
                ENDED,
                std::collections::BTreeMap::new(),
                bytes::Bytes::from_static(b"graph"),
            )
            .await?;
        let result = json!({"id": ENDED, "name": "ended", "application-status": "FAILED", "net-runtime": 7,
            "end-time": 1, "failure-cause": "no space left"});
        let pointer = json!({
            "format": 1, "kind": graph.kind, "path": graph.path, "size": graph.size, "crc32c": graph.crc32c,
            "writeId": "99999999-2222-3333-4444-555555555555", "terminal": {"result": result},
        });
        let results = self
            .cluster
            .storage()
            .join("job-results-store")
            .join(self.cluster.cluster_id());
        std::fs::create_dir_all(&results)?;
        let dirty = json!({"result": result, "version": 1}).to_string();
        let path = self.cluster.znode(&format!("jobgraphs/{ENDED}"));
        self.admin.create(&path, pointer.to_string().as_bytes()).await?;
        std::fs::write(results.join(format!("{ENDED}_DIRTY.json")), dirty)?;
        Ok(())
    }

    async fn status(&self, job: &TestJob) -> Result<String> {
        status(&self.cluster, job).await
    }
}

async fn status(cluster: &TestCluster, job: &TestJob) -> Result<String> {
    let jobs = cluster.hactl(&["jobs"]).await?;
    let jobs = jobs["jobs"].as_array().context("no jobs")?;
    let found = jobs.iter().find(|found| found["id"] == job.id.as_str());
    Ok(found.context("no such job")?["status"]
        .as_str()
        .unwrap_or_default()
        .to_owned())
}

/// An empty place under another root, id and storage directory.
fn target(ensemble: &Ensemble, root: &str) -> Result<TestCluster> {
    let cluster = TestCluster::new(&ensemble.connect_string(), SESSION_TIMEOUT)?
        .with("high-availability.zookeeper.path.root", root);
    let storage = cluster.folder().join("moved");
    std::fs::create_dir_all(&storage)?;
    Ok(cluster.with_storage(&storage))
}

/// Runs `hactl`; gives its exit code, its document and stderr.
async fn run(cluster: &TestCluster, arguments: &[&str]) -> Result<(Option<i32>, Value, String)> {
    let mut all = vec!["--output", "json"];
    all.extend(arguments);
    let output = cluster.run("hactl", &all).await?;
    let document = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok((output.status.code(), document, errors))
}

async fn export(cluster: &TestCluster, path: &Path) -> Result<Value> {
    let (code, document, errors) = run(cluster, &["export", &path.display().to_string()]).await?;
    ensure!(code == Some(0), "export: {code:?} {document} {errors}");
    Ok(document)
}

async fn import(cluster: &TestCluster, path: &Path) -> Result<Value> {
    let path = path.display().to_string();
    let before = cluster.files()?;
    let (code, dry, errors) = run(cluster, &["import", &path]).await?;
    ensure!(code == Some(0), "import: {code:?} {dry} {errors}");
    ensure!(dry["applied"] == false && cluster.files()? == before, "{dry}");
    let (code, document, errors) = run(cluster, &["import", &path, "--apply"]).await?;
    ensure!(code == Some(0), "import: {code:?} {document} {errors}");
    let changes = document["changes"].as_array().context("no changes")?;
    ensure!(
        changes.iter().all(|change| change["outcome"] == "applied"),
        "{document}"
    );
    ensure!(
        changes.len() == dry["changes"].as_array().map_or(0, Vec::len),
        "{dry}"
    );
    // One line each.
    ensure!(
        errors.lines().filter(|line| line.contains("\"change\"")).count() == changes.len(),
        "{errors}"
    );
    Ok(document)
}

/// What a command says, without what differs from place to place.
async fn said(cluster: &TestCluster, command: &[&str]) -> Result<Value> {
    let mut document = cluster.hactl(command).await?;
    strip(&mut document);
    Ok(document)
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for field in [
                "clusterId",
                "location",
                "path",
                "jobGraph",
                "leader",
                "modified",
                "published",
            ] {
                fields.remove(field);
            }
            fields.values_mut().for_each(strip);
        }
        Value::Array(values) => values.iter_mut().for_each(strip),
        _ => {}
    }
}

/// The job is at work while it is exported: a machine that stalls may let it end before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_at_work_goes_on_elsewhere() -> Result<()> {
    unstalled(async || go_on_elsewhere().await).await
}

async fn go_on_elsewhere() -> Result<()> {
    let ensemble = Ensemble::start(EnsembleOptions::standalone()).await?;
    let other = Ensemble::shared().await?;
    let admin = AdminClient::connect(&ensemble.connect_string()).await?;
    let source = Source::new(&ensemble, admin)?;
    let mut process = source.cluster.spawn("one", &[])?;
    source
        .cluster
        .wait_until_standing(&source.admin, &[&process])
        .await?;
    source.cluster.submit(&source.done).await?;
    source.cluster.submit(&source.running).await?;
    source.add_by_hand(1_500_000).await?;
    eventually("the short job has ended", TIMEOUT, async || {
        let status = source.status(&source.done).await?;
        ensure!(status == "FINISHED", "{status}");
        Ok(())
    })
    .await?;
    eventually("a checkpoint is there", TIMEOUT, async || {
        let document = source.cluster.hactl(&["checkpoints", &source.running.id]).await?;
        ensure!(
            document["checkpoints"]
                .as_array()
                .is_some_and(|found| !found.is_empty())
        );
        Ok(())
    })
    .await?;

    // At work; then it ends without being told, so that it stands still.
    let live = source.cluster.folder().join("live.tar");
    let exported = export(&source.cluster, &live).await?;
    ensure!(exported["jobGraphs"] == 2 && exported["blobs"] == 1, "{exported}");
    ensure!(
        exported["cleanResults"] == 1 && exported["dirtyResults"] == 1,
        "{exported}"
    );
    ensure!(exported["checkpoints"].as_u64() >= Some(1), "{exported}");
    ensure!(source.status(&source.running).await? == "RUNNING");
    process.process().kill()?;
    let still = source.cluster.folder().join("still.tar");
    export(&source.cluster, &still).await?;

    // To another ensemble; and beside it, under another root.
    let copy = target(&ensemble, "/copy/of")?;
    import(&copy, &still).await?;
    for command in [
        &["jobs"][..],
        &["checkpoints", &source.running.id],
        &["results"],
        &["blobs"],
    ] {
        let (found, expected) = (said(&copy, command).await?, said(&source.cluster, command).await?);
        assert_eq!(found, expected, "{command:?}");
    }
    expect_healthy(&copy, &["no-leader"]).await?;

    let moved = target(&other, "/moved")?;
    import(&moved, &live).await?;
    let newest = moved.hactl(&["checkpoints", &source.running.id]).await?;
    let newest = newest["checkpoints"]
        .as_array()
        .and_then(|found| found.last())
        .and_then(|found| found["id"].as_u64())
        .context("no checkpoint")?;
    let heir = moved.spawn("heir", &[])?;
    let restored = heir
        .wait_for_event("checkpointRestored", 0, TIMEOUT, |event| {
            event.text("jobId") == source.running.id
        })
        .await?;
    ensure!(
        restored.number("checkpointId") == Some(newest),
        "{restored:?}, newest {newest}"
    );
    eventually("the job has ended", TIMEOUT, async || {
        for job in [&source.running, &source.done] {
            let status = status(&moved, job).await?;
            ensure!(status == "FINISHED", "{status}");
        }
        Ok(())
    })
    .await
    .with_context(|| heir.output().end())?;
    source.running.verify_output()?;
    eventually("the other job is cleaned up", TIMEOUT, async || {
        let results = moved.hactl(&["results"]).await?;
        let all = results["results"].as_array().context("no results")?;
        ensure!(
            all.len() == 3 && all.iter().all(|result| result["cleanUp"] == "DONE"),
            "{results}"
        );
        Ok(())
    })
    .await?;
    expect_healthy(&moved, &[]).await
}

/// That `doctor` finds nothing from warning up but what is expected.
async fn expect_healthy(cluster: &TestCluster, expected: &[&str]) -> Result<()> {
    let report = cluster.hactl(&["doctor"]).await?;
    let findings = report["findings"].as_array().context("no findings")?;
    let found: Vec<_> = findings
        .iter()
        .filter(|finding| finding["severity"] != "info")
        .filter_map(|finding| finding["id"].as_str())
        .collect();
    ensure!(found == expected, "{report:#}");
    Ok(())
}

/// An archive of a cluster that never ran: one job that ended.
async fn small(ensemble: &Ensemble, blob: usize) -> Result<(Source, PathBuf)> {
    let admin = AdminClient::connect(&ensemble.connect_string()).await?;
    let source = Source::new(ensemble, admin)?;
    let storage = source.storage().await?;
    let tree = source.cluster.znode("");
    let identity = storage.identity_of_tree(Some(&tree)).await?;
    let identity = json!({"format": 1, "clusterUuid": identity.cluster_uuid, "storageDir": identity.storage_dir,
        "createdBy": identity.created_by});
    let path = source.cluster.znode("identity");
    source
        .admin
        .create(&path, identity.to_string().as_bytes())
        .await?;
    source.add_by_hand(blob).await?;
    let path = source.cluster.folder().join("small.tar");
    export(&source.cluster, &path).await?;
    Ok((source, path))
}

#[tokio::test]
async fn nothing_is_changed_where_something_is_or_somebody_stands_in_the_election() -> Result<()> {
    let ensemble = Ensemble::shared().await?;
    let (source, archive) = small(&ensemble, 1_500_000).await?;
    let archive = archive.display().to_string();

    // Into itself, and into a tree that somebody else uses.
    let before = source.admin.walk(&source.cluster.znode("")).await?;
    let (code, _, errors) = run(&source.cluster, &["import", &archive, "--apply"]).await?;
    ensure!(
        code == Some(1) && errors.contains("not empty"),
        "{code:?} {errors}"
    );
    AdminClient::expect_unchanged(&before, &source.admin.walk(&source.cluster.znode("")).await?)?;
    let root = "/contended";
    let taken = target(&ensemble, root)?;
    let foreign = format!("{root}/{}/leader", taken.cluster_id());
    source.admin.create(&foreign, b"").await?;
    let (code, _, errors) = run(&taken, &["import", &archive, "--apply"]).await?;
    ensure!(
        code == Some(1) && errors.contains("it holds leader"),
        "{code:?} {errors}"
    );
    ensure!(taken.files()?.is_empty(), "{:?}", taken.files()?);

    // A torn archive, and one of which there is none.
    let torn = source.cluster.folder().join("torn.tar");
    let bytes = std::fs::read(&archive)?;
    std::fs::write(&torn, bytes.get(..bytes.len() / 2).unwrap_or_default())?;
    let empty = target(&ensemble, "/empty")?;
    for (path, reason) in [
        (torn.display().to_string(), "cut off"),
        ("/nonexistent.tar".to_owned(), "No such file"),
    ] {
        let (code, _, errors) = run(&empty, &["import", &path, "--apply"]).await?;
        ensure!(code == Some(1) && errors.contains(reason), "{code:?} {errors}");
    }
    ensure!(empty.files()?.is_empty(), "{:?}", empty.files()?);
    ensure!(source.admin.get("/empty").await?.is_none());
    Ok(())
}
