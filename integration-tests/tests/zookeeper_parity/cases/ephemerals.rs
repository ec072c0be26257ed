//! Ephemeral and sequential nodes.

use ha_zookeeper::client::{CreateMode, ZkCode};

use crate::backend::Place;

pub(crate) async fn an_ephemeral_has_its_owner(place: Place) {
    let session = place.connect().await;
    let other = place.connect().await;
    for mode in [CreateMode::Ephemeral, CreateMode::EphemeralSequential] {
        let path = session.create_as(&place.path("a-"), mode).await;
        let stat = other.client.exists(&path).await.unwrap().unwrap();
        assert_eq!(stat.ephemeral_owner, session.id());
        assert_ne!(stat.ephemeral_owner, other.id());
        // Setting it does not change hands.
        other.set(&path, "x").await;
        let stat = other.client.exists(&path).await.unwrap().unwrap();
        assert_eq!(stat.ephemeral_owner, session.id());
    }
}

pub(crate) async fn an_ephemeral_has_no_children(place: Place) {
    let session = place.connect().await;
    let path = session.create_as(&place.path("a"), CreateMode::Ephemeral).await;
    for mode in [
        CreateMode::Persistent,
        CreateMode::Ephemeral,
        CreateMode::EphemeralSequential,
    ] {
        let created = session
            .client
            .create(&format!("{path}/child"), "".into(), mode)
            .await;
        assert_eq!(created.unwrap_err().code, ZkCode::NoChildrenForEphemerals);
    }
}

pub(crate) async fn sequence_numbers_count_the_creations_below_the_parent(place: Place) {
    let session = place.connect().await;
    let next = async || {
        let path = session
            .create_as(&place.path("n-"), CreateMode::EphemeralSequential)
            .await;
        path.strip_prefix(&place.path("n-")).unwrap().to_owned()
    };
    assert_eq!(next().await, "0000000000");
    assert_eq!(next().await, "0000000001");
    session.create(&place.path("any")).await;
    assert_eq!(next().await, "0000000003");
    // What is refused, set or deleted does not count; what is below a child neither.
    let refused = session
        .client
        .create(&place.path("any"), "".into(), CreateMode::Persistent)
        .await;
    assert!(refused.is_err());
    session.set(&place.path("any"), "x").await;
    session.create(&place.path("any/below")).await;
    session.delete(&place.path("n-0000000000")).await;
    session.delete(&place.path("any/below")).await;
    session.delete(&place.path("any")).await;
    assert_eq!(next().await, "0000000004");
}

pub(crate) async fn sequence_numbers_start_again_with_the_parent(place: Place) {
    let session = place.connect().await;
    let parent = place.path("parent");
    let mut paths = Vec::new();
    let mut zxids = Vec::new();
    for _ in 0..2 {
        session.create(&parent).await;
        let path = session
            .create_as(&format!("{parent}/n-"), CreateMode::EphemeralSequential)
            .await;
        let stat = session.client.exists(&path).await.unwrap().unwrap();
        assert_eq!(stat.version, 0);
        zxids.push(stat.czxid);
        session.delete(&path).await;
        session.delete(&parent).await;
        paths.push(path);
    }
    assert_eq!(paths[0], paths[1]);
    assert!(zxids[0] < zxids[1]);
}

pub(crate) async fn a_prefix_may_be_empty(place: Place) {
    let session = place.connect().await;
    let path = session
        .create_as(&place.path(""), CreateMode::EphemeralSequential)
        .await;
    assert_eq!(path, place.path("0000000000"));
    assert!(session.client.exists(&path).await.unwrap().is_some());
}
