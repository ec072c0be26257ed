//! `hactl` beside a living Flink: two JobManagers of one cluster, of which the leading one is killed.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use integration_tests::process::run_binary;
use integration_tests::{ClusterProcess, Ensemble, ManagedProcess, eventually, unique_name};
use serde_json::Value;
use tempfile::TempDir;

use super::{COMPONENTS, texts, told};

/// A JVM that starts on a busy machine.
const START: Duration = Duration::from_secs(180);
const ENTRYPOINT: &str = "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint";
/// What Flink's own scripts open to it, as far as it is needed here.
const OPENED: [&str; 5] = ["lang", "net", "util", "util.concurrent", "time"];

/// A JobManager, and the address of its REST endpoint.
struct JobManager {
    process: ManagedProcess,
    rest: String,
}

/// A cluster of Flink in a folder of the test's own.
struct LivingFlink {
    home: PathBuf,
    folder: TempDir,
    root: String,
    ensemble: Ensemble,
}

impl LivingFlink {
    async fn new() -> Result<Self> {
        let home = std::env::var_os("HA_TEST_FLINK_HOME");
        let home = home.context("HA_TEST_FLINK_HOME is not set: a folder with lib/flink-dist-*.jar")?;
        Ok(Self {
            home: home.into(),
            folder: TempDir::new()?,
            root: format!("/{}", unique_name("living")),
            ensemble: Ensemble::shared().await?,
        })
    }

    fn storage(&self) -> String {
        format!("file://{}/ha", self.folder.path().display())
    }

    fn configure(&self, folder: &Path) -> Result<()> {
        let temporary = folder.join("tmp");
        std::fs::create_dir_all(&temporary)?;
        let text = format!(
            "high-availability.type: zookeeper\n\
             high-availability.zookeeper.quorum: {quorum}\n\
             high-availability.zookeeper.path.root: {root}\n\
             high-availability.cluster-id: living\n\
             high-availability.zookeeper.client.session-timeout: 6000\n\
             high-availability.storageDir: {storage}\n\
             high-availability.jobmanager.port: 0\n\
             jobmanager.rpc.address: 127.0.0.1\n\
             jobmanager.bind-host: 127.0.0.1\n\
             jobmanager.memory.process.size: 1024m\n\
             rest.address: 127.0.0.1\n\
             rest.bind-address: 127.0.0.1\n\
             rest.port: 0\n\
             rest.bind-port: 0\n\
             io.tmp.dirs: {temporary}\n",
            quorum = self.ensemble.connect_string(),
            root = self.root,
            storage = self.storage(),
            temporary = temporary.display(),
        );
        // The name of 2.x, and that of 1.x.
        for name in ["config.yaml", "flink-conf.yaml"] {
            std::fs::write(folder.join(name), &text)?;
        }
        let log = "rootLogger.level = INFO\nrootLogger.appenderRef.out.ref = Out\nappender.out.name = Out\n\
                   appender.out.type = CONSOLE\n";
        std::fs::write(folder.join("log4j.properties"), log)?;
        Ok(())
    }

