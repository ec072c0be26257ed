use ha_core::ids::LeaderSessionId;
use ha_zookeeper::client::ZooKeeperClient as _;

use super::world::{TERM, World, expect, ids, latch_data};
use crate::doctor::finding::Severity;

#[tokio::test]
async fn no_leader() {
    let world = World::healthy().await;
    world.leader.close();
    let verdict = world.verdict().await;
    expect(&verdict, "no-leader", Some(&world.paths.latches()), None);
    world.standby.close();
    let verdict = world.verdict().await;
    expect(&verdict, "no-leader", Some(&world.paths.latches()), None);
    assert!(verdict.findings[0].found.contains("nobody stands"));
}

#[tokio::test]
async fn component_without_leader() {
    let world = World::healthy().await;
    world.delete(&world.information()).await;
    let verdict = world.verdict().await;
    expect(
        &verdict,
        "component-without-leader",
        Some(&world.information()),
        None,
    );
    assert_eq!(verdict.findings[0].severity, Severity::Info);
}

#[tokio::test]
async fn foreign_latch() {
    let world = World::healthy().await;
    let path = world.paths.latch("README");
    world.create(&path, "").await;
    expect(&world.verdict().await, "foreign-latch", Some(&path), None);
}

#[tokio::test]
async fn unreadable_latch() {
    let world = World::healthy().await;
    world.write(&world.standby_latch, "{").await;
    expect(
        &world.verdict().await,
        "unreadable-latch",
        Some(&world.standby_latch),
        None,
    );
}

#[tokio::test]
async fn several_latches_of_a_session() {
    let world = World::healthy().await;
    let path = world.latch(&world.standby, None).await;
    expect(
        &world.verdict().await,
        "several-latches-of-a-session",
        Some(&path),
        None,
    );
}

#[tokio::test]
async fn claimed_latch_not_first() {
    let world = World::healthy().await;
    let other = LeaderSessionId::from_bits(0, 8);
    world.write(&world.standby_latch, latch_data(Some(other))).await;
    expect(
        &world.verdict().await,
        "claimed-latch-not-first",
        Some(&world.standby_latch),
        None,
    );
}

#[tokio::test]
async fn unreadable_leader_information() {
    let world = World::healthy().await;
    world.write(&world.information(), "{").await;
    expect(
        &world.verdict().await,
        "unreadable-leader-information",
        Some(&world.information()),
        None,
    );
}

#[tokio::test]
async fn leader_information_of_another() {
    let world = World::healthy().await;
    let id = "leader-information-of-another";
    // Another session owns it.
    world.delete(&world.information()).await;
    world.publish(&world.standby, TERM).await;
    let verdict = world.verdict().await;
    expect(&verdict, id, Some(&world.information()), None);
    assert!(verdict.findings[0].found.contains("0x20"), "{verdict:?}");
    // It is of another term.
    world.delete(&world.information()).await;
    world
        .publish(&world.leader, LeaderSessionId::from_bits(0, 8))
        .await;
    expect(&world.verdict().await, id, Some(&world.information()), None);
}

#[tokio::test]
async fn a_change_of_leader_while_it_is_read_is_no_finding() {
    let world = World::healthy().await;
    world.delete(&world.information()).await;
    world
        .publish(&world.leader, LeaderSessionId::from_bits(0, 8))
        .await;
    let heal = async {
        // Once it was read.
        while !world.server.take_requests().contains(&"get".to_owned()) {
            tokio::task::yield_now().await;
        }
        world.delete(&world.information()).await;
        world.publish(&world.leader, TERM).await;
    };
    let (verdict, ()) = futures::join!(world.verdict(), heal);
    assert!(verdict.findings.is_empty(), "{verdict:?}");
}

#[tokio::test]
async fn identity() {
    let world = World::healthy().await;
    let (node, file) = (world.paths.identity(), world.file("identity.json"));
    let place = Some(world.storage.display("identity.json"));
    let kept = world.leader.get(&node).await.unwrap().0;
    world.write(&node, "{").await;
    expect(&world.verdict().await, "unreadable-identity", Some(&node), None);
    world.delete(&node).await;
    let cluster = world.paths.cluster();
    expect(
        &world.verdict().await,
        "tree-without-identity",
        Some(cluster),
        None,
    );
    world.write_identity(true).await;
    expect(&world.verdict().await, "tree-lost", Some(&node), None);
    world.write(&node, kept).await;
    assert!(ids(&world.verdict().await).is_empty());

    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, "{").unwrap();
    expect(&world.verdict().await, "unreadable-identity", None, place.clone());
    let uuid = "00000000-0000-0000-0000-000000000001";
    let mut other: serde_json::Value = serde_json::from_str(&text).unwrap();
    other["clusterUuid"] = uuid.into();
    std::fs::write(&file, other.to_string()).unwrap();
    expect(
        &world.verdict().await,
        "identity-mismatch",
        Some(&node),
        place.clone(),
    );
    let mut other: serde_json::Value = serde_json::from_str(&text).unwrap();
    other["tree"] = "/flink/other".into();
    std::fs::write(&file, other.to_string()).unwrap();
    expect(
        &world.verdict().await,
        "storage-of-another-tree",
        Some(cluster),
        place.clone(),
    );
    let mut other: serde_json::Value = serde_json::from_str(&text).unwrap();
    other["importing"] = "digest".into();
    std::fs::write(&file, other.to_string()).unwrap();
    expect(&world.verdict().await, "unfinished-import", None, place.clone());
    std::fs::remove_file(&file).unwrap();
    expect(
        &world.verdict().await,
        "storage-without-identity",
        Some(&node),
        place,
    );
}
