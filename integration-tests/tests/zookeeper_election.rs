//! Election and retrieval against real servers (design §3 to §5).
#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod zookeeper;

use std::time::Duration;

use ha_core::ids::ComponentId;
use integration_tests::waiting::now;
use integration_tests::{AdminClient, Ensemble, EnsembleOptions, eventually, pause, scaled};
use zookeeper::{AT_ONCE, Process, close_all, new_cluster, one_leads, options};

const LONG: Duration = Duration::from_secs(60);
async fn three(servers: &str, timeout: Duration) -> (Vec<Process>, AdminClient) {
    let paths = new_cluster();
    let mut processes = Vec::new();
    for name in ["a", "b", "c"] {
        processes.push(Process::start(name, &paths, options(servers, timeout)).await);
    }
    (processes, AdminClient::connect(servers).await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_three_leads_and_publishes_and_a_stop_hands_over_at_once() {
    let ensemble = Ensemble::shared().await.unwrap();
    let (mut processes, admin) = three(&ensemble.connect_string(), Duration::from_secs(40)).await;
    let paths = processes[0].paths.clone();
    let info = paths.connection_info(&ComponentId::dispatcher());
    while processes.len() > 1 {
        let leader = one_leads(&processes, AT_ONCE).await;
        let leading = processes.remove(leader);
        let address = ha_core::election::LeaderContender::address(leading.contender.as_ref());
        eventually("it published", AT_ONCE, async || {
            let text = admin.text(&info).await?.unwrap_or_default();
            anyhow::ensure!(text.contains(&address), "{text}");
            Ok(())
        })
        .await
        .unwrap();
        leading.election.close().await.unwrap();
        let children = admin.children(&paths.latches()).await.unwrap();
        assert_eq!(children.len(), processes.len(), "{children:?}");
        one_leads(&processes, AT_ONCE).await;
        leading.session.close().await;
    }
    close_all(&processes).await;
    assert_eq!(admin.children(&paths.latches()).await.unwrap(), [""; 0]);
    assert_eq!(admin.text(&info).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operators_set_on_a_latch_is_a_request_to_step_down() {
    let ensemble = Ensemble::shared().await.unwrap();
    let (processes, admin) = three(&ensemble.connect_string(), Duration::from_secs(40)).await;
    let old = one_leads(&processes, AT_ONCE).await;
    // The standbys between are asked first: the next one lets the third pass.
    let listed = admin.children(&processes[old].paths.latches()).await.unwrap();
    let mut latches: Vec<_> = listed
        .iter()
        .map(|name| {
            name.rsplit_once("-latch-")
                .map(|(_, number)| (number, name))
                .unwrap()
        })
        .collect();
    latches.sort();
    let second = processes[old].paths.latch(latches[1].1);
    admin.set(&second, b"step down").await.unwrap();
    eventually("the standby stands behind", AT_ONCE, async || {
        anyhow::ensure!(admin.node(&second).await?.is_none());
        anyhow::ensure!(admin.children(&processes[old].paths.latches()).await?.len() == 3);
        Ok(())
    })
    .await
    .unwrap();
    assert!(processes[old].leads().await);
    assert_eq!(processes[old].contender.sessions().len(), 1);

    admin.set(&processes[old].latch(), b"step down").await.unwrap();
    eventually("the third leads", AT_ONCE, async || {
        anyhow::ensure!(processes[2].leads().await);
        anyhow::ensure!(!processes[old].leads().await);
        Ok(())
    })
    .await
    .unwrap();
    close_all(&processes).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn leader_information_that_somebody_spoils_is_written_again() {
    let ensemble = Ensemble::shared().await.unwrap();
    let paths = new_cluster();
    let admin = AdminClient::connect(&ensemble.connect_string()).await.unwrap();
    let info = paths.connection_info(&ComponentId::dispatcher());
    // A squatter: somebody's persistent node where the information belongs.
    admin.create(&info, b"squatter").await.unwrap();
    let timeout = Duration::from_secs(40);
    let process = Process::start("a", &paths, options(&ensemble.connect_string(), timeout)).await;
    let published = async || {
        let node = admin.node(&info).await?;
        let text = node.map(|node| {
            (
                String::from_utf8_lossy(&node.data).into_owned(),
                node.stat.ephemeral_owner,
            )
        });
        let (text, owner) = text.ok_or_else(|| anyhow::anyhow!("nothing there"))?;
        anyhow::ensure!(text.contains("http://a:1") && owner != 0, "{text} of {owner:#x}");
        Ok(())
    };
    eventually("published", AT_ONCE, published).await.unwrap();
    admin.set(&info, b"garbage").await.unwrap();
    eventually("written again", AT_ONCE * 2, published).await.unwrap();
    admin.delete(&info).await.unwrap();
    eventually("made again", AT_ONCE * 2, published).await.unwrap();
    assert_eq!(process.contender.sessions().len(), 1);
    process.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_children_of_the_latches_are_reported_and_nobody_leads_beside_them() {
    let ensemble = Ensemble::shared().await.unwrap();
    let paths = new_cluster();
    let admin = AdminClient::connect(&ensemble.connect_string()).await.unwrap();
    let foreign = paths.latch("_c_6d3f1d5e-0000-0000-0000-000000000000-latch-0000000000");
    admin.create(&foreign, b"curator").await.unwrap();
    let timeout = Duration::from_secs(40);
    let process = Process::start("a", &paths, options(&ensemble.connect_string(), timeout)).await;
    process
        .contender
        .wait_for_call("an error", |call| {
            matches!(call, ha_testkit::fakes::ContenderCall::Error(_))
        })
        .await;
    assert!(process.contender.sessions().is_empty());
    assert!(admin.node(&foreign).await.unwrap().is_some());
    admin.delete(&foreign).await.unwrap();
    eventually("it leads", AT_ONCE, async || {
        anyhow::ensure!(process.leads().await);
        Ok(())
    })
    .await
    .unwrap();
    process.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_freeze_is_invisible_and_a_long_one_ends_the_lease_before_anybody_else_leads() {
    let mut ensemble = Ensemble::start(EnsembleOptions::standalone()).await.unwrap();
    let timeout = Duration::from_secs(6);
    let (processes, _admin) = three(&ensemble.connect_string(), timeout).await;
    let old = one_leads(&processes, AT_ONCE).await;
    let term = processes[old].term().await.unwrap();
    // The lease is as long as it gets once the first proofs count.
    pause(timeout / 2).await;

    ensemble.server(0).unwrap().stop().unwrap();
    pause(timeout / 3).await;
    ensemble.server(0).unwrap().cont().unwrap();
    pause(timeout / 2).await;
    assert_eq!(processes[old].term().await, Some(term));

    let frozen = now();
    ensemble.server(0).unwrap().stop().unwrap();
    // Standbys have nothing to ask meanwhile; the leader gives up by its clock alone.
    eventually("the lease ran out", timeout, async || {
        anyhow::ensure!(!processes[old].service.has_leadership(term).await);
        Ok(())
    })
    .await
    .unwrap();
    let ended = now().saturating_since(frozen);
    assert!(ended < timeout, "the lease lasted {ended:?}");
    for process in &processes {
        assert!(!process.leads().await);
    }
    pause((timeout * 2).saturating_sub(now().saturating_since(frozen))).await;
    ensemble.server(0).unwrap().cont().unwrap();
    let new = one_leads(&processes, timeout * 2).await;
    assert_ne!(processes[new].term().await, Some(term));
    close_all(&processes).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_tolerance_a_suspension_revokes_and_healing_grants_anew() {
    let mut ensemble = Ensemble::start(EnsembleOptions::standalone()).await.unwrap();
    let paths = new_cluster();
    let timeout = Duration::from_secs(10);
    let mut options = options(&ensemble.connect_string(), timeout);
    options.tolerate_suspended_connections = false;
    let process = Process::start("a", &paths, options).await;
    let first = process.contender.wait_for_grant().await;
    ensemble.server(0).unwrap().stop().unwrap();
    eventually("revoked", timeout, async || {
        anyhow::ensure!(!process.service.has_leadership(first).await);
        Ok(())
    })
    .await
    .unwrap();
    ensemble.server(0).unwrap().cont().unwrap();
    let second = process.contender.wait_for_grants(2).await;
    assert_ne!(first, second);
    pause(timeout / 2).await;
    assert_eq!(process.contender.sessions().len(), 2);
    process.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_restarts_inside_the_lease_is_invisible() {
    let mut ensemble = Ensemble::start(EnsembleOptions::standalone()).await.unwrap();
    let timeout = scaled(Duration::from_secs(20));
    let (processes, admin) = three(&ensemble.connect_string(), timeout).await;
    let old = one_leads(&processes, AT_ONCE).await;
    let term = processes[old].term().await;
    ensemble.server(0).unwrap().kill().unwrap();
    ensemble.server(0).unwrap().restart().await.unwrap();
    eventually("all are connected again", LONG, async || {
        for process in &processes {
            let status = *process.session.status().borrow();
            anyhow::ensure!(status.is_connected() && status.connects > 1, "{status:?}");
        }
        Ok(())
    })
    .await
    .unwrap();
    assert_eq!(processes[old].term().await, term);
    // Watches live on: a stop is seen by the next one.
    processes[old].election.close().await.unwrap();
    eventually("the next one leads", AT_ONCE, async || {
        for (index, process) in processes.iter().enumerate() {
            if index != old && process.leads().await {
                return Ok(());
            }
        }
        anyhow::bail!(
            "nobody leads: {:?}",
            admin.children(&processes[old].paths.latches()).await?
        )
    })
    .await
    .unwrap();
    close_all(&processes).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_at_any_moment_leaves_no_latch() {
    let ensemble = Ensemble::shared().await.unwrap();
    let paths = new_cluster();
    let admin = AdminClient::connect(&ensemble.connect_string()).await.unwrap();
    let timeout = Duration::from_secs(40);
    let process = Process::connect("a", &paths, options(&ensemble.connect_string(), timeout)).await;
    let rounds: u64 = if integration_tests::full_form() { 1000 } else { 60 };
    for round in 0..rounds {
        let contender = ha_testkit::fakes::RecordingContender::confirming("http://a:1");
        let service = process.election.election(ComponentId::dispatcher());
        contender.contend(&service).await;
        pause(Duration::from_micros(round * 331 % 20_000)).await;
        service.stop().await.unwrap();
        let children = admin.children(&paths.latches()).await.unwrap();
        assert!(children.is_empty(), "round {round}: {children:?}");
    }
    process.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_cluster_changes_no_znode_and_makes_eight_transactions_a_timeout() {
    let ensemble = Ensemble::start(EnsembleOptions::standalone()).await.unwrap();
    let timeout = Duration::from_secs(4);
    let (processes, admin) = three(&ensemble.connect_string(), timeout).await;
    let leader = one_leads(&processes, AT_ONCE).await;
    let root = processes[0].paths.roots().remove(0);
    eventually("all stand and the leader is published", AT_ONCE, async || {
        let info = processes[leader]
            .paths
            .connection_info(&ComponentId::dispatcher());
        anyhow::ensure!(admin.children(&processes[0].paths.latches()).await?.len() == 3);
        anyhow::ensure!(admin.node(&info).await?.is_some());
        Ok(())
    })
    .await
    .unwrap();
    let zxid = async || {
        // A failed write of the test's own is a transaction as well; reading the zxid costs none.
        let reply =
            integration_tests::ensemble::four_letter_word(ensemble.connect_string().parse().unwrap(), "srvr")
                .unwrap();
        let line = reply
            .lines()
            .find_map(|line| line.strip_prefix("Zxid: 0x"))
            .unwrap()
            .to_owned();
        u64::from_str_radix(line.trim(), 16).unwrap()
    };
    let before = admin.walk(&root).await.unwrap();
    let (first, started) = (zxid().await, now());
    pause(timeout * 3).await;
    let (last, elapsed) = (zxid().await, now().saturating_since(started));
    let after = admin.walk(&root).await.unwrap();
    AdminClient::expect_unchanged(&before, &after).unwrap();
    let proofs = elapsed.as_secs_f64() / timeout.as_secs_f64() * 8.0;
    let made = (last - first) as f64;
    assert!(
        made <= proofs + 2.0 && made >= proofs / 2.0,
        "{made} transactions, {proofs} proofs"
    );
    close_all(&processes).await;
}
