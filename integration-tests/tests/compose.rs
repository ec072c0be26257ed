//! `docker-compose.yml` as users bring it up: three ZooKeeper servers and three cluster processes in containers. Proves
//! that a job finishes with the right counts after the container of the leading process is killed.
//!
//! It needs a container engine (DOCKER_HOST), `docker compose` or `docker-compose`, and the images that the file names;
//! `.ci/containers run` has them all. Run it with nextest's profile `containers` and `--run-ignored all`, as .ci/run
//! does.

#![allow(clippy::print_stderr, reason = "the test prints its seed and what it does")]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use integration_tests::ensemble::ReservedPort;
use integration_tests::workload::{expected_output, write_text};
use integration_tests::{eventually, seed, unique_name};
use serde_json::{Value, json};

const SERVICES: [&str; 3] = ["one", "two", "three"];
const CONFIG: [&str; 2] = ["--config", "/examples/compose/ha.yaml"];
const FOLDER: &str = "/var/lib/ha-services";
const TEXT_BYTES: u64 = 2_000_000;
/// Far longer than starting the containers and a take-over take together, so that the job runs when the leader dies.
const JOB_DURATION: u64 = 45;
const END_TIMEOUT: Duration = Duration::from_secs(180);
const STEP_TIMEOUT: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a container engine: .ci/containers run cargo nextest run --profile containers --run-ignored all"]
async fn job_finishes_after_the_leaders_container_is_killed() -> Result<()> {
    let seed = seed()?;
    eprintln!("compose with HA_TEST_SEED={seed}");
    let compose = Compose::up()?;
    let outcome = job_survives(&compose, seed).await;
    outcome.with_context(|| format!("failed with HA_TEST_SEED={seed}; the logs:\n{}", compose.logs()))
}

async fn job_survives(compose: &Compose, seed: u64) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let text = folder.path().join("text");
    let lines = write_text(&text, seed, TEXT_BYTES, 2000)?;
    compose.write("text", &std::fs::read(&text)?)?;
    let job = json!({
        "name": "compose",
        "source": format!("{FOLDER}/text"),
        "sink": format!("{FOLDER}/counts"),
        "checkpoint_interval": "500 ms",
        "lines_per_second": (lines / JOB_DURATION).max(1),
    });
    compose.write("job.json", job.to_string().as_bytes())?;
    let job_file = format!("{FOLDER}/job.json");
    compose.exec("one", &["ha-cluster", "submit", &job_file, CONFIG[0], CONFIG[1]])?;

    let checkpoint = eventually("the job has a checkpoint", STEP_TIMEOUT, async || {
        let job = compose.job("one")?;
        job["latestCheckpointId"]
            .as_u64()
            .with_context(|| job.to_string())
    })
    .await?;
    let first = compose.leader("one")?;
    let survivor = SERVICES
        .into_iter()
        .find(|service| *service != first)
        .context("no other process")?;
    eprintln!("killing {first}, which leads, after checkpoint {checkpoint}");
    compose.run(&["kill", "-s", "SIGKILL", &first])?;
    // The status is that before the kill or after it: in both cases the first leader did not finish the job.
    let status = compose.job(survivor)?["status"].clone();
    ensure!(
        status == "RUNNING",
        "the job was {status} when its leader was killed"
    );

    let second = eventually("another process leads", STEP_TIMEOUT, async || {
        let leader = compose.leader(survivor)?;
        ensure!(leader != first, "{first} still leads");
        Ok(leader)
    })
    .await?;
    eprintln!("{second} leads");
    eventually("the job has finished", END_TIMEOUT, async || {
        let status = compose.job(survivor)?["status"].clone();
        ensure!(status == "FINISHED", "the job is {status}");
        Ok(())
    })
    .await?;
    let counts = compose.exec(survivor, &["cat", &format!("{FOLDER}/counts")])?;
    ensure!(counts == expected_output(&text)?, "the counts are wrong");
    // From a checkpoint, and not from the beginning.
    let log = String::from_utf8_lossy(&compose.run(&["logs", "--no-color", &second])?).into_owned();
    ensure!(
        log.contains("restored from checkpoint"),
        "{second} restored no checkpoint"
    );
    Ok(())
}

