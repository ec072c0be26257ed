//! One leader, one standby, one fault of the leader's process or of its network.

use std::time::Duration;

use anyhow::{Result, ensure};
use integration_tests::leadership::{ContenderProcess, HandOver};
use integration_tests::proxy::{Direction, FaultProxy};
use integration_tests::workload::Random;
use integration_tests::{Ensemble, EnsembleOptions, pause};

use crate::rig::{LONG, Rig, pause_about, session_timeout, tell};

/// What happens to the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// What it sends does not arrive; what is sent to it does.
    RequestsLost,
    /// What is sent to it does not arrive; what it sends does.
    RepliesLost,
    /// SIGSTOP.
    Stopped,
    /// Every thread of its runtime is blocked.
    RuntimeBlocked,
}

/// The fault, under load, and the judgement.
pub(crate) async fn run(fault: Fault, random: &mut Random) -> Result<HandOver> {
    let ensemble = Ensemble::start(EnsembleOptions::standalone()).await?;
    let server = ensemble.connect_string();
    let rig = Rig::new(&server).await?;
    rig.judged(happens(fault, random, &ensemble, &rig)).await
}

async fn happens(fault: Fault, random: &mut Random, ensemble: &Ensemble, rig: &Rig) -> Result<HandOver> {
    let server = ensemble.connect_string();
    let proxy = FaultProxy::start(&server).await?;
    let (mut old, mut next) = rig.leader_and_standby(&proxy.address(), &server).await?;
    pause_about(session_timeout() / 2, random).await;
    ensure!(old.leads().await?, "it lost leadership before the fault");

    suffer(fault, &mut old, &mut next, &proxy, random).await?;

    let one = rig.one_leads(&mut old, &mut next).await?;
    ensure!(one == "next", "{one} leads");
    let load = rig.end(old, next).await?;
    let terms = rig.judge_writes(ensemble)?;
    let counts: Vec<_> = terms.iter().map(|term| term.count).collect();
    tell(&format!("{fault:?}: writes of each term {counts:?}, {load}"));
    ensure!(
        counts.iter().take(2).all(|count| *count > 2),
        "both terms were to be under load"
    );
    rig.judge_intervals()
}

/// The fault, until `next` leads and some time longer. It has ended when this returns.
async fn suffer(
    fault: Fault,
    old: &mut ContenderProcess,
    next: &mut ContenderProcess,
    proxy: &FaultProxy,
    random: &mut Random,
) -> Result<()> {
    let longer = Duration::from_millis(random.below(1500));
    // Twice the session, and up to half of it more.
    let twice = session_timeout() * 2 + session_timeout().mul_f64(0.5).mul_f64(fraction(random));
    match fault {
        Fault::RequestsLost | Fault::RepliesLost => {
            let direction = match fault {
                Fault::RequestsLost => Direction::ToServer,
                _ => Direction::ToClient,
            };
            proxy.hold(direction, true);
            next.wait_until_leads(LONG).await?;
            pause(longer).await;
            proxy.hold(direction, false);
        }
        Fault::Stopped => {
            old.signals().stop()?;
            pause(twice).await;
            next.wait_until_leads(LONG).await?;
            old.signals().cont()?;
        }
        Fault::RuntimeBlocked => {
            old.ask(&format!("block {}", twice.as_millis())).await?;
            next.wait_until_leads(LONG).await?;
        }
    }
    Ok(())
}

/// Between 0 and 1.
fn fraction(random: &mut Random) -> f64 {
    f64::from(u16::try_from(random.below(1000)).unwrap_or_default()) / 1000.0
}
