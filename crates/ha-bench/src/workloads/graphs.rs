use std::sync::Arc;

use bytes::Bytes;
use ha_services::ids::JobId;
use ha_services::jobs::JobGraph;
use ha_services::{Error, ErrorKind, HighAvailabilityServices as _, Result};

use super::silent_listener::SilentListener;
use super::{background, fresh_process};
use crate::arguments::GraphOptions;
use crate::leader::Leader;
use crate::meter::{Measured, Meter};
use crate::reference::Reference;
use crate::result_line::ResultLine;

/// Puts all graphs, one after the other; then a fresh process does the rest.
pub(crate) async fn put_graphs(options: &GraphOptions) -> Result<()> {
    let leader = Leader::lead(&options.place).await?;
    let store = leader.services.job_graph_store();
    store.start(Arc::new(SilentListener)).await?;
    let mut reference = Reference::new(leader.client().await?, &leader.environment).await?;
    let payload = Bytes::from(vec![b'g'; options.size]);
    let graph = |number| JobGraph {
        job_id: JobId::random(leader.environment.ids.as_ref()),
        name: format!("job-{number}"),
        payload: payload.clone(),
    };
    // The first one of a cluster makes the folder.
    let first = graph(0);
    store.put_job_graph(&first).await?;
    store.remove_job_graph(first.job_id).await?;
    let mut meter = Meter::begin(&options.place.zk, &leader.environment).await?;
    for number in 1..=options.n {
        meter.time(store.put_job_graph(&graph(number))).await?;
    }
    let measured = meter.end().await?;
    reference.sample().await?;
    print("w3-put", options, &leader, &measured, &reference)?;
    store.stop().await?;
    let cluster = leader.cluster.clone();
    leader.close().await?;
    let n = options.n.to_string();
    let size = options.size.to_string();
    fresh_process::run(
        "w3-rest",
        &options.place,
        &cluster,
        &[("--n", n), ("--size", size)],
    )
    .await
}

/// Recovers all graphs at once, then removes them one after the other.
pub(crate) async fn recover_and_remove_graphs(options: &GraphOptions) -> Result<()> {
    let leader = Leader::lead(&options.place).await?;
    let store = leader.services.job_graph_store();
    store.start(Arc::new(SilentListener)).await?;
    let mut reference = Reference::new(leader.client().await?, &leader.environment).await?;

    let mut meter = Meter::begin(&options.place.zk, &leader.environment).await?;
    let recovered = meter.time(store.recover_job_graphs()).await?;
    let measured = meter.end_of_one(options.n).await?;
    let whole = recovered
        .entries
        .iter()
        .filter(|graph| graph.payload.len() == options.size)
        .count();
    if !recovered.broken.is_empty() || u64::try_from(whole) != Ok(options.n) {
        return Err(Error::new(
            ErrorKind::Corrupt,
            format!("{whole} of {} job graphs were recovered", options.n),
        ));
    }
    let variant = "one multi-read for 500, durable";
    // The store has read what it watches long ago, and nobody changes anything.
    let background = background::of_session(leader.services.session().session_timeout(), measured.wall);
    ResultLine::new(
        "w3-recover",
        variant,
        options.n,
        &measured,
        &reference,
        background,
    )?
    .print()?;

    let mut meter = Meter::begin(&options.place.zk, &leader.environment).await?;
    for graph in &recovered.entries {
        meter.time(store.remove_job_graph(graph.job_id)).await?;
    }
    let measured = meter.end().await?;
    reference.sample().await?;
    print("w3-remove", options, &leader, &measured, &reference)?;
    store.stop().await?;
    leader.remove().await
}

/// Prints the line of changes, which the store's own watch follows.
fn print(
    workload: &'static str,
    options: &GraphOptions,
    leader: &Leader,
    measured: &Measured,
    reference: &Reference,
) -> Result<()> {
    let timeout = leader.services.session().session_timeout();
    let background = background::of_session(timeout, measured.wall)
        + background::of_job_graph_store(options.n, measured.wall);
    ResultLine::new(workload, "durable", options.n, measured, reference, background)?.print()
}
