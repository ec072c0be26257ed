//! The status page and the metrics of real processes on a real ZooKeeper: in Chromium, on a telephone and in the dark,
//! the page shows the leader and a job that goes on while the page loads itself again; the metrics tell a change of
//! leadership and the time without leader; both answer, and say so, while ZooKeeper is away.

#![allow(clippy::print_stderr, reason = "the tests tell what they saw")]

use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use integration_tests::browser::{Chromium, Screen};
use integration_tests::{
    AdminClient, ClusterProcess, Ensemble, EnsembleOptions, LeaderSnapshot, TestCluster, TestJob, eventually,
    pause,
};
use prometheus_parse::{Scrape, Value as Sample};
use serde_json::{Value, json};

const SESSION_TIMEOUT: Duration = Duration::from_secs(6);
const PATIENCE: Duration = Duration::from_secs(60);
const TELEPHONE: Screen = Screen {
    width: 360,
    height: 740,
    dark: false,
};
const DESK_AT_NIGHT: Screen = Screen {
    width: 1280,
    height: 800,
    dark: true,
};
/// Far longer than the test looks at the job.
const JOB_DURATION: Duration = Duration::from_secs(300);
/// How often the case of the killed leader is made on a machine that stalls.
const ROUNDS: usize = 3;

/// What a job may be called.
fn hostile_name() -> String {
    format!(
        "<script>document.title='owned'</script><b>\"'&{}",
        "W".repeat(150)
    )
}

fn renamed(job: &TestJob, name: &str) -> Result<()> {
    let mut file: Value = serde_json::from_slice(&std::fs::read(&job.file)?)?;
    file.as_object_mut()
        .context("no job file")?
        .insert("name".to_owned(), name.into());
    Ok(std::fs::write(&job.file, file.to_string())?)
}

async fn rest_address(process: &ClusterProcess) -> Result<String> {
    let started = process
        .wait_for_event("processStarted", 0, PATIENCE, |_| true)
        .await?;
    Ok(started.text("restAddress").to_owned())
}

/// What a person sees of the only job.
#[derive(Debug)]
struct Seen {
    name: String,
    progress: u64,
    checkpoint: u64,
}

async fn seen(browser: &Chromium) -> Result<Seen> {
    let script = "(() => {
        const card = document.querySelector('#jobs').parentElement.querySelector('li');
        return {
            name: card.querySelector('h3').textContent,
            progress: card.querySelector('progress').value,
            checkpoint: parseInt(card.querySelector('dd').textContent),
        };
    })()";
    let seen = browser.evaluate(script).await?;
    let number = |field: &str| {
        seen.get(field)
            .and_then(Value::as_u64)
            .with_context(|| format!("no {field} in {seen}"))
    };
    Ok(Seen {
        name: seen
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        progress: number("progress")?,
        checkpoint: number("checkpoint")?,
    })
}

async fn expect_no_horizontal_scrolling(browser: &Chromium, screen: Screen) -> Result<()> {
    let widths = browser
        .evaluate(
            "[innerWidth, document.documentElement.scrollWidth, document.body.scrollWidth <= innerWidth]",
        )
        .await?;
    ensure!(
        widths == json!([screen.width, screen.width, true]),
        "{screen:?}: {widths}"
    );
    Ok(())
}

