//! B09: a deadline that is counted from when the disconnect is noticed is later than the server's.
//!
//! Only what the leader sends is lost, while events go on to arrive, so that its client takes itself for connected
//! until the server has given the session away.

use std::time::Duration;

use anyhow::{Result, ensure};
use integration_tests::proxy::{Direction, FaultProxy};
use integration_tests::{Ensemble, EnsembleOptions, eventually, pause, unstalled};

use crate::rig::{LONG, Rig, session_timeout, tell};

/// Events arrive at this interval, from more nodes than there are in the time until another one leads.
const EVENT_INTERVAL: Duration = Duration::from_millis(200);
const FOLLOWED: usize = 100;

#[tokio::test(flavor = "multi_thread")]
async fn b09_the_old_leader_is_revoked_before_the_next_is_granted_though_events_arrive() -> Result<()> {
    unstalled(async || {
        let ensemble = Ensemble::start(EnsembleOptions::standalone()).await?;
        let rig = Rig::new(&ensemble.connect_string()).await?;
        rig.judged(requests_are_lost_while_events_arrive(&ensemble, &rig))
            .await
    })
    .await
}

async fn requests_are_lost_while_events_arrive(ensemble: &Ensemble, rig: &Rig) -> Result<()> {
    let server = ensemble.connect_string();
    let proxy = FaultProxy::start(&server).await?;
    let (mut old, mut next) = rig.leader_and_standby(&proxy.address(), &server).await?;
    old.ask(&format!("follow {FOLLOWED}")).await?;
    pause(session_timeout() / 2).await;
    ensure!(old.leads().await?, "it lost leadership before the fault");

    proxy.hold(Direction::ToServer, true);
    let mut events = 0;
    for number in 0..FOLLOWED {
        let node = format!("{}/leader/followed-{number}", rig.settings.cluster_node());
        rig.admin.create(&node, b"").await?;
        rig.admin.create(&format!("{node}/connection_info"), b"").await?;
        events += 1;
        if next.leads().await? {
            break;
        }
        pause(EVENT_INTERVAL).await;
    }
    next.wait_until_leads(LONG).await?;
    ensure!(events < FOLLOWED, "events ended before the session did");
    proxy.hold(Direction::ToServer, false);

    let one = rig.one_leads(&mut old, &mut next).await?;
    ensure!(one == "next", "{one} leads");
    eventually("the old one was told", LONG, async || {
        ensure!(old.process().output().stderr().contains("leadership revoked"));
        Ok(())
    })
    .await?;
    rig.end(old, next).await?;
    rig.judge_writes(ensemble)?;
    let hand_over = rig.judge_intervals()?;
    tell(&format!("b09, after {events} events: {hand_over}"));
    Ok(())
}
