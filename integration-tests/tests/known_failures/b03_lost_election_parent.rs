//! B03. Symptom: the znodes above the latches disappear, and the service stays without a leader for ever: alive,
//! connected, and silent.
//!
//! Provoked: the only contender is cut off until its session has expired; before it reconnects, the parent of the
//! latches, the cluster's node or the whole root are deleted; or the server starts again with an empty data
//! directory. Then the same under contenders that live; and a parent that is deleted and made again in one
//! transaction, so that its numbers begin at 0 again, below that of the leader.
//!
//! Right: the parents and the latch are made again, and somebody leads, without a restart. A leader whose latch is
//! gone revokes before the next one is granted.
//!
//! Sources: CURATOR-724 (curator#515), apache/fluss#4382.

use std::time::Duration;

use ha_core::ids::{ClusterId, ComponentId};
use ha_testkit::fakes::{Behaviour, ContenderCall, Gate, Recorder, RecordingContender};
use ha_zookeeper::client::{ClientSource as _, MultiError};
use ha_zookeeper::paths::ClusterPaths;
use integration_tests::proxy::{Direction, FaultProxy};
use integration_tests::{AdminClient, Ensemble, EnsembleOptions, eventually, scaled, unique_name};
use zookeeper_client::Acls;

use crate::zookeeper::{
    AT_ONCE, Process, close_all, eventually_led, new_cluster, one_leads, options, wait_until_leads,
};

const LONG: Duration = Duration::from_secs(60);

