//! Bad input to `ha-cluster run`: a clear error and exit code 2 before anything is contacted or written.

use std::net::TcpListener;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use integration_tests::TestCluster;
use integration_tests::ensemble::ReservedPort;
use integration_tests::waiting::now;
use serde_json::json;

const SESSION_TIMEOUT: Duration = Duration::from_secs(6);

/// A cluster whose ZooKeeper notes every contact.
struct Setting {
    cluster: TestCluster,
    listener: TcpListener,
}

impl Setting {
    fn new() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let cluster = TestCluster::new(&listener.local_addr()?.to_string(), SESSION_TIMEOUT)?;
        std::fs::write(cluster.folder().join("text"), "a b a\n")?;
        Ok(Self { cluster, listener })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.cluster.folder().join(name)
    }

    /// A job file that is right but for `change`.
    fn job(&self, change: impl FnOnce(&mut serde_json::Value)) -> Result<String> {
        let mut job = json!({
            "name": "wordcount",
            "source": self.path("text"),
            "sink": self.path("out"),
            "checkpoint_interval": "200 ms",
        });
        change(&mut job);
        let file = self.path("job.json");
        std::fs::write(&file, job.to_string())?;
        Ok(file.display().to_string())
    }

    /// Runs, and expects exit code 2, every one of `named` on stderr, and no trace.
    async fn expect_refused(&self, arguments: &[&str], named: &[&str]) -> Result<()> {
        let mut all = vec!["run", "--rest", "127.0.0.1:0"];
        all.extend(arguments);
        let output = self.cluster.run("ha-cluster", &all).await?;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(
            output.status.code() == Some(2),
            "{arguments:?} ended with {}: {errors}",
            output.status
        );
        for name in named {
            ensure!(
                errors.contains(name),
                "{arguments:?} does not name {name}: {errors}"
            );
        }
        ensure!(!errors.contains("panicked"), "{errors}");
        ensure!(
            self.listener.accept().is_err(),
            "{arguments:?}: ZooKeeper was contacted"
        );
        ensure!(
            !self.cluster.storage().exists(),
            "{arguments:?}: the storage directory was made"
        );
        ensure!(!self.path("out").exists(), "{arguments:?}: the sink was made");
        Ok(())
    }
}

#[tokio::test]
async fn options_are_checked_before_anything_is_touched() -> Result<()> {
    let setting = Setting::new()?;
    for (argument, named) in [
        (
            "-Dhigh-availability.zookeper.quorum=x",
            &[
                "high-availability.zookeper.quorum",
                "high-availability.zookeeper.quorum",
            ][..],
        ),
        (
            "-Dhigh-availability.zookeeper.client.session-timeout=soon",
            &["high-availability.zookeeper.client.session-timeout", "soon"],
        ),
        (
            "-Dhigh-availability.zookeeper.client.max-retry-attempts=-1",
            &["high-availability.zookeeper.client.max-retry-attempts"],
        ),
        (
            "-Dhigh-availability.cluster-id=a/b",
            &["high-availability.cluster-id"],
        ),
        (
            "-Dhigh-availability.cluster-id=zookeeper",
            &["high-availability.cluster-id"],
        ),
        (
            "-Dhigh-availability.cluster-id=..",
            &["high-availability.cluster-id"],
        ),
        ("-Dhigh-availability=KUBERNETES", &["KUBERNETES", "not built"]),
        (
            "-Dhigh-availability.zookeeper.quorum=127.0.0.1:0:1",
            &["high-availability.zookeeper.quorum"],
        ),
        ("--config=/nonexistent/ha.yaml", &["/nonexistent/ha.yaml"]),
        ("--frobnicate", &["--frobnicate"]),
    ] {
        // What comes later on the command line wins.
        let cluster = setting.cluster.arguments();
        let mut arguments: Vec<_> = cluster.iter().map(String::as_str).collect();
        arguments.push(argument);
        expect_refused_alone(&setting, &arguments, named).await?;
    }
    Ok(())
}

#[tokio::test]
async fn zookeeper_mode_needs_a_quorum_and_a_storage_directory() -> Result<()> {
    let setting = Setting::new()?;
    for missing in [
        "high-availability.zookeeper.quorum",
        "high-availability.storageDir",
    ] {
        let arguments: Vec<_> = setting.cluster.arguments();
        let prefix = format!("-D{missing}=");
        let arguments: Vec<_> = arguments
            .iter()
            .map(String::as_str)
            .filter(|argument| !argument.starts_with(&prefix))
            .collect();
        expect_refused_alone(&setting, &arguments, &[missing]).await?;
    }
    Ok(())
}

