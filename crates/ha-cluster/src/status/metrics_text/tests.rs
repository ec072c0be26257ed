//! The text is what a parser of Prometheus' format reads, by Prometheus' conventions.

use std::collections::BTreeMap;

use ha_services::LeaderInformation;
use ha_services::environment::BootInstant;
use ha_services::health::{BrokenEntry, Health};
use ha_services::ids::{Epoch, LeaderSessionId};
use prometheus_parse::{Scrape, Value};

use super::*;
use crate::status::{ComponentStatus, JobsStatus, LeaderHistory};

const fn at(seconds: u64) -> BootInstant {
    BootInstant::from_boot(Duration::from_secs(seconds))
}

fn status() -> ProcessStatus {
    let mut history = LeaderHistory::new(at(0));
    for (session, second) in [(1, 2), (2, 10)] {
        let leader = LeaderInformation {
            leader_address: "http://127.0.0.1:1".to_owned(),
            leader_session_id: LeaderSessionId::from_bits(0, session),
            epoch: Epoch::new(session),
        };
        history.observe(Some(leader), at(second));
        history.observe(None, at(second + 5));
    }
    let components = ["dispatcher", "resource_manager", "rest_server"].map(|name| ComponentStatus {
        name,
        led: history.view(at(16)),
    });
    ProcessStatus {
        name: "one".to_owned(),
        pid: 7,
        address: "http://127.0.0.1:1".to_owned(),
        version: "0.1.0",
        now: at(16),
        wall_time_millis: 0,
        leads: true,
        lease_left: Some(Duration::from_millis(2500)),
        health: Health {
            connection: ConnectionState::Suspended,
            ..Health::default()
        },
        components: components.into(),
        jobs: Some(JobsStatus {
            recovering: false,
            counts: vec![(JobStatus::Running, 3)],
            listed: Vec::new(),
        }),
    }
}

fn checkpoints() -> CheckpointMetrics {
    let checkpoints = CheckpointMetrics::new();
    checkpoints.completed(Duration::from_millis(3));
    checkpoints.completed(Duration::from_secs(100));
    checkpoints.failed();
    checkpoints
}

fn scraped(text: &str) -> Scrape {
    Scrape::parse(text.lines().map(|line| Ok(line.to_owned()))).unwrap()
}

/// The value of a sample, by its name and the value of its only label.
fn value(scrape: &Scrape, name: &str, label: Option<&str>) -> Option<f64> {
    let sample = scrape.samples.iter().find(|sample| {
        sample.metric == name && label.is_none_or(|label| sample.labels.values().any(|value| value == label))
    })?;
    match sample.value {
        Value::Counter(value) | Value::Gauge(value) | Value::Untyped(value) => Some(value),
        _ => None,
    }
}

#[test]
fn a_parser_reads_what_the_process_knows() {
    let mut status = status();
    status.health.broken.insert(
        "/a".to_owned(),
        BrokenEntry {
            name: "a".to_owned(),
            path: "/a".to_owned(),
            reason: "torn".to_owned(),
            candidates: Vec::new(),
        },
    );
    let scrape = scraped(&render_metrics(&status, &checkpoints()).unwrap());
    for (name, label, expected) in [
        ("ha_cluster_leader_changes_total", Some("dispatcher"), 1.0),
        ("ha_cluster_without_leader_seconds_total", Some("dispatcher"), 6.0),
        ("ha_cluster_leader_known", Some("rest_server"), 0.0),
        ("ha_cluster_leading", None, 1.0),
        ("ha_cluster_lease_left_seconds", None, 2.5),
        ("ha_cluster_connection_state", Some("suspended"), 1.0),
        ("ha_cluster_connection_state", Some("connected"), 0.0),
        ("ha_cluster_broken_entries", None, 1.0),
        ("ha_cluster_degraded", None, 1.0),
        ("ha_cluster_jobs", Some("running"), 3.0),
        ("ha_cluster_jobs", Some("failed"), 0.0),
        ("ha_cluster_checkpoints_total", Some("completed"), 2.0),
        ("ha_cluster_checkpoints_total", Some("failed"), 1.0),
    ] {
        assert_eq!(value(&scrape, name, label), Some(expected), "{name} {label:?}");
    }
    let duration = scrape
        .samples
        .iter()
        .find(|sample| sample.metric == "ha_cluster_checkpoint_duration_seconds");
    let Some(Value::Histogram(buckets)) = duration.map(|sample| &sample.value) else {
        panic!("no histogram in {:?}", scrape.samples);
    };
    let within = |bound: f64| {
        buckets
            .iter()
            .find(|bucket| bucket.less_than >= bound)
            .unwrap()
            .count
    };
    assert_eq!(
        (within(0.001), within(0.004), within(f64::INFINITY)),
        (0.0, 1.0, 2.0)
    );
}

#[test]
fn what_does_not_apply_is_not_there() {
    let mut status = status();
    status.lease_left = None;
    status.jobs = None;
    let scrape = scraped(&render_metrics(&status, &checkpoints()).unwrap());
    for name in ["ha_cluster_lease_left_seconds", "ha_cluster_jobs"] {
        assert_eq!(value(&scrape, name, None), None, "{name}");
    }
}

/// What `promtool check metrics` looks at.
#[test]
fn names_and_comments_follow_the_conventions() {
    let text = render_metrics(&status(), &checkpoints()).unwrap();
    let mut types = BTreeMap::new();
    let mut helped = Vec::new();
    for line in text.lines() {
        let words: Vec<_> = line.splitn(4, ' ').collect();
        match words[..] {
            ["#", "HELP", name, help] => {
                assert!(help.len() > 10, "{line}");
                helped.push(name.to_owned());
            }
            ["#", "TYPE", name, kind] => {
                assert_eq!(helped.last().map(String::as_str), Some(name), "{line}");
                assert!(types.insert(name.to_owned(), kind.to_owned()).is_none(), "{line}");
            }
            _ => assert!(!line.starts_with('#'), "{line}"),
        }
    }
    assert!(types.len() >= 10, "{types:?}");
    for (name, kind) in &types {
        let of_this_program = name.strip_prefix("ha_cluster_").unwrap();
        let shape = of_this_program
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        assert!(shape, "{name}");
        assert_eq!(name.ends_with("_total"), kind == "counter", "{name} {kind}");
        for wrong in ["millis", "_ms", "minutes", "count", "sum", "bucket"] {
            assert!(!name.contains(wrong), "{name}");
        }
    }
    // Bounded: what is sent does not grow with jobs, leaders or entries.
    assert!(text.lines().count() < 100, "{text}");
}
