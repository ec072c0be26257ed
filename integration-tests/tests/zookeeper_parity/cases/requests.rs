//! Order, sizes and losses of requests.

use bytes::Bytes;
use ha_zookeeper::client::memory::Lost;
use ha_zookeeper::client::{CreateMode, MultiError, Operation, ZkCode};

use crate::backend::{Place, Session, check, create};

pub(crate) async fn requests_are_handled_in_the_order_of_their_first_polls(place: Place) {
    let session = place.connect().await;
    let client = &session.client;
    let path = place.path("a");
    session.create(&path).await;
    let pairs = (0..50).map(|_| async {
        tokio::join!(
            client.set(&path, "x".into(), None),
            client.get(&path),
            client.multi(vec![check(&path, 0)]),
            client.list(&path),
        )
    });
    let mut number = 0;
    for (set, get, checked, list) in futures::future::join_all(pairs).await {
        number += 1;
        let set = set.unwrap();
        assert_eq!(set.version, number);
        assert_eq!(get.unwrap().1, set);
        assert!(matches!(checked, Err(MultiError::Refused { index: 0, .. })));
        assert_eq!(list.unwrap().1, set);
    }
}

pub(crate) async fn sync_needs_no_node(place: Place) {
    let session = place.connect().await;
    session.client.sync(&place.path("missing/below")).await.unwrap();
    session.client.sync("/").await.unwrap();
}

pub(crate) async fn what_one_session_wrote_another_reads(place: Place) {
    let (one, other) = (place.connect().await, place.connect().await);
    let path = place.path("a");
    for number in 0..10 {
        one.create(&path).await;
        other.client.sync(&path).await.unwrap();
        assert!(other.client.exists(&path).await.unwrap().is_some(), "{number}");
        other.delete(&path).await;
        one.client.sync(&path).await.unwrap();
        assert!(one.client.exists(&path).await.unwrap().is_none(), "{number}");
    }
}

pub(crate) async fn a_request_that_no_server_reads_is_not_sent(place: Place) {
    let session = place.connect().await;
    let client = &session.client;
    let path = place.path("a");
    let long = Bytes::from(vec![b'x'; 1_000_001]);
    let refused = client.create(&path, long.clone(), CreateMode::Persistent).await;
    assert_eq!(refused.unwrap_err().code, ZkCode::BadArguments);
    session.create(&path).await;
    let refused = client.set(&path, long.clone(), None).await;
    assert_eq!(refused.unwrap_err().code, ZkCode::BadArguments);
    let half = |name: &str| Operation::Create {
        path: place.path(name),
        data: long.slice(..500_000),
        mode: CreateMode::Persistent,
    };
    match client.multi(vec![half("b"), half("c")]).await {
        Err(MultiError::Failed(error)) => assert_eq!(error.code, ZkCode::BadArguments),
        other => panic!("{other:?}"),
    }
    assert_eq!(client.list(place.root()).await.unwrap().0, ["a"]);
    // What is just short enough passes, and comes back whole.
    let stat = client.set(&path, long.slice(..990_000), None).await.unwrap();
    assert_eq!((stat.version, stat.data_length), (1, 990_000));
    assert_eq!(client.get(&path).await.unwrap().0.len(), 990_000);
}

/// Each kind of write, lost in this way.
async fn expect_lost(session: &Session, place: &Place, lost: Lost) {
    let client = &session.client;
    let applied = lost == Lost::Applied;
    let (a, b) = (place.path("a"), place.path("b"));

    session.lose_next_write(lost);
    let error = client
        .create(&a, "".into(), CreateMode::Ephemeral)
        .await
        .unwrap_err();
    assert_eq!(error.code, ZkCode::ConnectionLoss);
    assert_eq!(client.exists(&a).await.unwrap().is_some(), applied);
    if !applied {
        session.create_as(&a, CreateMode::Ephemeral).await;
    }

    session.lose_next_write(lost);
    let error = client.set(&a, "x".into(), Some(0)).await.unwrap_err();
    assert_eq!(error.code, ZkCode::ConnectionLoss);
    let stat = client.exists(&a).await.unwrap().unwrap();
    assert_eq!(stat.version, i32::from(applied));
    assert_eq!(stat.ephemeral_owner, session.id());

    session.lose_next_write(lost);
    match client.multi(vec![check(&a, stat.version), create(&b)]).await {
        Err(MultiError::Failed(error)) => assert_eq!(error.code, ZkCode::ConnectionLoss),
        other => panic!("{other:?}"),
    }
    assert_eq!(client.exists(&b).await.unwrap().is_some(), applied);

    session.lose_next_write(lost);
    let error = client.delete(&a, None).await.unwrap_err();
    assert_eq!(error.code, ZkCode::ConnectionLoss);
    assert_eq!(client.exists(&a).await.unwrap().is_none(), applied);
}

pub(crate) async fn a_write_whose_reply_is_lost_was_applied(place: Place) {
    let session = place.connect().await;
    expect_lost(&session, &place, Lost::Applied).await;
}

pub(crate) async fn a_write_that_is_lost_was_not_applied(place: Place) {
    let session = place.connect().await;
    expect_lost(&session, &place, Lost::NotApplied).await;
}
