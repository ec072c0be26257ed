use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _};
use ha_services::checkpoints::{CheckpointRecoveryFactory, CompletedCheckpoint};
use ha_services::ids::{CheckpointId, JobId};
use ha_services::jobs::{JobGraph, JobGraphStore};
use ha_services::{Error, ErrorKind, HighAvailabilityServices as _, Result};

use super::silent_listener::SilentListener;
use super::{background, fresh_process};
use crate::arguments::JobOptions;
use crate::leader::Leader;
use crate::meter::Meter;
use crate::reference::Reference;
use crate::result_line::ResultLine;

/// Jobs that are stored, or recovered, at the same time.
const CONCURRENT_JOBS: usize = 64;

/// Stores the jobs, unmeasured; then a fresh process recovers them.
pub(crate) async fn store_jobs(options: &JobOptions) -> Result<()> {
    let leader = Leader::lead(&options.place).await?;
    let graphs = leader.services.job_graph_store();
    graphs.start(Arc::new(SilentListener)).await?;
    let checkpoints = leader.services.checkpoint_recovery_factory();
    let (graphs_of, checkpoints_of) = (&*graphs, &*checkpoints);
    let ids = &leader.environment.ids;
    futures::stream::iter(0..options.n)
        .map(|_| store_job(options, JobId::random(ids.as_ref()), graphs_of, checkpoints_of))
        .buffer_unordered(CONCURRENT_JOBS)
        .try_collect::<Vec<()>>()
        .await?;
    graphs.stop().await?;
    let cluster = leader.cluster.clone();
    leader.close().await?;
    let options_of_rest = [
        ("--n", options.n.to_string()),
        ("--checkpoints", options.checkpoints.to_string()),
        ("--size", options.size.to_string()),
    ];
    fresh_process::run("recover-rest", &options.place, &cluster, &options_of_rest).await
}

async fn store_job(
    options: &JobOptions,
    job_id: JobId,
    graphs: &dyn JobGraphStore,
    checkpoints: &dyn CheckpointRecoveryFactory,
) -> Result<()> {
    graphs
        .put_job_graph(&JobGraph {
            job_id,
            name: format!("job {job_id}"),
            payload: Bytes::from(vec![b'g'; options.size]),
        })
        .await?;
    let retained = usize::try_from(options.checkpoints).unwrap_or(usize::MAX);
    let store = checkpoints
        .create_recovered_completed_checkpoint_store(job_id, retained)
        .await?;
    let mut checkpoint_id = CheckpointId::FIRST;
    for _ in 0..options.checkpoints {
        store
            .add_and_subsume(CompletedCheckpoint {
                job_id,
                checkpoint_id,
                timestamp: 0,
                payload: Bytes::from(vec![b'c'; options.size]),
            })
            .await?;
        checkpoint_id = checkpoint_id.next()?;
    }
    Ok(())
}

/// What the next leader does, from the start of its process on: leads, lists the jobs, recovers their graphs, and
/// recovers the checkpoints of each. All of it is kept, as the jobs would.
pub(crate) async fn recover_jobs(options: &JobOptions) -> Result<()> {
    let environment = ha_services::Environment::system();
    let clock = Arc::clone(&environment.clock);
    let mut meter = Meter::begin(&options.place.zk, &environment).await?;
    let began = clock.now();
    let leader = Leader::lead(&options.place).await?;
    let led = clock.now();
    let graphs = leader.services.job_graph_store();
    graphs.start(Arc::new(SilentListener)).await?;
    let listed = graphs.job_ids().await?;
    let listed_at = clock.now();
    let recovered = graphs.recover_job_graphs().await?;
    let graphs_at = clock.now();
    let factory = leader.services.checkpoint_recovery_factory();
    let retained = usize::try_from(options.checkpoints).unwrap_or(usize::MAX);
    let of_factory = &factory;
    let recovering = futures::stream::iter(recovered.entries.iter().map(|graph| graph.job_id))
        .map(|job_id| async move {
            let store = of_factory
                .create_recovered_completed_checkpoint_store(job_id, retained)
                .await?;
            let latest = store.latest().await?;
            let is_whole = store.num_retained().await == retained
                && latest.is_some_and(|latest| latest.payload.len() == options.size);
            Ok::<_, Error>((store, is_whole))
        })
        .buffer_unordered(CONCURRENT_JOBS)
        .try_collect::<Vec<_>>();
    let stores = meter.time(recovering).await?;
    let checkpoints_at = clock.now();
    let measured = meter.end_of_one(options.n).await?;
    let whole = stores.iter().filter(|(_, is_whole)| *is_whole).count();
    for (what, count) in [
        ("listed", listed.len()),
        ("recovered", recovered.entries.len()),
        ("recovered with all checkpoints", whole),
    ] {
        if u64::try_from(count) != Ok(options.n) {
            let message = format!("{count} of {} jobs were {what}", options.n);
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
    }
    let reference = Reference::new(leader.client().await?, &leader.environment).await?;
    let timeout = leader.services.session().session_timeout();
    let background = background::of_session(timeout, measured.wall)
        + background::of_job_graph_store(options.n, measured.wall);
    let variant = format!(
        "{} checkpoints, {CONCURRENT_JOBS} jobs at a time",
        options.checkpoints
    );
    ResultLine::new("recover", variant, options.n, &measured, &reference, background)?
        .with_ms("lead_ms", led.saturating_since(began))
        .with_ms("list_ms", listed_at.saturating_since(led))
        .with_ms("graphs_ms", graphs_at.saturating_since(listed_at))
        .with_ms("checkpoints_ms", checkpoints_at.saturating_since(graphs_at))
        .print()?;
    drop(stores);
    graphs.stop().await?;
    leader.remove().await
}
