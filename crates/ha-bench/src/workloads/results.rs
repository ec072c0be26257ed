use std::sync::Arc;

use bytes::Bytes;
use ha_services::ids::JobId;
use ha_services::jobs::{ApplicationStatus, JobGraph, JobResult, JobResultEntry};
use ha_services::{HighAvailabilityServices as _, Result};

use super::background;
use super::silent_listener::SilentListener;
use crate::arguments::ResultOptions;
use crate::cluster::Cluster;
use crate::leader::Leader;
use crate::meter::{Measured, Meter};
use crate::reference::Reference;
use crate::result_line::ResultLine;
use crate::samples::Samples;

/// A job graph, in bytes.
const GRAPH: usize = 1024;

/// Jobs that were put end one after the other; each is cleaned up, unmeasured; and is marked so, one after the other.
pub(crate) async fn results(options: &ResultOptions) -> Result<()> {
    let mut cluster = Cluster::of(&options.place);
    cluster.configuration = cluster.configuration.with(
        "job-result-store.delete-on-commit",
        options.delete_on_commit.to_string(),
    );
    let leader = Leader::lead_in(cluster).await?;
    let environment = &leader.environment;
    let mut reference = Reference::new(leader.client().await?, environment).await?;
    let graphs = leader.services.job_graph_store();
    graphs.start(Arc::new(SilentListener)).await?;
    let mut jobs = Vec::new();
    for number in 0..options.n {
        let job_id = JobId::random(environment.ids.as_ref());
        let (name, payload) = (format!("job-{number}"), Bytes::from(vec![b'g'; GRAPH]));
        graphs
            .put_job_graph(&JobGraph {
                job_id,
                name,
                payload,
            })
            .await?;
        jobs.push(job_id);
    }
    graphs.stop().await?;

    let results = leader.services.job_result_store();
    let mut meter = Meter::begin(&options.place.zk, environment).await?;
    for job_id in &jobs {
        let entry = ended(*job_id);
        meter.time(results.create_dirty_result(&entry)).await?;
    }
    let dirty = meter.end().await?;
    for job_id in &jobs {
        leader.services.global_cleanup(*job_id).await?;
    }
    let mut meter = Meter::begin(&options.place.zk, environment).await?;
    for job_id in &jobs {
        meter.time(results.mark_result_as_clean(*job_id)).await?;
    }
    let clean = meter.end().await?;
    reference.sample().await?;

    let mut counted = dirty.counted;
    counted += clean.counted;
    let both = Measured {
        samples: Samples::sums(&dirty.samples, &clean.samples),
        wall: dirty.wall + clean.wall,
        counted,
    };
    let timeout = leader.services.session().session_timeout();
    let background =
        background::of_session(timeout, dirty.wall) + background::of_session(timeout, clean.wall);
    let variant = format!("delete-on-commit={}, durable", options.delete_on_commit);
    ResultLine::new("w7-job-result", variant, options.n, &both, &reference, background)?
        .with_part(["create_dirty_median_us", "create_dirty_p99_us"], &dirty.samples)
        .with_part(["mark_clean_median_us", "mark_clean_p99_us"], &clean.samples)
        .print()?;
    leader.remove().await
}

fn ended(job_id: JobId) -> JobResultEntry {
    JobResultEntry {
        result: JobResult {
            job_id,
            name: "job".to_owned(),
            application_status: ApplicationStatus::Succeeded,
            net_runtime: 1,
            end_time: 0,
            failure_cause: None,
        },
        job_digest: None,
    }
}
