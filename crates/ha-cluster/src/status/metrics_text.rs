use std::sync::atomic::AtomicU64;
use std::time::Duration;

use ha_services::health::ConnectionState;
use ha_services::jobs::JobStatus;
use ha_services::{Error, ErrorKind, Result};
use prometheus_client::encoding::prometheus_text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Metric, Registry, Unit};

use super::{CheckpointMetrics, ProcessStatus};

/// What [`render_metrics`] gives.
pub const METRICS_CONTENT_TYPE: &str = prometheus_text::CONTENT_TYPE;

/// Begins every name.
const PREFIX: &str = "ha_cluster";

/// A label with values of a fixed set: no label holds what a user, a job or a znode says.
type Label = [(&'static str, &'static str); 1];
type Seconds = Gauge<f64, AtomicU64>;
type SecondsTotal = Counter<f64, AtomicU64>;

/// The metrics in Prometheus' text format.
///
/// # Errors
/// `Internal` when the library refuses a value, which none of these is.
pub fn render_metrics(status: &ProcessStatus, checkpoints: &CheckpointMetrics) -> Result<String> {
    // Made anew each time, so that a metric that does not apply now, the lease of a standby say, is not there.
    let mut registry = Registry::with_prefix(PREFIX);
    let version = Info::new([("version", status.version)]);
    registry.register("build", "The version of the program", version);
    register_leaders(&mut registry, status);
    register_health(&mut registry, status);
    register_jobs(&mut registry, status, checkpoints);
    let mut text = String::new();
    prometheus_text::encode(&mut text, &registry)
        .map_err(|error| Error::new(ErrorKind::Internal, "the metrics cannot be written").caused_by(error))?;
    Ok(text)
}

fn register_leaders(registry: &mut Registry, status: &ProcessStatus) {
    let (known, changes) = (
        Family::<Label, Gauge>::default(),
        Family::<Label, Counter>::default(),
    );
    let without = Family::<Label, SecondsTotal>::default();
    for component in &status.components {
        let label = [("component", component.name)];
        let led = &component.led;
        known.get_or_create(&label).set(led.leader.is_some().into());
        changes.get_or_create(&label).inc_by(led.changes);
        without.get_or_create(&label).inc_by(led.without.as_secs_f64());
    }
    registry.register(
        "leader_known",
        "Whether this process knows a leader of the component",
        known,
    );
    registry.register(
        "leader_changes",
        "How often this process saw another leader of the component take the place of the one before it",
        changes,
    );
    registry.register_with_unit(
        "without_leader",
        "How long this process has known no leader of the component since it started; a dead leader is known until its \
         session has expired",
        Unit::Seconds,
        without,
    );
    registry.register(
        "leading",
        "Whether this process leads the cluster",
        flag(status.leads),
    );
    if let Some(left) = status.lease_left {
        registry.register_with_unit(
            "lease_left",
            "How much longer this process may lead if ZooKeeper answers nothing from now on; only there while it leads \
             on a lease",
            Unit::Seconds,
            seconds(left),
        );
    }
}

fn register_health(registry: &mut Registry, status: &ProcessStatus) {
    let health = &status.health;
    let states = Family::<Label, Gauge>::default();
    for (name, state) in [
        ("connected", ConnectionState::Connected),
        ("suspended", ConnectionState::Suspended),
        ("lost", ConnectionState::Lost),
        ("none", ConnectionState::None),
    ] {
        let is_so = health.connection == state;
        states.get_or_create(&[("state", name)]).set(is_so.into());
    }
    registry.register(
        "connection_state",
        "The state of the connection to ZooKeeper: 1 at the one that holds; none where there is no ZooKeeper",
        states,
    );
    registry.register(
        "broken_entries",
        "Entries of the cluster's data that cannot be read and were left as they are",
        gauge(health.broken.len()),
    );
    registry.register(
        "degraded",
        "Whether something needs a person's eye although the process goes on",
        flag(health.is_degraded()),
    );
}

fn register_jobs(registry: &mut Registry, status: &ProcessStatus, checkpoints: &CheckpointMetrics) {
    if let Some(jobs) = &status.jobs {
        let counts = Family::<Label, Gauge>::default();
        for (name, status) in [
            ("created", JobStatus::Created),
            ("running", JobStatus::Running),
            ("cancelling", JobStatus::Cancelling),
            ("finished", JobStatus::Finished),
            ("failed", JobStatus::Failed),
            ("canceled", JobStatus::Canceled),
        ] {
            let count = jobs.counts.iter().find(|(known, _)| *known == status);
            let count = count.map_or(0, |(_, count)| *count);
            counts
                .get_or_create(&[("status", name)])
                .set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        registry.register(
            "jobs",
            "Jobs that the leading process has in memory, the last that ended among them; only there where it leads",
            counts,
        );
    }
    let taken = Family::<Label, Counter>::default();
    taken
        .get_or_create(&[("outcome", "completed")])
        .inc_by(checkpoints.completed.get());
    taken
        .get_or_create(&[("outcome", "failed")])
        .inc_by(checkpoints.failed.get());
    registry.register(
        "checkpoints",
        "Checkpoints of all jobs that this process took, by what became of them",
        taken,
    );
    registry.register_with_unit(
        "checkpoint_duration",
        "How long it took from the state of a job to its acknowledged checkpoint",
        Unit::Seconds,
        checkpoints.durations.clone(),
    );
}

fn flag(is_so: bool) -> impl Metric {
    gauge(usize::from(is_so))
}

fn gauge(value: usize) -> impl Metric {
    let gauge: Gauge = Gauge::default();
    gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
    gauge
}

fn seconds(value: Duration) -> impl Metric {
    let gauge = Seconds::default();
    gauge.set(value.as_secs_f64());
    gauge
}

#[cfg(test)]
mod tests;
