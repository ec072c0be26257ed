//! B04. Symptom: after a loss of connections one contender has no latch in its present session and still says that
//! it leads: it has taken the latch of its previous session, which was about to expire, for its own.
//!
//! Provoked: the reply of the latch's creation is lost, and replies stay away until the client has given its
//! session up and makes another. Its requests go on reaching the server, so that the server keeps the old session:
//! the latch that was made in it is still listed when the client, which knows its name, contends anew.
//!
//! Right: a latch that is found is adopted only if the present session owns it. (That answers of an earlier session
//! prolong no lease is held without a server.)
//!
//! Source: CURATOR-498 (curator#1018).

use std::time::Duration;

use ha_core::health::ConnectionState;
use integration_tests::proxy::{Direction, FaultProxy};
use integration_tests::{AdminClient, Ensemble, eventually, recovery_limit, scaled, unstalled_case};

use crate::zookeeper::{Process, creation_of_a_latch, eventually_led, new_cluster, options};

const LONG: Duration = Duration::from_secs(60);
const TICK: Duration = Duration::from_millis(500);

#[tokio::test(flavor = "multi_thread")]
async fn b04_the_latch_of_the_previous_session_is_not_adopted() {
    unstalled_case(async || {
        let timeout = scaled(Duration::from_secs(6));
        let ensemble = Ensemble::shared().await.unwrap();
        let servers = ensemble.connect_string();
        let admin = AdminClient::connect(&servers).await.unwrap();
        let proxy = FaultProxy::start(&servers).await.unwrap();
        let paths = new_cluster();
        let process = Process::connect("a", &paths, options(&proxy.address(), timeout)).await;
        let session = process.session.status().latest().session.unwrap();
        admin.create(&paths.latches(), b"").await.unwrap();
        let lost = proxy.swallow_reply(creation_of_a_latch(&paths), 1);
        process.contender.contend(&process.service).await;
        lost.happened().await.unwrap();
        proxy.hold(Direction::ToClient, true);
        let latches = admin.children(&paths.latches()).await.unwrap();
        assert_eq!(latches.len(), 1, "{latches:?}");
        let ghost = paths.latch(&latches[0]);
        let owner = admin.node(&ghost).await.unwrap().unwrap().stat.ephemeral_owner;
        assert_eq!(owner, session.0);
        eventually("its session is given up", LONG, async || {
            let status = process.session.status().latest();
            anyhow::ensure!(status.state == ConnectionState::Lost, "{status:?}");
            Ok(())
        })
        .await
        .unwrap();
        proxy.hold(Direction::ToClient, false);

        let mut stood_beside = false;
        let healed_in = recovery_limit(timeout + TICK * 2 + Duration::from_secs(1));
        eventually_led("it leads", &[&process], healed_in, async |leaders| {
            // Asked after who leads: once gone, it never comes back.
            if admin.node(&ghost).await?.is_some() {
                assert_eq!(
                    leaders, [0; 0],
                    "leading by, or beside, the latch of the previous session"
                );
                stood_beside |= admin.children(&paths.latches()).await?.len() == 2;
                anyhow::bail!("the latch of the previous session stands");
            }
            anyhow::ensure!(!leaders.is_empty());
            Ok(())
        })
        .await;
        assert!(stood_beside, "it contended anew while the old latch was listed");
        let present = process.session.status().latest().session.unwrap();
        assert_ne!(present, session);
        let latch = process.latch();
        let owner = admin.node(&latch).await.unwrap().unwrap().stat.ephemeral_owner;
        assert_eq!(owner, present.0);
        let latches = admin.children(&paths.latches()).await.unwrap();
        assert_eq!(latches, [latch.rsplit('/').next().unwrap()]);
        process.close().await;
    })
    .await;
}
