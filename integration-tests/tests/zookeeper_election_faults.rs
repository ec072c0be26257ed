//! Elections of processes that are refused, in a hurry, or lied to; and what a forced move leaves behind.
#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod zookeeper;

use std::time::Duration;

use ha_core::ids::ComponentId;
use integration_tests::proxy::FaultProxy;
use integration_tests::{AdminClient, Ensemble, eventually, recovery_limit, scaled, unstalled_case};
use zookeeper::{AT_ONCE, Answers, Process, new_cluster, options};

const LONG: Duration = Duration::from_secs(60);

/// The term of the first one ends although its session lives, and then it may not lead any more.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_may_not_lead_now_does_not_keep_the_others_from_it() {
    unstalled_case(async || {
        for answer in [Answers::No, Answers::Never] {
            let ensemble = Ensemble::shared().await.unwrap();
            let proxy = FaultProxy::start(&ensemble.connect_string()).await.unwrap();
            let paths = new_cluster();
            let timeout = scaled(Duration::from_secs(8));
            let mut first = options(&proxy.address(), timeout);
            first.tolerate_suspended_connections = false;
            let first = Process::start("a", &paths, first).await;
            let term = first.contender.wait_for_grant().await;
            let second = options(&ensemble.connect_string(), timeout);
            let second = Process::start("b", &paths, second).await;
            let before = first.session.status().latest().session;
            first.answers.send_replace(answer);
            proxy.cut();
            eventually("the other one leads", recovery_limit(timeout), async || {
                anyhow::ensure!(second.leads().await);
                Ok(())
            })
            .await
            .unwrap();
            assert!(!first.service.has_leadership(term).await);
            assert_eq!(
                first.session.status().latest().session,
                before,
                "its session lives"
            );
            // It contends again as soon as it may.
            first.answers.send_replace(Answers::Yes);
            if answer == Answers::No {
                let admin = AdminClient::connect(&ensemble.connect_string()).await.unwrap();
                eventually("both stand", LONG, async || {
                    let children = admin.children(&paths.latches()).await?;
                    anyhow::ensure!(children.len() == 2, "{children:?}");
                    Ok(())
                })
                .await
                .unwrap();
            }
            first.close().await;
            second.close().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_drivers_of_a_process_never_stand_in_the_election_together() {
    unstalled_case(async || {
        let ensemble = Ensemble::shared().await.unwrap();
        let proxy = FaultProxy::start(&ensemble.connect_string()).await.unwrap();
        let paths = new_cluster();
        let timeout = scaled(Duration::from_secs(8));
        let process = Process::start("a", &paths, options(&proxy.address(), timeout)).await;
        let term = process.contender.wait_for_grant().await;
        // Nothing reaches the server for so long that leaving is given up for now.
        proxy.hold_both(true);
        let error = process.service.stop().await.unwrap_err();
        assert_eq!(error.kind(), ha_core::ErrorKind::Unavailable, "{error}");
        let service = process.election.election(ComponentId::dispatcher());
        let contender = ha_testkit::fakes::RecordingContender::confirming("http://a:2");
        let entering = contender.contend(&service);
        let (next, ()) = futures::join!(contender.wait_for_grant(), async {
            entering.await;
            proxy.hold_both(false);
        });
        assert_ne!(next, term);
        let admin = AdminClient::connect(&ensemble.connect_string()).await.unwrap();
        let children = admin.children(&paths.latches()).await.unwrap();
        assert_eq!(children, [process.latch().rsplit('/').next().unwrap()]);
        let created = admin.node(&process.latch()).await.unwrap().unwrap().stat.czxid;
        let parent = admin.node(&paths.latches()).await.unwrap().unwrap();
        assert_eq!(
            parent.stat.pzxid, created,
            "the old latch was gone before the new one was made"
        );
        process.close().await;
    })
    .await;
}

/// What no ZooKeeper does, but servers that only speak its protocol may.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_swaps_the_session_gets_no_flood_of_latches() {
    unstalled_case(async || {
        let ensemble = Ensemble::shared().await.unwrap();
        let proxy = FaultProxy::start(&ensemble.connect_string()).await.unwrap();
        let paths = new_cluster();
        let timeout = scaled(Duration::from_secs(8));
        let process = Process::start("a", &paths, options(&proxy.address(), timeout)).await;
        process.contender.wait_for_grant().await;
        let first = process.session.status().latest();
        proxy.swap_sessions(true);
        proxy.cut();
        // The old session ends by its timeout, and the next latch shows what happened.
        eventually("another session", LONG, async || {
            let now = process.session.status().latest();
            anyhow::ensure!(now.session.is_some() && now.session != first.session, "{now:?}");
            Ok(())
        })
        .await
        .unwrap();
        proxy.swap_sessions(false);
        process.contender.wait_for_grants(2).await;
        let admin = AdminClient::connect(&ensemble.connect_string()).await.unwrap();
        let children = admin.children(&paths.latches()).await.unwrap();
        assert_eq!(children, [process.latch().rsplit('/').next().unwrap()]);
        let made = admin.node(&paths.latches()).await.unwrap().unwrap().stat.cversion;
        assert!(made <= 6, "{made} latches came and went");
        process.close().await;
    })
    .await;
}

/// The requests of the new session are all answered, and do not keep the old one: the lease may not be prolonged by
/// them.
#[tokio::test(flavor = "multi_thread")]
async fn b52_a_leader_whose_session_was_swapped_at_a_reconnect_leads_no_more_before_its_latch_goes() {
    unstalled_case(async || {
        let ensemble = Ensemble::shared().await.unwrap();
        let proxy = FaultProxy::start(&ensemble.connect_string()).await.unwrap();
        let admin = AdminClient::connect(&ensemble.connect_string()).await.unwrap();
        let paths = new_cluster();
        let timeout = Duration::from_secs(12);
        let old = Process::start("old", &paths, options(&proxy.address(), timeout)).await;
        let term = old.contender.wait_for_grant().await;
        let latch = old.latch();
        let next = Process::start("next", &paths, options(&ensemble.connect_string(), timeout)).await;
        proxy.swap_sessions(true);
        proxy.cut();
        eventually("it leads no more", timeout, async || {
            anyhow::ensure!(!old.service.has_leadership(term).await);
            Ok(())
        })
        .await
        .unwrap();
        assert!(
            admin.node(&latch).await.unwrap().is_some(),
            "the old session lives"
        );
        assert!(!next.leads().await);
        proxy.swap_sessions(false);
        next.contender.wait_for_grant().await;
        assert_eq!(old.term().await, None);
        // Nothing was left by the session that took the place.
        let children = admin.children(&paths.leader()).await.unwrap();
        assert!(children.iter().all(|name| !name.starts_with('~')), "{children:?}");
        old.close().await;
        next.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn leader_information_of_a_component_that_the_leader_does_not_contend_for_is_reported() {
    unstalled_case(async || {
        let ensemble = Ensemble::shared().await.unwrap();
        let paths = new_cluster();
        let timeout = scaled(Duration::from_secs(8));
        let admin = AdminClient::connect(&ensemble.connect_string()).await.unwrap();
        let first = Process::start("a", &paths, options(&ensemble.connect_string(), timeout)).await;
        let reports = ComponentId::custom("reports").unwrap();
        let info = paths.connection_info(&reports);
        let service = first.election.election(reports);
        let contender = ha_testkit::fakes::RecordingContender::confirming("http://a:3");
        contender.contend(&service).await;
        contender.wait_for_grant().await;
        eventually("it published", AT_ONCE, async || {
            anyhow::ensure!(admin.node(&info).await?.is_some());
            Ok(())
        })
        .await
        .unwrap();
        let second = Process::start("b", &paths, options(&ensemble.connect_string(), timeout)).await;
        eventually("both stand", AT_ONCE, async || {
            anyhow::ensure!(admin.children(&paths.latches()).await?.len() == 2);
            Ok(())
        })
        .await
        .unwrap();
        admin.delete(&first.latch()).await.unwrap();
        second.contender.wait_for_grant().await;
        eventually("it is reported", LONG, async || {
            let conditions = second.health.snapshot().conditions;
            anyhow::ensure!(
                conditions.values().any(|reason| reason.contains(&info)),
                "{conditions:?}"
            );
            Ok(())
        })
        .await
        .unwrap();
        assert!(admin.node(&info).await.unwrap().is_some(), "it is left");
        second.close().await;
        first.close().await;
    })
    .await;
}
