//! B01. Symptom: after an outage of the servers that was longer than the session the old leader says that it leads
//! again, another process is elected a little later, and both go on.
//!
//! Provoked: two processes; the server is killed, and started again only when both clients have given their
//! sessions up. A server that restarts gives every session that it had a fresh timeout, so both find the latches
//! of their dead sessions still listed, the old leader's as the lowest, when they contend anew. (Both reset at
//! once, which is how the sibling trace arises too.)
//!
//! Right: a latch is one's own by its owner, the present session, and by nothing else. Nobody leads while the old
//! leader's latch stands; never do two at once; one does within a session timeout, two ticks and a second.
//!
//! Sources: CURATOR-696 (apache/curator#1211, curator#500), apache/druid#16528, CURATOR-653 (curator#1169,
//! curator#398).

use std::time::Duration;

use ha_core::health::ConnectionState;
use integration_tests::waiting::now;
use integration_tests::{
    AdminClient, Ensemble, EnsembleOptions, eventually, recovery_limit, scaled, unstalled_case,
};

use crate::zookeeper::{AT_ONCE, Process, close_all, eventually_led, new_cluster, one_leads, options};

const LONG: Duration = Duration::from_secs(60);
const TICK: Duration = Duration::from_millis(500);

#[tokio::test(flavor = "multi_thread")]
async fn b01_the_latch_of_a_dead_session_makes_nobody_leader() {
    unstalled_case(async || {
        let timeout = scaled(Duration::from_secs(8));
        let mut ensemble = Ensemble::start(EnsembleOptions::standalone().with_tick_time(TICK))
            .await
            .unwrap();
        let servers = ensemble.connect_string();
        let paths = new_cluster();
        let mut processes = Vec::new();
        for name in ["a", "b"] {
            processes.push(Process::start(name, &paths, options(&servers, timeout)).await);
        }
        let old = one_leads(&processes, AT_ONCE).await;
        let ghost = processes[old].latch();
        let sessions: Vec<_> = processes
            .iter()
            .map(|process| process.session.status().latest().session)
            .collect();
        let admin = AdminClient::connect(&servers).await.unwrap();
        eventually("both stand", AT_ONCE, async || {
            anyhow::ensure!(admin.children(&paths.latches()).await?.len() == 2);
            Ok(())
        })
        .await
        .unwrap();

        ensemble.server(0).unwrap().kill().unwrap();
        eventually("both sessions are given up", LONG, async || {
            for process in &processes {
                let status = process.session.status().latest();
                anyhow::ensure!(status.state == ConnectionState::Lost, "{status:?}");
            }
            Ok(())
        })
        .await
        .unwrap();
        ensemble.server(0).unwrap().restart().await.unwrap();
        let back = now();

        let admin = AdminClient::connect(&servers).await.unwrap();
        let all: Vec<_> = processes.iter().collect();
        let mut beside_the_ghost = 0;
        let new = eventually_led(
            "one leads",
            &all,
            recovery_limit(timeout + TICK * 2 + Duration::from_secs(1)),
            async |leaders| {
                // Asked after who leads: once gone, it never comes back.
                let ghost_stands = admin.node(&ghost).await?.is_some();
                if ghost_stands {
                    assert_eq!(leaders, [0; 0], "leading beside the latch of a dead session");
                    let latches = admin.children(&paths.latches()).await?.len();
                    beside_the_ghost = beside_the_ghost.max(latches);
                }
                anyhow::ensure!(
                    !ghost_stands && leaders.len() == 1,
                    "{leaders:?} lead, ghost: {ghost_stands}"
                );
                Ok(leaders[0])
            },
        )
        .await;
        assert_eq!(
            beside_the_ghost, 4,
            "both ghosts and both new latches stood at once"
        );
        println!(
            "one leads {:?} after the server is back",
            now().saturating_since(back)
        );

        let session = processes[new].session.status().latest().session;
        assert_ne!(session, sessions[new]);
        let latch = admin.node(&processes[new].latch()).await.unwrap().unwrap();
        assert_eq!(Some(latch.stat.ephemeral_owner), session.map(|session| session.0));
        close_all(&processes).await;
    })
    .await;
}
