//! The reading commands of `hactl` over trees and folders made by hand, with good, broken and foreign entries.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod help;
mod read_only;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::process::Stdio;
use std::time::Duration;

use anyhow::Result;
use bytes::Bytes;
use ha_core::environment::Environment;
use ha_core::ids::{ClusterId, JobId};
use ha_storage::{HaStorage, StateFile, StateKind};
use integration_tests::{AdminClient, ClusterProcess, Ensemble, TestCluster};
use serde_json::{Value, json};

const JOB: &str = "00000000000000000000000000000001";
const ENDED: &str = "00000000000000000000000000000002";
const BROKEN: &str = "00000000000000000000000000000003";
const SESSION: &str = "11111111-2222-3333-4444-555555555555";
const TIMEOUT: Duration = Duration::from_secs(20);

async fn put(storage: &HaStorage, kind: StateKind, name: &str) -> StateFile {
    let attributes = BTreeMap::from([("name".to_owned(), "wordcount".to_owned())]);
    let job: JobId = JOB.parse().unwrap();
    let payload = Bytes::from_static(b"payload");
    storage
        .put_state(kind, job, name, attributes, payload)
        .await
        .unwrap()
}

fn pointer(file: &StateFile) -> Value {
    json!({
        "format": 1,
        "kind": file.kind,
        "path": file.path,
        "size": file.size,
        "crc32c": file.crc32c,
        "writeId": "99999999-2222-3333-4444-555555555555",
    })
}

/// A cluster with a running job, an ended one, and broken and foreign entries everywhere.
async fn populate(cluster: &TestCluster, admin: &AdminClient) -> Result<()> {
    let environment = Environment::system();
    let id: ClusterId = cluster.cluster_id().parse()?;
    let storage = HaStorage::open(&cluster.storage().display().to_string(), &id, &environment).await?;
    let graph = put(&storage, StateKind::JobGraph, JOB).await;
    let first = put(&storage, StateKind::Checkpoint, "0000000000000000007").await;
    let second = put(&storage, StateKind::Checkpoint, "0000000000000000008").await;
    std::fs::write(storage.local_folder().unwrap().join(&second.path), "torn")?;
    let mut ended = pointer(&graph);
    ended["terminal"] = json!({"result": {
        "id": ENDED, "name": "over", "application-status": "FAILED", "net-runtime": 1500, "end-time": 1,
        "failure-cause": "no space left",
    }});
    let info = json!({"format":1,"leaderAddress":"http://127.0.0.1:1","leaderSessionId":SESSION,"epoch":42});
    let latch = json!({"format":1,"process":"p1","host":"h","pid":7,"leaderSessionId":SESSION});
    let standby = json!({"format":1,"process":"p2","host":"h","pid":8});
    let uuid = "aaaaaaaa-2222-3333-4444-555555555555";
    let results = format!("{}/job-results-store/{id}", cluster.storage().display());
    std::fs::create_dir_all(&results)?;
    std::fs::write(format!("{results}/x_DIRTY.json"), "not ours")?;
    for (path, data) in [
        (format!("leader/latch/{uuid}-latch-0000000004"), latch.to_string()),
        (
            format!("leader/latch/{uuid}-latch-0000000009"),
            standby.to_string(),
        ),
        ("leader/latch/someone-else".to_owned(), String::new()),
        ("leader/dispatcher/connection_info".to_owned(), info.to_string()),
        ("leader/rest_server/connection_info".to_owned(), "{".to_owned()),
        ("leader/resource_manager".to_owned(), String::new()),
        (format!("jobgraphs/{JOB}"), pointer(&graph).to_string()),
        (format!("jobgraphs/{ENDED}"), ended.to_string()),
        (format!("jobgraphs/{BROKEN}"), "\u{1b}[31mred".to_owned()),
        ("jobgraphs/README".to_owned(), String::new()),
        (
            format!("jobs/{JOB}/checkpoints/0000000000000000007"),
            pointer(&first).to_string(),
        ),
        (
            format!("jobs/{JOB}/checkpoints/0000000000000000008"),
            pointer(&second).to_string(),
        ),
        (format!("jobs/{JOB}/checkpoints/x"), String::new()),
        (format!("jobs/{JOB}/checkpoint_id_counter"), "9".to_owned()),
        (format!("running_job_registry/{JOB}"), "RUNNING".to_owned()),
    ] {
        admin.create(&cluster.znode(&path), data.as_bytes()).await?;
    }
    admin.create(&cluster.znode("binary"), &[0xff, 0x00, b'a']).await
}