/// Waits until the process is granted a term after `terms` earlier ones and has published it.
async fn leads_anew(process: &Process, terms: usize, admin: &AdminClient, within: Duration) {
    let info = process.paths.connection_info(&ComponentId::dispatcher());
    eventually("it leads and is published", within, async || {
        anyhow::ensure!(process.contender.sessions().len() > terms, "not granted");
        anyhow::ensure!(process.leads().await, "it does not lead");
        let text = admin.text(&info).await?.unwrap_or_default();
        anyhow::ensure!(text.contains("http://a:1"), "{text}");
        let latches = admin.children(&process.paths.latches()).await?;
        let fence = process.fence.current()?;
        let own = fence
            .as_ref()
            .and_then(|fence| fence.latch_path.rsplit('/').next());
        anyhow::ensure!(
            latches.len() == 1 && own == Some(latches[0].as_str()),
            "{latches:?}"
        );
        Ok(())
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn b03_parents_deleted_while_the_session_is_gone_are_made_again() {
    let timeout = scaled(Duration::from_secs(3));
    let ensemble = Ensemble::shared().await.unwrap();
    let admin = AdminClient::connect(&ensemble.connect_string()).await.unwrap();
    let proxy = FaultProxy::start(&ensemble.connect_string()).await.unwrap();
    // A root of its own: it is deleted.
    let id = ClusterId::new("cluster").unwrap();
    let paths = ClusterPaths::new("", &format!("/{}", unique_name("b03")), &id).unwrap();
    let process = Process::start("a", &paths, options(&proxy.address(), timeout)).await;
    let root = paths.roots().remove(0);
    for lost in [paths.latches(), paths.leader(), paths.cluster().to_owned(), root] {
        wait_until_leads(&process, LONG).await;
        let terms = process.contender.sessions().len();
        proxy.hold_both(true);
        eventually("its session has expired", LONG, async || {
            let latches = admin.children(&paths.latches()).await?;
            anyhow::ensure!(latches.is_empty(), "{latches:?}");
            Ok(())
        })
        .await
        .unwrap();
        admin.delete_tree(&lost).await.unwrap();
        assert!(admin.node(&lost).await.unwrap().is_none());
        proxy.cut();
        proxy.hold_both(false);
        leads_anew(&process, terms, &admin, LONG).await;
    }
    process.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b03_an_empty_data_directory_is_filled_again() {
    let timeout = scaled(Duration::from_secs(4));
    let mut ensemble = Ensemble::start(EnsembleOptions::standalone()).await.unwrap();
    let servers = ensemble.connect_string();
    let paths = new_cluster();
    let process = Process::start("a", &paths, options(&servers, timeout)).await;
    wait_until_leads(&process, AT_ONCE).await;
    let server = ensemble.server(0).unwrap();
    server.kill().unwrap();
    server.lose_data().unwrap();
    server.restart().await.unwrap();
    let admin = AdminClient::connect(&servers).await.unwrap();
    leads_anew(&process, 1, &admin, LONG).await;
    process.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b03_parents_deleted_under_live_contenders_are_made_again() {
    let ensemble = Ensemble::shared().await.unwrap();
    let servers = ensemble.connect_string();
    let admin = AdminClient::connect(&servers).await.unwrap();
    let paths = new_cluster();
    let timeout = Duration::from_secs(40);
    let mut processes = Vec::new();
    for name in ["a", "b", "c"] {
        processes.push(Process::start(name, &paths, options(&servers, timeout)).await);
    }
    one_leads(&processes, AT_ONCE).await;
    for lost in [paths.latches(), paths.leader(), paths.cluster().to_owned()] {
        let grants = |processes: &[Process]| -> Vec<_> {
            processes
                .iter()
                .map(|process| process.contender.sessions().len())
                .collect()
        };
        let before = grants(&processes);
        // Contenders may be faster than the deletion of the rest.
        eventually("the tree is gone", AT_ONCE, async || {
            admin.delete_tree(&lost).await
        })
        .await
        .unwrap();
        eventually("somebody was granted anew", AT_ONCE, async || {
            anyhow::ensure!(grants(&processes) != before);
            Ok(())
        })
        .await
        .unwrap();
        one_leads(&processes, AT_ONCE).await;
        eventually("everybody stands again", AT_ONCE, async || {
            let children = admin.children(&paths.latches()).await?;
            anyhow::ensure!(children.len() == 3, "{children:?}");
            Ok(())
        })
        .await
        .unwrap();
    }
    let info = paths.connection_info(&ComponentId::dispatcher());
    eventually("the leader is published", AT_ONCE, async || {
        anyhow::ensure!(admin.node(&info).await?.is_some());
        Ok(())
    })
    .await
    .unwrap();
    close_all(&processes).await;
}

/// The newcomer, whose way to the server is long, is lower than any latch there was; the old leader, whose latch is
/// gone, is revoked before the newcomer is granted.
#[tokio::test(flavor = "multi_thread")]
async fn b03_a_parent_that_begins_to_count_anew_never_makes_two_leaders() {
    let ensemble = Ensemble::shared().await.unwrap();
    let servers = ensemble.connect_string();
    let admin = AdminClient::connect(&servers).await.unwrap();
    let proxy = FaultProxy::start(&servers).await.unwrap();
    let paths = new_cluster();
    let timeout = Duration::from_secs(40);
    let (log, gate) = (Recorder::new(), Gate::new());
    // Numbers are used up, so that the old leader's is not the first.
    for _ in 0..3 {
        let early = Process::start("early", &paths, options(&servers, timeout)).await;
        early.close().await;
    }
    // The old leader stays away, once revoked, so that the newcomer is the first.
    let mut old = Process::connect("old", &paths, options(&servers, timeout)).await;
    let blocked = Behaviour::Block(gate.clone());
    old.contender = RecordingContender::with("old:1", &log, Behaviour::Confirm, blocked);
    old.contender.contend(&old.service).await;
    wait_until_leads(&old, AT_ONCE).await;
    let fence = old.fence.current().unwrap().unwrap();
    let mut new = Process::connect("new", &paths, options(&proxy.address(), timeout)).await;
    new.contender = RecordingContender::with("new:1", &log, Behaviour::Confirm, Behaviour::Record);
    new.contender.contend(&new.service).await;
    eventually("both stand", AT_ONCE, async || {
        anyhow::ensure!(admin.children(&paths.latches()).await?.len() == 2);
        Ok(())
    })
    .await
    .unwrap();
    for direction in [Direction::ToServer, Direction::ToClient] {
        proxy.delay(direction, Duration::from_millis(100));
    }

    let parent = paths.latches();
    let mut anew = admin.client().new_multi_writer();
    for name in admin.children(&parent).await.unwrap() {
        anew.add_delete(&paths.latch(&name), None).unwrap();
    }
    anew.add_delete(&parent, None).unwrap();
    let persistent = zookeeper_client::CreateMode::Persistent.with_acls(Acls::anyone_all());
    anew.add_create(&parent, b"", &persistent).unwrap();
    anew.commit().await.unwrap();

    eventually_led("the newcomer leads", &[&old, &new], LONG, async |leaders| {
        anyhow::ensure!(leaders == [1], "{leaders:?} lead");
        Ok(())
    })
    .await;
    assert!(new.latch().ends_with("-latch-0000000000"), "{}", new.latch());
    let events = log.events();
    let place = |contender: &str, wanted: fn(&ContenderCall) -> bool| {
        let found = events
            .iter()
            .position(|event| event.contender == contender && wanted(&event.call));
        found.unwrap()
    };
    let revoked = place("old:1", |call| {
        *call
            == ContenderCall::Revoked {
                has_leadership: false,
            }
    });
    let granted = place("new:1", |call| matches!(call, ContenderCall::Granted { .. }));
    assert!(revoked < granted, "{events:#?}");
    // The fence of the old term holds nothing, whatever stands there now.
    let late = old
        .session
        .client()
        .await
        .unwrap()
        .multi(vec![fence.check()])
        .await;
    assert!(
        matches!(late, Err(MultiError::Refused { index: 0, .. })),
        "{late:?}"
    );
    gate.open();
    eventually("the old one stands behind", AT_ONCE, async || {
        anyhow::ensure!(admin.children(&parent).await?.len() == 2);
        Ok(())
    })
    .await
    .unwrap();
    assert!(new.leads().await);
    old.close().await;
    new.close().await;
}
