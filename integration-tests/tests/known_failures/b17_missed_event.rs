//! B17. Symptom: the znodes say that a process leads, the process says that it follows, and nothing goes on: it
//! decided by events alone, and missed one.
//!
//! Provoked: the process next in line is cut off; meanwhile its predecessor goes, and another one comes and goes
//! again, of which there is no event at all. And the event is lost although the connection stays.
//!
//! Right: after every reconnect the latches are read again, and now and then without one.
//!
//! Sources: apache/pulsar#23125 and #23138, #10522, #10457, python-zk/kazoo#116.

use std::time::Duration;

use integration_tests::proxy::FaultProxy;
use integration_tests::{AdminClient, Ensemble, eventually, pause, scaled, unstalled_case};

use crate::zookeeper::{AT_ONCE, Process, new_cluster, options, wait_until_leads};

const TIMEOUT: Duration = Duration::from_secs(40);

#[tokio::test(flavor = "multi_thread")]
async fn b17_what_was_missed_while_cut_off_is_read_after_the_reconnect() {
    unstalled_case(async || {
        let ensemble = Ensemble::shared().await.unwrap();
        let servers = ensemble.connect_string();
        let admin = AdminClient::connect(&servers).await.unwrap();
        let proxy = FaultProxy::start(&servers).await.unwrap();
        let paths = new_cluster();
        let first = Process::start("first", &paths, options(&servers, TIMEOUT)).await;
        wait_until_leads(&first, AT_ONCE).await;
        let waiting = Process::start("waiting", &paths, options(&proxy.address(), TIMEOUT)).await;
        eventually("both stand", AT_ONCE, async || {
            anyhow::ensure!(admin.children(&paths.latches()).await?.len() == 2);
            Ok(())
        })
        .await
        .unwrap();

        proxy.hold_both(true);
        proxy.cut();
        first.close().await;
        let between = Process::start("between", &paths, options(&servers, TIMEOUT)).await;
        eventually("another one stands behind", AT_ONCE, async || {
            anyhow::ensure!(admin.children(&paths.latches()).await?.len() == 2);
            Ok(())
        })
        .await
        .unwrap();
        between.close().await;
        pause(Duration::from_secs(1)).await;
        assert!(waiting.contender.sessions().is_empty());
        // Servers tell what was missed where a watch can show it: not here, so that only reading again helps.
        proxy.swallow_events(true);
        proxy.hold_both(false);
        // Sooner than by the re-reading that needs no reconnect.
        wait_until_leads(&waiting, TIMEOUT / 2).await;
        waiting.close().await;
    })
    .await;
}

/// No network loses a notification and keeps the connection, but a server or a client that forgets one does.
#[tokio::test(flavor = "multi_thread")]
async fn b17_an_event_that_never_comes_is_made_good_within_a_period() {
    unstalled_case(async || {
        let timeout = scaled(Duration::from_secs(10));
        let ensemble = Ensemble::shared().await.unwrap();
        let servers = ensemble.connect_string();
        let admin = AdminClient::connect(&servers).await.unwrap();
        let proxy = FaultProxy::start(&servers).await.unwrap();
        let paths = new_cluster();
        let first = Process::start("first", &paths, options(&servers, timeout)).await;
        wait_until_leads(&first, AT_ONCE).await;
        let waiting = Process::start("waiting", &paths, options(&proxy.address(), timeout)).await;
        eventually("both stand", AT_ONCE, async || {
            anyhow::ensure!(admin.children(&paths.latches()).await?.len() == 2);
            Ok(())
        })
        .await
        .unwrap();
        let connects = waiting.session.status().latest().connects;
        proxy.swallow_events(true);
        first.close().await;
        wait_until_leads(&waiting, timeout * 2).await;
        assert_eq!(
            waiting.session.status().latest().connects,
            connects,
            "no reconnect helped"
        );
        proxy.swallow_events(false);
        waiting.close().await;
    })
    .await;
}