/// The policy of the page let its style through.
async fn expect_background(browser: &Chromium, color: &str) -> Result<()> {
    let background = browser
        .evaluate("getComputedStyle(document.body).backgroundColor")
        .await?;
    ensure!(background == color, "{background}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_shows_the_leader_and_a_job_that_goes_on() -> Result<()> {
    let ensemble = Ensemble::shared().await?;
    let admin = AdminClient::connect(&ensemble.connect_string()).await?;
    let cluster = TestCluster::new(&ensemble.connect_string(), SESSION_TIMEOUT)?;
    let (one, two) = (cluster.spawn("one", &[])?, cluster.spawn("two", &[])?);
    let job = TestJob::create(cluster.folder(), "page", 1, 4_000_000, JOB_DURATION)?;
    renamed(&job, &hostile_name())?;
    let leader = cluster.wait_until_standing(&admin, &[&one, &two]).await?;
    cluster.submit(&job).await?;
    let outcome = look_at(&leader, &one, &two).await;
    outcome.with_context(|| format!("{}\n{}", one.output().end(), two.output().end()))
}

async fn look_at(leader: &LeaderSnapshot, one: &ClusterProcess, two: &ClusterProcess) -> Result<()> {
    let telephone = Chromium::start(TELEPHONE).await?;
    // It stands still, so that it is not loaded again between two looks.
    let standing_still = format!("{}/?refresh=off", leader.address);
    let first = eventually("the job with a checkpoint on the page", PATIENCE, async || {
        telephone.open(&standing_still).await?;
        seen(&telephone).await
    })
    .await?;
    ensure!(first.name == hostile_name(), "{}", first.name);
    let title = format!("{}: leads", leader.process);
    ensure!(telephone.title().await? == title, "{}", telephone.title().await?);
    ensure!(telephone.evaluate("document.scripts.length").await? == 0);
    expect_no_horizontal_scrolling(&telephone, TELEPHONE).await?;
    expect_background(&telephone, "rgb(245, 246, 248)").await?;

    // Gone with the page that it stands in.
    eventually("the page is marked", PATIENCE, async || {
        telephone.open(&leader.address).await?;
        telephone.evaluate("(window.marker = 1)").await
    })
    .await?;
    let later = eventually("the page has loaded itself again", PATIENCE, async || {
        if telephone.evaluate("window.marker === undefined").await? != true {
            bail!("it has not");
        }
        let later = seen(&telephone).await?;
        if later.progress <= first.progress || later.checkpoint <= first.checkpoint {
            bail!("{later:?} after {first:?}");
        }
        Ok(later)
    })
    .await?;
    eprintln!(
        "from {} to {} bytes, from checkpoint {} to {}",
        first.progress, later.progress, first.checkpoint, later.checkpoint
    );

    let other = if one.name() == leader.process { two } else { one };
    let standing_by = format!("{}: stands by", other.name());
    let page = format!("{}/?refresh=off", rest_address(other).await?);
    eventually("the other process knows the leader", PATIENCE, async || {
        telephone.open(&page).await?;
        let title = telephone.title().await?;
        ensure!(title == standing_by, "{title}");
        Ok(())
    })
    .await?;
    expect_no_horizontal_scrolling(&telephone, TELEPHONE).await?;
    eventually("its link leads to the leader", PATIENCE, async || {
        let link = "(() => { document.querySelector('#jobs + p a')?.click(); return document.title; })()";
        let shown = telephone.evaluate(link).await?;
        ensure!(shown == title.as_str(), "{shown}");
        Ok(())
    })
    .await?;
    telephone.end().await?;

    let desk = Chromium::start(DESK_AT_NIGHT).await?;
    desk.open(&standing_still).await?;
    expect_no_horizontal_scrolling(&desk, DESK_AT_NIGHT).await?;
    expect_background(&desk, "rgb(16, 19, 23)").await?;
    desk.end().await
}

async fn get(url: &str) -> Result<String> {
    ha_services::choose_tls_provider();
    let client = reqwest::Client::builder().no_proxy().build()?;
    let answer = client.get(url).send().await?;
    Ok(answer.error_for_status()?.text().await?)
}

/// The metrics of one process at one time.
struct Metrics(Scrape);

impl Metrics {
    async fn of(address: &str) -> Result<Self> {
        let text = get(&format!("{address}/metrics")).await?;
        Ok(Self(Scrape::parse(text.lines().map(|line| Ok(line.to_owned())))?))
    }

    fn find(&self, name: &str, label: Option<&str>) -> Option<f64> {
        let name = format!("ha_cluster_{name}");
        let sample = self.0.samples.iter().find(|sample| {
            let labelled = |label: &str| sample.labels.values().any(|value| value == label);
            sample.metric == name && label.is_none_or(labelled)
        })?;
        match sample.value {
            Sample::Counter(value) | Sample::Gauge(value) | Sample::Untyped(value) => Some(value),
            _ => None,
        }
    }

    fn get(&self, name: &str, label: Option<&str>) -> Result<f64> {
        self.find(name, label)
            .with_context(|| format!("no {name} {label:?}"))
    }
}

/// How the leadership of the dispatcher went, as one process saw it.
#[derive(Clone, Copy, Debug)]
struct Leadership {
    is_known: bool,
    changes: f64,
    seconds_without: f64,
}

impl Leadership {
    async fn seen_by(process: &ClusterProcess) -> Result<Self> {
        let metrics = Metrics::of(&rest_address(process).await?).await?;
        let of = Some("dispatcher");
        Ok(Self {
            is_known: metrics.get("leader_known", of)? == 1.0,
            changes: metrics.get("leader_changes_total", of)?,
            seconds_without: metrics.get("without_leader_seconds_total", of)?,
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_leader_is_a_change_with_a_time_without_leader() -> Result<()> {
    let ensemble = Ensemble::shared().await?;
    for round in 0..ROUNDS {
        if kill_and_watch(&ensemble).await? {
            return Ok(());
        }
        eprintln!("round {round}: another process led before the time without leader was looked at");
    }
    bail!("not one of {ROUNDS} rounds had a time without leader")
}

/// Whether a third process was asked in the time without leader, which lasts as long as the next in line stands still.
async fn kill_and_watch(ensemble: &Ensemble) -> Result<bool> {
    let admin = AdminClient::connect(&ensemble.connect_string()).await?;
    let cluster = TestCluster::new(&ensemble.connect_string(), SESSION_TIMEOUT)?;
    // One after the other, so that they stand in line in this order.
    let mut first = cluster.spawn("first", &[])?;
    let leader = cluster.wait_until_standing(&admin, &[&first]).await?;
    let mut next = cluster.spawn("next", &[])?;
    cluster.wait_until_standing(&admin, &[&first, &next]).await?;
    let observer = cluster.spawn("observer", &[])?;
    cluster
        .wait_until_standing(&admin, &[&first, &next, &observer])
        .await?;

    let of_leader = Metrics::of(&leader.address).await?;
    let lease = of_leader.get("lease_left_seconds", None)?;
    ensure!(lease > 0.0 && lease <= SESSION_TIMEOUT.as_secs_f64(), "{lease}");
    ensure!(of_leader.get("leading", None)? == 1.0);
    ensure!(of_leader.get("connection_state", Some("connected"))? == 1.0);
    let before = eventually("the observer knows the leader", PATIENCE, async || {
        let seen = Leadership::seen_by(&observer).await?;
        ensure!(seen.is_known, "{seen:?}");
        Ok(seen)
    })
    .await?;
    let of_observer = Metrics::of(&rest_address(&observer).await?).await?;
    ensure!(of_observer.get("leading", None)? == 0.0);
    ensure!(of_observer.find("lease_left_seconds", None).is_none());

    first.process().kill()?;
    // So late that its session outlives the one of the killed process.
    pause(SESSION_TIMEOUT / 2).await;
    next.process().stop()?;
    let without = eventually("the observer sees that nobody leads", PATIENCE, async || {
        let seen = Leadership::seen_by(&observer).await?;
        ensure!(!seen.is_known || seen.changes > before.changes, "{seen:?}");
        Ok(seen)
    })
    .await?;
    next.process().cont()?;
    let after = eventually("the observer sees another leader", PATIENCE, async || {
        let seen = Leadership::seen_by(&observer).await?;
        ensure!(seen.is_known && seen.changes > before.changes, "{seen:?}");
        Ok(seen)
    })
    .await?;
    eprintln!("{before:?}, then {without:?}, then {after:?}");
    if without.is_known {
        return Ok(false);
    }
    ensure!(without.seconds_without > before.seconds_without);
    ensure!(after.seconds_without >= without.seconds_without);
    Ok(true)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_answer_while_zookeeper_is_away() -> Result<()> {
    let mut ensemble = Ensemble::start(EnsembleOptions::standalone()).await?;
    let admin = AdminClient::connect(&ensemble.connect_string()).await?;
    let cluster = TestCluster::new(&ensemble.connect_string(), SESSION_TIMEOUT)?;
    let process = cluster.spawn("one", &[])?;
    let leader = cluster.wait_until_standing(&admin, &[&process]).await?;
    ensemble.server(0)?.kill()?;
    eventually("the metrics say so", PATIENCE, async || {
        let metrics = Metrics::of(&leader.address).await?;
        let away = metrics.get("connection_state", Some("suspended"))?
            + metrics.get("connection_state", Some("lost"))?;
        ensure!(away == 1.0, "connected");
        Ok(())
    })
    .await?;
    let page = get(&leader.address).await?;
    ensure!(
        page.contains("Needs attention") && page.contains("knew last"),
        "{page}"
    );
    eventually("the lease is over", PATIENCE, async || {
        let metrics = Metrics::of(&leader.address).await?;
        ensure!(metrics.get("leading", None)? == 0.0, "it leads");
        ensure!(
            metrics.find("lease_left_seconds", None).is_none(),
            "it has a lease"
        );
        Ok(())
    })
    .await
}
