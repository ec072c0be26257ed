//! The status page and the metrics of running processes: each answers for itself, and what it says moves with its jobs
//! and leaders.

use ha_cluster::job::JobSpec;
use ha_services::configuration::Configuration;
use ha_services::ids::ComponentId;
use ha_services::jobs::JobStatus;
use prometheus_parse::{Scrape, Value};

use super::*;

/// What a job may be called.
const HOSTILE: &str = "<script>alert('&\"')</script>";

async fn page(member: &Member) -> String {
    let answer = get(&format!("{}/", member.address)).await;
    assert_eq!(answer.status().as_u16(), 200);
    answer.text().await.unwrap()
}

/// The value of a metric, by its name and the value of its label.
async fn metric(member: &Member, name: &str, label: &str) -> Option<f64> {
    let answer = get(&format!("{}/metrics", member.address)).await;
    assert_eq!(answer.status().as_u16(), 200);
    assert_eq!(
        answer.headers()["content-type"],
        "text/plain; version=0.0.4; charset=utf-8"
    );
    let text = answer.text().await.unwrap();
    let scrape = Scrape::parse(text.lines().map(|line| Ok(line.to_owned()))).unwrap();
    let sample = scrape.samples.into_iter().find(|sample| {
        sample.metric == name && (label.is_empty() || sample.labels.values().any(|value| value == label))
    })?;
    match sample.value {
        Value::Counter(value) | Value::Gauge(value) | Value::Untyped(value) => Some(value),
        Value::Histogram(buckets) => buckets.last().map(|bucket| bucket.count),
        Value::Summary(_) => None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_process_answers_for_itself() {
    let services = services();
    let one = Member::leading(&services).await;
    let two = Member::start(&services, "two", Configuration::new()).await;
    let leading = page(&one).await;
    assert!(
        leading.contains("<title>one: leads</title>") && leading.contains("no ZooKeeper"),
        "{leading}"
    );
    let link = format!("shows them: <a href=\"{}\"", one.address);
    let standing_by = eventually("the leader known to the other process", async || {
        let page = page(&two).await;
        page.contains(&link).then_some(page)
    })
    .await;
    assert!(
        standing_by.contains("<title>two: stands by</title>"),
        "{standing_by}"
    );
    for (member, leads) in [(&one, 1.0), (&two, 0.0)] {
        assert_eq!(metric(member, "ha_cluster_leading", "").await, Some(leads));
        assert_eq!(
            metric(member, "ha_cluster_connection_state", "none").await,
            Some(1.0)
        );
        assert_eq!(metric(member, "ha_cluster_lease_left_seconds", "").await, None);
    }
    assert_eq!(metric(&two, "ha_cluster_jobs", "running").await, None);

    let answer = get(&format!("{}/?refresh=off", one.address)).await;
    for (header, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(answer.headers()[header], value, "{header}");
    }
    let policy = answer.headers()["content-security-policy"].to_str().unwrap();
    assert!(
        policy.starts_with("default-src 'none'; style-src 'sha256-"),
        "{policy}"
    );
    assert!(!answer.text().await.unwrap().contains("http-equiv=\"refresh\""));
    two.end().await;
    one.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_shown_from_its_first_checkpoint_to_its_end() {
    let (workplace, services) = (Workplace::new(), services());
    let one = Member::leading(&services).await;
    assert!(page(&one).await.contains("There are none."));
    assert_eq!(
        metric(&one, "ha_cluster_checkpoints_total", "completed").await,
        Some(0.0)
    );
    let spec = JobSpec {
        name: HOSTILE.to_owned(),
        ..slow_job(&workplace, 100_000)
    };
    one.submit(id(1), &spec).await;
    one.until_job("a checkpoint", id(1), |job| job.latest_checkpoint_id.is_some())
        .await;
    let shown = eventually("its checkpoint on the page", async || {
        let page = page(&one).await;
        page.contains(" ago, ").then_some(page)
    })
    .await;
    assert!(
        shown.contains("1 job: 1 RUNNING") && shown.contains("<progress max=\"") && shown.contains(" % of "),
        "{shown}"
    );
    assert!(
        shown.contains("&lt;script&gt;") && !shown.contains("<script"),
        "{shown}"
    );
    assert_eq!(metric(&one, "ha_cluster_jobs", "running").await, Some(1.0));
    let completed = metric(&one, "ha_cluster_checkpoints_total", "completed")
        .await
        .unwrap();
    let timed = metric(&one, "ha_cluster_checkpoint_duration_seconds", "")
        .await
        .unwrap();
    assert!(completed >= 1.0 && timed >= completed, "{completed} {timed}");

    assert!(one.process.dispatcher().cancel(id(1)).await.unwrap());
    one.until_job("the end", id(1), |job| job.status == JobStatus::Canceled)
        .await;
    let ended = page(&one).await;
    assert!(ended.contains("1 job: 1 CANCELED"), "{ended}");
    one.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_leadership_is_counted_with_the_time_without_leader() {
    let services = services();
    let one = Member::leading(&services).await;
    let (changes, without) = (
        "ha_cluster_leader_changes_total",
        "ha_cluster_without_leader_seconds_total",
    );
    assert_eq!(metric(&one, changes, "dispatcher").await, Some(0.0));
    let before = metric(&one, without, "dispatcher").await.unwrap();
    let control = services.leadership_control();
    control.revoke_leadership(&ComponentId::dispatcher());
    eventually("no leader", async || {
        (metric(&one, "ha_cluster_leader_known", "dispatcher").await == Some(0.0)).then_some(())
    })
    .await;
    let page = page(&one).await;
    assert!(
        page.contains("No leader is known.") && page.contains("The next leader takes them up."),
        "{page}"
    );
    let during = metric(&one, without, "dispatcher").await.unwrap();
    assert!(during > before, "{during} {before}");
    control.grant_leadership(&ComponentId::dispatcher());
    eventually("another leader", async || {
        (metric(&one, changes, "dispatcher").await == Some(1.0)).then_some(())
    })
    .await;
    let after = metric(&one, without, "dispatcher").await.unwrap();
    assert!(after >= during, "{after} {during}");
    // The others have been led all the time.
    assert_eq!(metric(&one, changes, "rest_server").await, Some(0.0));
    one.end().await;
}
