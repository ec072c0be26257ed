use bytes::Bytes;
use ha_services::checkpoints::CompletedCheckpoint;
use ha_services::ids::{CheckpointId, JobId};
use ha_services::{HighAvailabilityServices as _, Result};

use super::background;
use crate::arguments::CheckpointOptions;
use crate::leader::Leader;
use crate::meter::Meter;
use crate::reference::Reference;
use crate::result_line::ResultLine;

/// One checkpoint after the other: its file, its pointer and the removal of the oldest, the oldest's file.
pub(crate) async fn checkpoints(options: &CheckpointOptions) -> Result<()> {
    let leader = Leader::lead(&options.place).await?;
    let job_id = JobId::random(leader.environment.ids.as_ref());
    let retained = usize::try_from(options.retained).unwrap_or(usize::MAX);
    let store = leader
        .services
        .checkpoint_recovery_factory()
        .create_recovered_completed_checkpoint_store(job_id, retained)
        .await?;
    let mut reference = Reference::new(leader.client().await?, &leader.environment).await?;
    let payload = Bytes::from(vec![b'c'; options.size]);
    let mut next = CheckpointId::FIRST;
    let mut checkpoint = || -> Result<CompletedCheckpoint> {
        let checkpoint_id = next;
        next = next.next()?;
        Ok(CompletedCheckpoint {
            job_id,
            checkpoint_id,
            timestamp: 0,
            payload: payload.clone(),
        })
    };
    for _ in 0..options.warmup {
        store.add_and_subsume(checkpoint()?).await?;
    }
    let mut meter = Meter::begin(&options.place.zk, &leader.environment).await?;
    for _ in 0..options.n {
        meter.time(store.add_and_subsume(checkpoint()?)).await?;
    }
    let measured = meter.end().await?;
    reference.sample().await?;
    let timeout = leader.services.session().session_timeout();
    let background = background::of_session(timeout, measured.wall);
    let variant = format!("{} retained, durable", options.retained);
    ResultLine::new(
        "w2-checkpoint-add",
        variant,
        options.n,
        &measured,
        &reference,
        background,
    )?
    .print()?;
    leader.remove().await
}
