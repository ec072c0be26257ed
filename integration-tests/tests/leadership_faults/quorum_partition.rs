//! A server that is cut off from the others while the leading process's client stays connected to it and is answered:
//! the old process has stepped down before another one is granted (I1), whichever server it is.
//!
//! The servers reach each other's quorum ports through links of this process ([`EnsembleOptions::with_peer_links`]).

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use integration_tests::ensemble::{LinkState, ServerRole};
use integration_tests::leadership::HandOver;
use integration_tests::workload::Random;
use integration_tests::{Ensemble, EnsembleOptions, pause};

use crate::rig::{LONG, Rig, pause_about, seeded, session_timeout, tell};

/// A server that is cut off goes on serving for so many ticks: much longer than a session lasts.
const SYNC_LIMIT: u32 = 80;
const FULL_RUNS: u64 = 20;

/// Which server is cut off, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CutOff {
    /// A follower from ZooKeeper's leader: packets are dropped, nobody is told.
    Follower,
    /// ZooKeeper's leader from its followers, which are told at once while it is not.
    Leader,
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_is_cut_off_from_zookeepers_leader() -> Result<()> {
    runs("a follower cut off", CutOff::Follower).await
}

#[tokio::test(flavor = "multi_thread")]
async fn zookeepers_leader_is_cut_off_from_its_followers() -> Result<()> {
    runs("ZooKeeper's leader cut off", CutOff::Leader).await
}

async fn runs(what: &str, cut_off: CutOff) -> Result<()> {
    let options = EnsembleOptions::three()
        .with_peer_links()
        .with_sync_limit(SYNC_LIMIT);
    let mut ensemble = Ensemble::start(options).await?;
    seeded(what, FULL_RUNS, async |random| {
        run(&mut ensemble, cut_off, random).await
    })
    .await
}

async fn run(ensemble: &mut Ensemble, cut_off: CutOff, random: &mut Random) -> Result<HandOver> {
    // An attempt that a stalling machine spoilt may have left them cut.
    ensemble.links()?.all(LinkState::Open);
    ensemble.wait_until_serving().await?;
    let leader = ensemble.leader().await?;
    let followers: Vec<_> = (0..3).filter(|server| *server != leader).collect();
    let (lonely, role) = match cut_off {
        CutOff::Leader => (leader, ServerRole::Leader),
        CutOff::Follower => {
            let choice = usize::try_from(random.below(2))?;
            (
                *followers.get(choice).context("two follow")?,
                ServerRole::Follower,
            )
        }
    };
    let mut addresses = Vec::new();
    for server in 0..3 {
        addresses.push(ensemble.server(server)?.address());
    }
    let address = addresses.swap_remove(lonely);
    let others = addresses
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(",");

    let rig = Rig::new(&others).await?;
    let lonely = Lonely {
        index: lonely,
        role,
        address,
    };
    rig.judged(cut_off_from(ensemble, &lonely, &others, &rig, random))
        .await
}

/// The server that is cut off.
struct Lonely {
    index: usize,
    role: ServerRole,
    address: SocketAddr,
}

async fn cut_off_from(
    ensemble: &Ensemble,
    lonely: &Lonely,
    others: &str,
    rig: &Rig,
    random: &mut Random,
) -> Result<HandOver> {
    let (mut old, mut next) = rig
        .leader_and_standby(&lonely.address.to_string(), others)
        .await?;
    // Until the lease is as long as it gets, and then any moment between two heartbeats and ticks.
    pause_about(session_timeout() / 2, random).await;
    ensure!(old.leads().await?, "it lost leadership before the fault");

    let links = ensemble.links()?;
    let state = match lonely.role {
        ServerRole::Leader => LinkState::Severed,
        _ => LinkState::Held,
    };
    links.around(lonely.index, state);
    next.wait_until_leads(LONG).await?;
    // What makes the case: the server did not know yet, and went on serving the old leader's client.
    let serves_as = ServerRole::ask(lonely.address)?;
    ensure!(
        serves_as == lonely.role,
        "the server that was cut off is {serves_as:?} by now"
    );
    ensure!(!old.leads().await?, "the old leader leads still");
    pause(Duration::from_millis(random.below(500))).await;
    links.all(LinkState::Open);
    let one = rig.one_leads(&mut old, &mut next).await?;
    ensure!(one == "next", "{one} leads");
    ensemble.wait_until_serving().await?;
    let load = rig.end(old, next).await?;
    tell(&format!("{:?} cut off: {load}", lonely.role));
    rig.judge_intervals()
}