/// The containers of one project, which are removed with their network and volumes when this is dropped.
struct Compose {
    command: Vec<&'static str>,
    project: String,
    /// Where REST is published: a fixed port could be another's.
    ports: Vec<ReservedPort>,
}

impl Compose {
    /// Creates and starts them, and waits until the servers serve.
    fn up() -> Result<Self> {
        let compose = Self {
            command: compose_command()?,
            project: unique_name("ha-test-compose"),
            ports: SERVICES
                .iter()
                .map(|_| ReservedPort::reserve())
                .collect::<Result<_>>()?,
        };
        compose.run(&["up", "-d"])?;
        Ok(compose)
    }

    /// The service whose process leads.
    fn leader(&self, asked: &str) -> Result<String> {
        let answer = self.hactl(asked, "leaders")?;
        let leaders = answer["leaders"].as_array().context("no leaders")?;
        leaders
            .iter()
            .find(|leader| leader["component"] == "dispatcher")
            .and_then(|leader| leader["process"]["name"].as_str())
            .map(str::to_owned)
            .with_context(|| format!("nobody leads: {answer}"))
    }

    /// The one job.
    fn job(&self, asked: &str) -> Result<Value> {
        let answer = self.hactl(asked, "jobs")?;
        answer["jobs"]
            .get(0)
            .cloned()
            .with_context(|| format!("no job: {answer}"))
    }

    fn hactl(&self, service: &str, command: &str) -> Result<Value> {
        let output = self.exec(
            service,
            &["hactl", command, CONFIG[0], CONFIG[1], "--output", "json"],
        )?;
        Ok(serde_json::from_slice(&output)?)
    }

    /// Writes a file in the volume that the processes share.
    fn write(&self, name: &str, content: &[u8]) -> Result<()> {
        let script = format!("cat > {FOLDER}/{name}");
        self.run_with_input(&["exec", "-T", "one", "sh", "-c", &script], content)?;
        Ok(())
    }

    fn exec(&self, service: &str, command: &[&str]) -> Result<Vec<u8>> {
        self.run(&[&["exec", "-T", service], command].concat())
    }

    fn run(&self, arguments: &[&str]) -> Result<Vec<u8>> {
        self.run_with_input(arguments, &[])
    }

    fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>> {
        let (program, first) = self.command.split_first().context("no command")?;
        let top = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .context("no workspace")?;
        let mut command = Command::new(program);
        command
            .args(first)
            .args(["-p", &self.project, "-f", "docker-compose.yml"])
            .args(arguments)
            .current_dir(top)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for (service, port) in SERVICES.iter().zip(&self.ports) {
            let name = format!("HA_REST_PORT_{}", service.to_ascii_uppercase());
            command.env(name, port.port().to_string());
        }
        let mut child = command
            .spawn()
            .with_context(|| format!("cannot start {program}"))?;
        // A command that ends early does not read it; then its error says more.
        let written = child
            .stdin
            .take()
            .map_or(Ok(()), |mut stdin| stdin.write_all(input));
        let output = child.wait_with_output()?;
        if !output.status.success() {
            bail!(
                "{program} {} ended with {}: {}",
                arguments.join(" "),
                output.status,
                String::from_utf8_lossy(&output.stderr).trim()
            );
        }
        written.with_context(|| format!("{program} did not read its input"))?;
        Ok(output.stdout)
    }

    /// The ends of all logs, for error messages.
    fn logs(&self) -> String {
        match self.run(&["logs", "--no-color", "--tail", "40"]) {
            Ok(logs) => String::from_utf8_lossy(&logs).into_owned(),
            Err(error) => format!("(none: {error:#})"),
        }
    }
}

impl Drop for Compose {
    fn drop(&mut self) {
        if let Err(error) = self.run(&["down", "--volumes", "--timeout", "1"]) {
            eprintln!("the containers of {} are left behind: {error:#}", self.project);
        }
    }
}

/// `docker compose`, or the older `docker-compose`.
fn compose_command() -> Result<Vec<&'static str>> {
    for command in [vec!["docker", "compose"], vec!["docker-compose"]] {
        let Some((program, first)) = command.split_first() else {
            continue;
        };
        let answer = Command::new(program).args(first).arg("version").output();
        if answer.is_ok_and(|answer| answer.status.success()) {
            return Ok(command);
        }
    }
    bail!("there is neither `docker compose` nor `docker-compose`; `.ci/containers run` installs it")
}