async fn populated() -> Result<(Ensemble, AdminClient, TestCluster)> {
    let ensemble = Ensemble::shared().await?;
    let admin = AdminClient::connect(&ensemble.connect_string()).await?;
    let cluster = TestCluster::new(&ensemble.connect_string(), Duration::from_secs(6))?;
    populate(&cluster, &admin).await?;
    Ok((ensemble, admin, cluster))
}

fn broken_paths(document: &Value) -> Vec<&str> {
    let broken = document["broken"].as_array().unwrap().iter();
    broken
        .map(|entry| entry["path"].as_str().unwrap().rsplit('/').next().unwrap())
        .collect()
}

#[tokio::test]
async fn good_entries_are_shown_beside_broken_ones_in_json() -> Result<()> {
    let (_ensemble, admin, cluster) = populated().await?;
    let before = admin.walk(&cluster.znode("")).await?;

    let leaders = cluster.hactl(&["leaders"]).await?;
    assert_eq!(leaders["clusterId"], cluster.cluster_id());
    assert_eq!(leaders["mode"], "zookeeper");
    let dispatcher = &leaders["leaders"][0];
    assert_eq!(dispatcher["component"], "dispatcher");
    assert_eq!(dispatcher["epoch"], 42);
    assert_eq!(dispatcher["sessionId"], SESSION);
    assert_eq!(dispatcher["process"], json!({"name":"p1","host":"h","pid":7}));
    assert!(dispatcher["since"].as_u64().unwrap() > 1_700_000_000_000);
    assert_eq!(leaders["leaders"][1]["address"], Value::Null);
    let contenders: Vec<_> = leaders["contenders"].as_array().unwrap().iter().collect();
    assert_eq!(
        contenders.iter().map(|c| &c["leading"]).collect::<Vec<_>>(),
        [true, false]
    );
    assert_eq!(broken_paths(&leaders), ["someone-else", "connection_info"]);

    let jobs = cluster.hactl(&["jobs"]).await?;
    let statuses: Vec<_> = jobs["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| (job["id"].as_str().unwrap(), job["status"].as_str().unwrap()))
        .collect();
    assert_eq!(statuses, [(JOB, "RUNNING"), (ENDED, "FAILED")]);
    assert_eq!(jobs["jobs"][0]["latestCheckpointId"], 8);
    assert_eq!(jobs["jobs"][0]["nextCheckpointId"], 9);
    assert_eq!(jobs["jobs"][1]["cleanUp"], "PENDING");
    assert_eq!(jobs["jobs"][1]["reason"], "no space left");
    let broken = broken_paths(&jobs);
    assert!(
        broken.contains(&"README") && broken.contains(&BROKEN),
        "{broken:?}"
    );

    let checkpoints = cluster.hactl(&["checkpoints", JOB]).await?;
    assert_eq!(checkpoints["checkpoints"][0]["id"], 7);
    assert_eq!(checkpoints["checkpoints"][0]["readable"], true);
    assert_eq!(checkpoints["checkpoints"][1]["readable"], false);
    assert_eq!(broken_paths(&checkpoints), ["x", "0000000000000000008"]);
    let torn = &checkpoints["broken"][1];
    assert!(torn["reason"].as_str().unwrap().contains("cut off"), "{torn}");
    assert!(
        torn["candidates"][0]
            .as_str()
            .unwrap()
            .ends_with("0000000000000000007")
    );

    let results = cluster.hactl(&["results"]).await?;
    assert_eq!(results["results"][0]["id"], ENDED);
    assert_eq!(results["results"][0]["recordedIn"], "pointer");
    assert_eq!(broken_paths(&results), ["x_DIRTY.json"]);

    let tree = cluster.hactl(&["tree"]).await?;
    let nodes = tree["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), before.len());
    let binary = nodes
        .iter()
        .find(|node| node["path"].as_str().unwrap().ends_with("/binary"))
        .unwrap();
    assert_eq!(binary["text"], "\\xff\\u{0}a");

    AdminClient::expect_unchanged(&before, &admin.walk(&cluster.znode("")).await?)
}

#[tokio::test]
async fn tables_fit_100_columns_and_carry_no_control_characters() -> Result<()> {
    let (_ensemble, _admin, cluster) = populated().await?;
    for command in [
        &["leaders"][..],
        &["jobs"],
        &["checkpoints", JOB],
        &["results"],
        &["tree"],
    ] {
        let output = cluster.run("hactl", command).await?;
        let text = String::from_utf8(output.stdout)?;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        // The tree shows what is there, and judges nothing.
        let code = if command == ["tree"] { 0 } else { 1 };
        assert_eq!(output.status.code(), Some(code), "{command:?}: {text}{errors}");
        assert!(!errors.contains("panicked"), "{command:?}: {errors}");
        let mut lines = text.lines();
        // The first line says where it was read, and the second part what could not be: paths are never cut.
        assert!(lines.next().unwrap().contains(cluster.cluster_id()));
        let table: Vec<_> = lines.take_while(|line| !line.starts_with("Broken")).collect();
        assert!(table.iter().all(|line| line.chars().count() <= 100), "{text}");
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    }
    Ok(())
}

#[tokio::test]
async fn unknown_jobs_and_clusters_are_1_and_name_what_is_there() -> Result<()> {
    let (ensemble, _admin, cluster) = populated().await?;
    let output = cluster
        .run("hactl", &["checkpoints", ENDED.replace('2', "f").as_str()])
        .await?;
    assert_eq!(output.status.code(), Some(1));
    let other = TestCluster::new(&ensemble.connect_string(), Duration::from_secs(6))?;
    let output = other.run("hactl", &["jobs"]).await?;
    let text = String::from_utf8(output.stderr)?;
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains(other.cluster_id()) && text.contains(cluster.cluster_id()),
        "{text}"
    );
    Ok(())
}

/// What a command wrote to stderr: one sentence, and no trace of where in the program it came from.
fn one_sentence(output: &std::process::Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(text.trim_end().lines().count(), 1, "{text}");
    assert!(
        !text.contains("panicked") && !text.contains("backtrace"),
        "{text}"
    );
    text
}

#[tokio::test]
async fn an_empty_cluster_is_0_with_an_empty_list_and_one_sentence() -> Result<()> {
    let ensemble = Ensemble::shared().await?;
    let admin = AdminClient::connect(&ensemble.connect_string()).await?;
    let cluster = TestCluster::new(&ensemble.connect_string(), Duration::from_secs(6))?;
    admin.create(&cluster.znode("leader"), b"").await?;
    std::fs::create_dir_all(cluster.storage())?;
    for (command, list, sentence) in [
        (
            "leaders",
            "leaders",
            "Nobody leads, and nobody stands in the election.\n",
        ),
        ("jobs", "jobs", "No jobs.\n"),
        ("results", "results", "No results.\n"),
        ("blobs", "blobs", "No blobs.\n"),
    ] {
        let output = cluster.run("hactl", &["--output", "json", command]).await?;
        assert_eq!(one_sentence(&output), sentence);
        assert_eq!(output.status.code(), Some(0), "{command}");
        let document: Value = serde_json::from_slice(&output.stdout)?;
        assert_eq!(document[list], json!([]), "{document}");
        let output = cluster.run("hactl", &[command]).await?;
        assert_eq!(one_sentence(&output), sentence);
        assert_eq!(output.status.code(), Some(0), "{command}");
        let table = String::from_utf8(output.stdout)?;
        assert!(
            table.starts_with("Cluster ") && table.lines().count() <= 2,
            "{table}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn where_the_path_ends_is_said_with_what_is_there() -> Result<()> {
    let (ensemble, admin, cluster) = populated().await?;
    let quorum = "high-availability.zookeeper.quorum";
    let unknown_root = TestCluster::new(&ensemble.connect_string(), Duration::from_secs(6))?
        .with("high-availability.zookeeper.path.root", "/flonk/ha");
    let servers = ensemble.connect_string();
    let chroot =
        TestCluster::new(&servers, Duration::from_secs(6))?.with(quorum, &format!("{servers}/nowhere"));
    let top = admin.children("/").await?;
    for cluster in [unknown_root, chroot] {
        let output = cluster.run("hactl", &["jobs"]).await?;
        let text = one_sentence(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        // The first of them, sorted as the command does.
        let (_, named) = text.split_once("below / ").unwrap();
        assert!(
            top.iter().any(|name| named.contains(name.as_str())),
            "{text}: {top:?}"
        );
    }
    drop(cluster);
    Ok(())
}

#[tokio::test]
async fn a_missing_permission_is_1_and_names_the_znode() -> Result<()> {
    let ensemble = Ensemble::shared().await?;
    let admin = AdminClient::connect(&ensemble.connect_string()).await?;
    let cluster = TestCluster::new(&ensemble.connect_string(), Duration::from_secs(6))?;
    admin.create(&cluster.znode("x"), b"").await?;
    admin.client().delete(&cluster.znode("x"), None).await?;
    admin.client().delete(&cluster.znode(""), None).await?;
    let somebody_else = [zookeeper_client::Acl::new(
        zookeeper_client::Permission::ALL,
        zookeeper_client::AuthId::new("ip", "203.0.113.1"),
    )];
    let options = zookeeper_client::CreateMode::Persistent.with_acls(somebody_else.as_slice().into());
    admin.client().create(&cluster.znode(""), b"", &options).await?;
    for command in [
        &["leaders"][..],
        &["jobs"],
        &["checkpoints", JOB],
        &["tree"],
        &["doctor"],
    ] {
        let output = cluster.run("hactl", command).await?;
        let text = one_sentence(&output);
        assert_eq!(output.status.code(), Some(1), "{command:?}: {text}");
        assert!(
            text.contains(&cluster.znode("")) && text.contains("denied"),
            "{command:?}: {text}"
        );
        assert!(output.stdout.is_empty());
    }
    Ok(())
}

#[tokio::test]
async fn wrong_configuration_is_2_and_an_unreachable_server_is_3() -> Result<()> {
    for arguments in [
        &["jobs"][..],
        &["-Dhigh-availability=NONE", "jobs"],
        &["jobs", "-D", "high-availability=kubernetes"],
        &["jobs", "-Dhigh-availability=zookeeper"],
        &["--config", "/nonexistent/x.yaml", "jobs"],
        &["checkpoints", "x"],
        &["jobs", "--output", "yaml"],
    ] {
        let output = integration_tests::process::run_binary("hactl", arguments).await?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(output.stdout.is_empty() && !text.is_empty());
    }
    let port = integration_tests::ensemble::ReservedPort::reserve()?;
    let cluster = TestCluster::new(&port.address().to_string(), Duration::from_secs(6))?;
    let output = cluster.run("hactl", &["leaders"]).await?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains(&port.address().to_string()), "{text}");
    Ok(())
}

#[tokio::test]
async fn a_closed_pipe_is_no_panic() -> Result<()> {
    let (_ensemble, _admin, cluster) = populated().await?;
    let mut arguments = vec!["tree".to_owned()];
    arguments.extend(cluster.arguments());
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let (mut reader, writer) = std::io::pipe()?;
    let mut process = ClusterProcess::spawn_binary("hactl", "hactl", &arguments, |command| {
        command.stdout(Stdio::from(writer));
    })?;
    let mut byte = [0];
    // The first byte is there: the process is writing, or has written.
    reader.read_exact(&mut byte)?;
    drop(reader);
    let status = process.wait(TIMEOUT).await?;
    let errors = process.output().stderr();
    assert!(
        status.code().is_some() && !errors.contains("panicked"),
        "{status}: {errors}"
    );
    Ok(())
}

#[tokio::test]
async fn files_are_read_where_there_is_no_zookeeper() -> Result<()> {
    let cluster =
        TestCluster::new("127.0.0.1:1", Duration::from_secs(6))?.with("high-availability", "filesystem");
    let output = cluster.run("hactl", &["jobs"]).await?;
    assert_eq!(output.status.code(), Some(1), "a missing folder is not made");
    assert!(!cluster.storage().exists());
    let id: ClusterId = cluster.cluster_id().parse()?;
    let environment = Environment::system();
    let storage = HaStorage::open(&cluster.storage().display().to_string(), &id, &environment).await?;
    put(&storage, StateKind::JobGraph, JOB).await;
    let good = put(&storage, StateKind::Checkpoint, "0000000000000000001").await;
    let torn = put(&storage, StateKind::Checkpoint, "0000000000000000002").await;
    std::fs::write(storage.local_folder().unwrap().join(&torn.path), "")?;
    let before = cluster.files()?;

    let jobs = cluster.hactl(&["jobs"]).await?;
    assert_eq!(jobs["mode"], "filesystem");
    assert_eq!(jobs["jobs"][0]["name"], "wordcount");
    assert_eq!(jobs["jobs"][0]["checkpoints"], 2);
    let checkpoints = cluster.hactl(&["checkpoints", JOB]).await?;
    assert_eq!(checkpoints["checkpoints"][0]["file"], good.path);
    assert_eq!(checkpoints["checkpoints"][1]["readable"], false);
    assert_eq!(checkpoints["broken"].as_array().unwrap().len(), 1);
    let tree = cluster.hactl(&["tree"]).await?;
    assert!(
        tree["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .any(|node| node["path"].as_str().unwrap().ends_with(&good.path))
    );
    assert_eq!(cluster.hactl(&["leaders"]).await?["leaders"], json!([]));
    assert_eq!(cluster.hactl(&["results"]).await?["results"], json!([]));
    assert_eq!(cluster.files()?, before);
    Ok(())
}
