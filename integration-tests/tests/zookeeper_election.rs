//! Election and retrieval against real servers (design §3 to §5).
#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod zookeeper;

use std::time::Duration;

use ha_core::ids::ComponentId;
use integration_tests::{AdminClient, Ensemble, eventually};
use zookeeper::{AT_ONCE, Process, close_all, new_cluster, one_leads, options};

async fn three(servers: &str, timeout: Duration) -> (Vec<Process>, AdminClient) {
    let paths = new_cluster();
    let admin = AdminClient::connect(servers).await.unwrap();
    let mut processes = Vec::new();
    for name in ["a", "b", "c"] {
        processes.push(Process::start(name, &paths, options(servers, timeout)).await);
        // They stand in the order in which they were started.
        eventually("it stands in the election", AT_ONCE, async || {
            anyhow::ensure!(admin.children(&paths.latches()).await?.len() == processes.len());
            Ok(())
        })
        .await
        .unwrap();
    }
    (processes, admin)
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
