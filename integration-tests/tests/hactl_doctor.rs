//! `hactl doctor` beside a real server and a cluster of two processes with a running job: nothing is wrong with it; and
//! each fault that is made by hand is its one finding, until it is mended.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use integration_tests::{
    AdminClient, ClusterProcess, Ensemble, EnsembleOptions, TestCluster, TestJob, eventually,
};
use serde_json::Value;
use zookeeper_client::{Acls, CreateMode};

/// Longer than the whole test takes: the latch of a process that was killed stays.
const SESSION_TIMEOUT: Duration = Duration::from_secs(60);
const TIMEOUT: Duration = Duration::from_secs(60);

/// The exit code, and each finding: its id, and its znode.
async fn doctor(cluster: &TestCluster) -> Result<(Option<i32>, Vec<(String, String)>)> {
    let output = cluster.run("hactl", &["doctor", "--output", "json"]).await?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let document: Value = serde_json::from_slice(&output.stdout).with_context(|| errors.clone())?;
    ensure!(document["broken"] == serde_json::json!([]), "{document:#}");
    let skipped = document["skipped"].as_array().unwrap().iter();
    // Where pointers name the state files, those that no pointer is read for are of another mode.
    let skipped: Vec<_> = skipped
        .filter(|skipped| skipped["id"] != "unreadable-state-file")
        .collect();
    ensure!(skipped.is_empty(), "not made: {skipped:?}");
    let findings = document["findings"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let found = findings.map(|finding| (text(&finding["id"]), text(&finding["znode"])));
    Ok((output.status.code(), found.collect()))
}

async fn expect_healthy(cluster: &TestCluster) -> Result<()> {
    let (code, found) = doctor(cluster).await?;
    ensure!(code == Some(0) && found.is_empty(), "{code:?}: {found:?}");
    Ok(())
}

async fn expect(cluster: &TestCluster, id: &str, znode: &str) -> Result<()> {
    let (code, found) = doctor(cluster).await?;
    let expected = [(id.to_owned(), znode.to_owned())];
    ensure!(
        code == Some(1) && found == expected,
        "{id} is expected, {code:?}: {found:?}"
    );
    Ok(())
}

/// A job that runs for long and completes no checkpoint, so that nothing changes by itself.
async fn run_job(cluster: &TestCluster) -> Result<TestJob> {
    let job = TestJob::create(
        cluster.folder(),
        "examined",
        1,
        2_000_000,
        Duration::from_secs(600),
    )?;
    let job = job.with_checkpoint_interval(Duration::from_secs(3600))?;
    cluster.submit(&job).await?;
    eventually("the job runs, and its leader is published", TIMEOUT, async || {
        let jobs = cluster.hactl(&["jobs"]).await?;
        ensure!(jobs["jobs"][0]["status"] == "RUNNING", "{jobs}");
        let leaders = cluster.hactl(&["leaders"]).await?;
        let leaders = leaders["leaders"].as_array().unwrap();
        let led =
            |leader: &Value| leader["component"] == format!("job-{}", job.id) && !leader["address"].is_null();
        ensure!(leaders.iter().any(led), "{leaders:?}");
        Ok(())
    })
    .await?;
    Ok(job)
}

fn graph_file(cluster: &TestCluster, job: &TestJob) -> Result<PathBuf> {
    let files = cluster.files()?;
    let file = files
        .iter()
        .find(|file| file.contains("/jobgraphs/") && file.contains(&job.id))
        .with_context(|| format!("{files:?}"))?;
    Ok(cluster.storage().join(file))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_at_work_is_healthy_and_each_fault_is_its_one_finding() -> Result<()> {
    let ensemble = Ensemble::shared().await?;
    let admin = AdminClient::connect(&ensemble.connect_string()).await?;
    let cluster = TestCluster::new(&ensemble.connect_string(), SESSION_TIMEOUT)?;
    let mut processes = [cluster.spawn("one", &[])?, cluster.spawn("two", &[])?];
    let standing: Vec<&ClusterProcess> = processes.iter().collect();
    let leader = cluster.wait_until_standing(&admin, &standing).await?;
    let job = run_job(&cluster).await?;
    expect_healthy(&cluster).await?;

    // A file is gone.
    let file = graph_file(&cluster, &job)?;
    let kept = std::fs::read(&file)?;
    std::fs::remove_file(&file)?;
    let pointer = cluster.znode(&format!("jobgraphs/{}", job.id));
    expect(&cluster, "pointer-to-missing-file", &pointer).await?;
    std::fs::write(&file, kept)?;

    // A znode of somebody else.
    let foreign = cluster.znode("README");
    admin.create(&foreign, b"").await?;
    expect(&cluster, "foreign-znode", &foreign).await?;
    admin.delete(&foreign).await?;

    // A znode that others may not write.
    let registered = cluster.znode("configuration");
    let options = CreateMode::Persistent.with_acls(Acls::anyone_read());
    admin.client().create(&registered, b"{}", &options).await?;
    expect(&cluster, "acl-differs", &registered).await?;
    admin.delete(&registered).await?;

    // A tick that is not the servers'.
    let key = "high-availability.zookeeper.server-tick-time";
    let tick = EnsembleOptions::standalone().tick_time;
    let cluster = cluster.with(key, &format!("{} ms", 2 * tick.as_millis()));
    expect(&cluster, "server-tick", "").await?;
    let cluster = cluster.with(key, &format!("{} ms", tick.as_millis()));
    expect_healthy(&cluster).await?;

    // A latch that no session owns, and one of a process that is gone.
    let latches = cluster.znode("leader/latch");
    let data = admin.get(&leader.latch).await?.context("a latch")?;
    let mut data: Value = serde_json::from_slice(&data)?;
    data.as_object_mut().unwrap().remove("leaderSessionId");
    let nobodys = format!("{latches}/99999999-2222-3333-4444-555555555555-latch-0000000999");
    admin.create(&nobodys, data.to_string().as_bytes()).await?;
    expect(&cluster, "latch-of-a-dead-session", &nobodys).await?;
    admin.delete(&nobodys).await?;
    expect_healthy(&cluster).await?;

    let standby = processes
        .iter_mut()
        .find(|process| process.name() != leader.process)
        .context("a standby")?;
    standby.process().kill()?;
    let names = admin.children(&latches).await?;
    let of_standby = names
        .iter()
        .map(|name| format!("{latches}/{name}"))
        .find(|latch| *latch != leader.latch)
        .context("its latch")?;
    expect(&cluster, "latch-of-a-dead-session", &of_standby).await
}
