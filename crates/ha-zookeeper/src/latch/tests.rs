use bytes::Bytes;
use ha_core::environment::RandomIdSource;
use ha_core::ids::{ClusterId, ComponentId, LeaderSessionId};

use super::*;
use crate::client::memory::{Lost, MemoryClient, MemoryServer};
use crate::client::{CreateMode, Operation, ZooKeeperClient as _};
use crate::codec::LatchData;
use crate::paths::ClusterPaths;

fn paths() -> ClusterPaths {
    ClusterPaths::new("", "/", &ClusterId::new("c").unwrap()).unwrap()
}

fn latch() -> LeaderLatch {
    let data = LatchData {
        process: "p".to_owned(),
        host: "h".to_owned(),
        pid: 1,
        tool: None,
        leader_session_id: None,
    };
    LeaderLatch::new(paths(), data, std::sync::Arc::new(RandomIdSource))
}

fn server() -> MemoryServer {
    MemoryServer::with(&["/c", "/c/leader", "/c/leader/latch", "/c/leader/dispatcher"])
}

fn term(number: u64) -> LeaderSessionId {
    LeaderSessionId::from_bits(0, number)
}

fn info() -> String {
    paths().connection_info(&ComponentId::dispatcher())
}

fn ephemeral(path: &str) -> Operation {
    Operation::Create {
        path: path.to_owned(),
        data: Bytes::new(),
        mode: CreateMode::Ephemeral,
    }
}

fn delete(path: &str) -> Operation {
    Operation::Delete {
        path: path.to_owned(),
        version: None,
    }
}

async fn latches(client: &MemoryClient) -> Vec<String> {
    client.list(&paths().latches()).await.unwrap().0
}

#[tokio::test]
async fn a_lost_create_reply_leaves_exactly_one_latch() {
    for lost in [Lost::Applied, Lost::NotApplied] {
        let server = server();
        let client = server.client(1);
        server.lose_next_reply(lost);
        let node = latch().enter(&client).await.unwrap();
        assert_eq!(latches(&client).await, [node.name], "{lost:?}");
    }
}

#[tokio::test]
async fn a_latch_of_an_earlier_session_is_not_mine() {
    let server = server();
    let mut latch = latch();
    let ghost = latch.enter(&server.client(1)).await.unwrap();
    let node = latch.enter(&server.client(2)).await.unwrap();
    assert_ne!(node.name, ghost.name);
    assert_eq!(
        decide(&latches(&server.client(2)).await, &node.name),
        LatchDecision::Behind(ghost.name)
    );
}

#[tokio::test]
async fn entering_again_keeps_the_latch_unless_somebody_set_it() {
    let server = server();
    let client = server.client(1);
    let mut latch = latch();
    let node = latch.enter(&client).await.unwrap();
    assert_eq!(latch.enter(&client).await.unwrap(), node);
    server
        .client(9)
        .set(&node.path, Bytes::new(), None)
        .await
        .unwrap();
    let anew = latch.enter(&client).await.unwrap();
    assert_ne!(anew.name, node.name);
    assert_eq!(latches(&client).await, [anew.name]);
}

#[tokio::test]
async fn lost_parents_are_made_again() {
    let server = MemoryServer::with(&["/c"]);
    let client = server.client(1);
    latch().enter(&client).await.unwrap();
    assert_eq!(latches(&client).await.len(), 1);
    let error = latch()
        .enter(&MemoryServer::default().client(1))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ha_core::ErrorKind::NotFound);
}

#[tokio::test]
async fn a_claim_whose_reply_was_lost_is_read_back() {
    for lost in [Lost::Applied, Lost::NotApplied] {
        let server = server();
        let client = server.client(1);
        let mut latch = latch();
        let node = latch.enter(&client).await.unwrap();
        server.lose_next_reply(lost);
        let claim = latch.claim(&client, &node, term(7)).await.unwrap().unwrap();
        let (data, stat) = client.get(&node.path).await.unwrap();
        assert_eq!(
            (claim.version, claim.epoch.get()),
            (stat.version, stat.mzxid as u64)
        );
        assert_eq!(stat.version, 1, "claimed once: {lost:?}");
        let written = LatchData::decode(&node.path, &data).unwrap();
        assert_eq!(written.leader_session_id, Some(term(7)));
        // The claim is an own write.
        let found = latch.enter(&client).await.unwrap();
        assert_eq!((found.name, found.version), (node.name, 1));
    }
}

#[tokio::test]
async fn a_claim_on_a_latch_that_somebody_changed_is_lost() {
    let server = server();
    let client = server.client(1);
    let mut latch = latch();
    let node = latch.enter(&client).await.unwrap();
    server
        .client(9)
        .set(&node.path, Bytes::new(), None)
        .await
        .unwrap();
    assert_eq!(latch.claim(&client, &node, term(1)).await.unwrap(), None);
    server.client(9).delete(&node.path, None).await.unwrap();
    assert_eq!(latch.claim(&client, &node, term(1)).await.unwrap(), None);
}