    /// Starts a JobManager and waits for its REST endpoint.
    async fn start(&self, name: &str) -> Result<JobManager> {
        const LISTENING: &str = "Rest endpoint listening at ";
        let folder = self.folder.path().join(name);
        std::fs::create_dir_all(&folder)?;
        self.configure(&folder)?;
        let log = File::create(folder.join("log"))?;
        let mut command = Command::new("java");
        command.args(["-Xmx400m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]);
        command.args(OPENED.map(|package| format!("--add-opens=java.base/java.{package}=ALL-UNNAMED")));
        let logging = folder.join("log4j.properties");
        command
            .arg(format!("-Dlog4j.configurationFile=file:{}", logging.display()))
            .arg("-cp")
            .arg(format!("{}/lib/*", self.home.display()))
            .arg(ENTRYPOINT)
            .arg("--configDir")
            .arg(&folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        let mut process = ManagedProcess::spawn(name, &mut command)?;
        let address = eventually("a JobManager listens", START, async || {
            let log = std::fs::read_to_string(folder.join("log"))?;
            ensure!(process.is_alive(), "it ended: {log}");
            let line = log.lines().find_map(|line| line.split_once(LISTENING));
            Ok(line.context(log.clone())?.1.trim().to_owned())
        });
        let rest = format!("http://{}", address.await?);
        Ok(JobManager { process, rest })
    }

    fn arguments(&self, command: &str) -> Vec<String> {
        let definitions = [
            "high-availability=zookeeper".to_owned(),
            format!(
                "high-availability.zookeeper.quorum={}",
                self.ensemble.connect_string()
            ),
            format!("high-availability.zookeeper.path.root={}", self.root),
            "high-availability.cluster-id=living".to_owned(),
            "high-availability.zookeeper.client.session-timeout=6 s".to_owned(),
            format!("high-availability.storageDir={}", self.storage()),
        ];
        let definitions = definitions.map(|definition| format!("-D{definition}"));
        let fixed = [command, "--output", "json"].map(str::to_owned);
        fixed.into_iter().chain(definitions).collect()
    }

    /// The document of a command that ends with 0.
    async fn hactl(&self, command: &str) -> Result<Value> {
        let arguments = self.arguments(command);
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let output = run_binary("hactl", &arguments).await?;
        let said = String::from_utf8_lossy(&output.stderr);
        let found = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success(), "{}: {said}{found}", output.status);
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// Waits until all components are led, with so many processes in line, and returns the leader's REST address.
    async fn leader(&self, processes: usize) -> Result<String> {
        eventually("a leader of all", START, async || {
            let leaders = self.hactl("leaders").await?;
            ensure!(
                texts(&leaders, "leaders", "component") == COMPONENTS,
                "{leaders:#}"
            );
            let contenders = leaders["contenders"].as_array().map(Vec::len);
            ensure!(contenders == Some(processes), "{leaders:#}");
            let addresses: Vec<_> = (0..3)
                .map(|n| leaders["leaders"][n]["address"].as_str())
                .collect();
            ensure!(addresses.iter().all(Option::is_some), "{leaders:#}");
            Ok(addresses[2].context("an address")?.to_owned())
        })
        .await
    }
}

#[tokio::test]
#[ignore = "needs a distribution of Apache Flink 1.15 to 2.x: HA_TEST_FLINK_HOME=FOLDER, with lib/flink-dist-*.jar"]
async fn leaders_and_watch_follow_a_failover_of_a_living_flink_and_doctor_finds_it_healthy() -> Result<()> {
    let flink = LivingFlink::new().await?;
    let one = flink.start("one").await?;
    let two = flink.start("two").await?;
    let led_by = flink.leader(2).await?;
    let doctor = flink.hactl("doctor").await?;
    assert_eq!(texts(&doctor, "findings", "id"), [""; 0], "{doctor:#}");

    let arguments = flink.arguments("watch");
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let watch = ClusterProcess::spawn_binary("hactl", "watch", &arguments, |_| {})?;
    let component = "\"component\":\"rest_server\"";
    let present = told(&watch, &["\"present\":true", component]).await?;
    assert_eq!(present["address"], led_by.as_str());

    let (mut killed, other) = if one.rest == led_by {
        (one, two)
    } else {
        (two, one)
    };
    assert_eq!(killed.rest, led_by);
    killed.process.kill()?;
    let by_other = format!("\"address\":\"{}\"", other.rest);
    told(&watch, &["\"present\":false", component, &by_other]).await?;
    for component in &COMPONENTS[..2] {
        let component = format!("\"component\":\"{component}\",\"address\":\"");
        let moved = told(&watch, &["\"present\":false", &component]).await?;
        assert_ne!(moved["sessionId"], present["sessionId"], "{moved}");
    }
    assert_eq!(flink.leader(1).await?, other.rest);
    let doctor = flink.hactl("doctor").await?;
    assert_eq!(texts(&doctor, "findings", "id"), [""; 0], "{doctor:#}");
    Ok(())
}