/// As [`Setting::expect_refused`], with exactly these arguments.
async fn expect_refused_alone(setting: &Setting, arguments: &[&str], named: &[&str]) -> Result<()> {
    let mut all = vec!["run", "--rest", "127.0.0.1:0"];
    all.extend(arguments);
    let output = integration_tests::process::run_binary("ha-cluster", &all).await?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(
        output.status.code() == Some(2),
        "{arguments:?} ended with {}: {errors}",
        output.status
    );
    for name in named {
        ensure!(
            errors.contains(name),
            "{arguments:?} does not name {name}: {errors}"
        );
    }
    ensure!(
        setting.listener.accept().is_err(),
        "{arguments:?}: ZooKeeper was contacted"
    );
    ensure!(
        !setting.cluster.storage().exists(),
        "{arguments:?}: the storage directory was made"
    );
    Ok(())
}

#[tokio::test]
async fn job_files_are_checked_before_anything_is_touched() -> Result<()> {
    let setting = Setting::new()?;
    let missing = setting.path("nowhere/out").display().to_string();
    type Change = Box<dyn FnOnce(&mut serde_json::Value)>;
    let folder = setting.cluster.folder().display().to_string();
    let cases: Vec<(Change, Vec<&str>)> = vec![
        (
            Box::new(|job| job["source"] = json!("/nonexistent/text")),
            vec!["source", "/nonexistent/text"],
        ),
        (
            Box::new(|job| job["source"] = json!("/dev/null")),
            vec!["source", "/dev/null"],
        ),
        (
            Box::new({
                let folder = folder.clone();
                move |job| job["source"] = json!(folder)
            }),
            vec!["source", &folder],
        ),
        (
            Box::new({
                let missing = missing.clone();
                move |job| job["sink"] = json!(missing)
            }),
            vec!["sink", "nowhere"],
        ),
        (
            Box::new(|job| job["checkpoint_interval"] = json!("often")),
            vec!["checkpoint_interval"],
        ),
        (
            Box::new(|job| job["lines_per_second"] = json!("many")),
            vec!["lines_per_second"],
        ),
        (Box::new(|job| job["job_id"] = json!("xyz")), vec!["job_id"]),
        (Box::new(|job| job["name"] = json!(7)), vec!["name"]),
        (
            Box::new(|job| {
                job.as_object_mut().map(|fields| fields.remove("sink"));
            }),
            vec!["sink"],
        ),
        (Box::new(|job| job["sinc"] = json!("x")), vec!["sinc"]),
    ];
    for (change, named) in cases {
        let file = setting.job(change)?;
        setting.expect_refused(&["--job", &file], &named).await?;
    }
    let file = setting.path("broken.json");
    std::fs::write(&file, "{\"name\": ")?;
    let file = file.display().to_string();
    setting
        .expect_refused(&["--job", &file], &["broken.json"])
        .await?;
    setting
        .expect_refused(&["--job", "/nonexistent/job.json"], &["/nonexistent/job.json"])
        .await
}

#[tokio::test]
async fn unreachable_zookeeper_is_3_after_the_attempts_with_the_addresses() -> Result<()> {
    let port = ReservedPort::reserve()?;
    let address = port.address().to_string();
    let cluster = TestCluster::new(&address, SESSION_TIMEOUT)?
        .with("high-availability.zookeeper.client.max-retry-attempts", "2")
        .with("high-availability.zookeeper.client.retry-wait", "300 ms")
        .with("high-availability.zookeeper.client.connection-timeout", "1 s");
    let started = now();
    let output = cluster
        .run("ha-cluster", &["run", "--rest", "127.0.0.1:0"])
        .await?;
    let took = now().saturating_since(started);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(
        output.status.code() == Some(3),
        "ended with {}: {errors}",
        output.status
    );
    ensure!(errors.contains(&address), "{errors}");
    // Two further attempts, 300 ms and 600 ms apart.
    ensure!(
        took >= Duration::from_millis(900),
        "it gave up after {took:?}: {errors}"
    );
    errors.lines().last().context("an error is shown")?;
    Ok(())
}