#[tokio::test]
async fn epochs_grow_over_all_latches_even_on_the_same_path() {
    let server = server();
    let mut epochs = Vec::new();
    for session in 1..5 {
        let client = server.client(session);
        let mut latch = latch();
        let node = latch.enter(&client).await.unwrap();
        for number in 0..2 {
            let node = LatchNode {
                version: number,
                ..node.clone()
            };
            let claim = latch.claim(&client, &node, term(1)).await.unwrap().unwrap();
            epochs.push(claim.epoch);
        }
        server.expire(session);
    }
    assert!(epochs.windows(2).all(|pair| pair[0] < pair[1]), "{epochs:?}");
}

/// A latch that was granted a term, with leader information of its session.
async fn granted(server: &MemoryServer) -> (MemoryClient, LeaderLatch, LatchNode) {
    let client = server.client(1);
    let mut latch = latch();
    let node = latch.enter(&client).await.unwrap();
    latch.claim(&client, &node, term(1)).await.unwrap().unwrap();
    latch.note_granted();
    client.apply(&[ephemeral(&info())]).unwrap();
    (client, latch, node)
}

#[tokio::test]
async fn a_leader_leaves_with_what_it_published_in_one_multi() {
    let server = server();
    let (client, mut latch, _) = granted(&server).await;
    server.take_requests();
    latch.leave(&client, &[info()]).await.unwrap();
    // The next leader waits for two round trips: the first two are sent together.
    assert_eq!(server.take_requests(), ["sync", "multi_get", "multi"]);
    assert_eq!(
        server.paths(),
        ["/c", "/c/leader", "/c/leader/dispatcher", "/c/leader/latch"]
    );
    // Again, and there is nothing to do.
    latch.leave(&client, &[info()]).await.unwrap();
}

#[tokio::test]
async fn what_is_gone_or_foreign_is_left_out() {
    let server = server();
    let (client, mut latch, _) = granted(&server).await;
    // Between reading and the multi somebody deletes it, then puts his own there.
    server.before_next_multi(vec![delete(&info())]);
    latch.leave(&client, &[info()]).await.unwrap();
    assert_eq!(latches(&client).await.len(), 0);

    let (client, mut latch, _) = granted(&server).await;
    server
        .client(9)
        .apply(&[delete(&info()), ephemeral(&info())])
        .unwrap();
    latch.leave(&client, &[info()]).await.unwrap();
    assert!(server.paths().contains(&info()));
}

#[tokio::test]
async fn a_latch_that_is_gone_takes_nothing_with_it() {
    let server = server();
    let (client, mut latch, node) = granted(&server).await;
    server.before_next_multi(vec![delete(&node.path)]);
    latch.leave(&client, &[info()]).await.unwrap();
    assert!(server.paths().contains(&info()));
}

#[tokio::test]
async fn a_latch_that_led_no_more_takes_no_information_with_it() {
    let server = server();
    let (client, mut latch, node) = granted(&server).await;
    server.client(9).delete(&node.path, None).await.unwrap();
    // It stands behind somebody now; what is at the path may become his at the same version.
    latch.enter(&client).await.unwrap();
    latch.leave(&client, &[info()]).await.unwrap();
    assert!(server.paths().contains(&info()));
    assert_eq!(latches(&client).await.len(), 0);
}

#[tokio::test]
async fn leaving_survives_lost_replies_and_an_operators_set() {
    for lost in [Lost::Applied, Lost::NotApplied] {
        let server = server();
        let (client, mut latch, node) = granted(&server).await;
        server
            .client(9)
            .set(&node.path, Bytes::new(), None)
            .await
            .unwrap();
        server.lose_next_reply(lost);
        latch.leave(&client, &[info()]).await.unwrap();
        assert_eq!(latches(&client).await.len(), 0, "{lost:?}");
        assert!(!server.paths().contains(&info()));
    }
}

#[tokio::test]
async fn the_latch_of_another_driver_on_the_same_session_is_left() {
    let server = server();
    let client = server.client(1);
    let (mut old, mut new) = (latch(), latch());
    let first = old.enter(&client).await.unwrap();
    // It goes, and only its reply is lost: the next driver's latch stands there when the old one looks again.
    server.client(9).delete(&first.path, None).await.unwrap();
    let second = new.enter(&client).await.unwrap();
    old.leave(&client, &[]).await.unwrap();
    assert_eq!(latches(&client).await, [second.name.as_str()]);
    let third = old.enter(&client).await.unwrap();
    old.enter(&client).await.unwrap();
    let mut standing = latches(&client).await;
    standing.sort_by_key(|name| ClusterPaths::parse_latch_name(name).map(|(_, sequence)| sequence));
    assert_eq!(standing, [second.name, third.name]);
}

#[tokio::test]
async fn a_latch_that_another_session_owns_shows_that_the_session_was_swapped() {
    let server = server();
    let client = server.swapped_client(1, 2);
    let node = latch().enter(&client).await.unwrap();
    let clock = std::sync::Arc::new(ha_core::environment::SystemClock);
    let mut own = OwnNode::new(std::sync::Arc::new(client), clock, node);
    assert_eq!(own.read().await.unwrap(), Some(OwnNodeChange::OfAnotherSession));
}
