use ha_services::ids::JobId;
use ha_services::{HighAvailabilityServices as _, Result};

use super::background;
use crate::arguments::CounterOptions;
use crate::leader::Leader;
use crate::meter::Meter;
use crate::reference::Reference;
use crate::result_line::ResultLine;

/// One increment after the other.
pub(crate) async fn counter(options: &CounterOptions) -> Result<()> {
    let leader = Leader::lead(&options.place).await?;
    let job_id = JobId::random(leader.environment.ids.as_ref());
    let factory = leader.services.checkpoint_recovery_factory();
    let counter = factory.create_checkpoint_id_counter(job_id).await?;
    counter.start().await?;
    let mut reference = Reference::new(leader.client().await?, &leader.environment).await?;
    for _ in 0..options.warmup {
        counter.get_and_increment().await?;
    }
    let mut meter = Meter::begin(&options.place.zk, &leader.environment).await?;
    for _ in 0..options.n {
        meter.time(counter.get_and_increment()).await?;
    }
    let measured = meter.end().await?;
    reference.sample().await?;
    let timeout = leader.services.session().session_timeout();
    let background = background::of_session(timeout, measured.wall);
    ResultLine::new(
        "w1-counter",
        "fenced",
        options.n,
        &measured,
        &reference,
        background,
    )?
    .print()?;
    leader.remove().await
}
