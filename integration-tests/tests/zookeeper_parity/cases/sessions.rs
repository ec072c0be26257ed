//! The ends of sessions and of connections.

use std::collections::BTreeSet;

use ha_zookeeper::client::{CreateMode, NodeEvent, ZkCode};

use crate::backend::{Place, Session, check, fired};

/// Ephemerals of a session, and what stays of them when it ends.
async fn expect_that_it_takes_its_ephemerals(
    place: &Place,
    session: &Session,
    end: impl AsyncFnOnce(&Session, &Session),
) {
    let other = place.connect().await;
    let info = session
        .create_as(&place.path("info"), CreateMode::Ephemeral)
        .await;
    session
        .create_as(&place.path("n-"), CreateMode::EphemeralSequential)
        .await;
    session.create(&place.path("persistent")).await;
    let foreign = other
        .create_as(&place.path("n-"), CreateMode::EphemeralSequential)
        .await;
    let seen = [
        other.watch_data(&info).await,
        other.watch_existence(&info).await,
        other.watch_children(&info).await,
    ];
    let names = other.watch_children(place.root()).await;
    let mut still = other.watch_data(&foreign).await;
    end(session, &other).await;
    for watch in seen {
        assert_eq!(fired(watch).await, NodeEvent::Deleted);
    }
    assert_eq!(fired(names).await, NodeEvent::Changed);
    other.expect_silent(&mut still).await;
    let (names, _) = other.client.list(place.root()).await.unwrap();
    let names: BTreeSet<_> = names.into_iter().map(|name| place.path(&name)).collect();
    assert_eq!(names, BTreeSet::from([foreign, place.path("persistent")]));
}

pub(crate) async fn a_close_takes_the_ephemerals_and_is_seen(place: Place) {
    let session = place.connect().await;
    expect_that_it_takes_its_ephemerals(&place, &session, async |session, _| session.close().await).await;
}

pub(crate) async fn an_expiry_takes_the_ephemerals_and_is_seen(place: Place) {
    let session = place.connect_briefly().await;
    expect_that_it_takes_its_ephemerals(&place, &session, async |session, other| {
        session.expire_while_cut_off(other).await;
    })
    .await;
}

/// Every request of a session that is over.
async fn expect_over(session: &Session, path: &str) {
    let client = &session.client;
    let mut codes = vec![
        client.get(path).await.err().unwrap().code,
        client.get_and_watch(path).await.err().unwrap().code,
        client.exists(path).await.err().unwrap().code,
        client.exists_and_watch(path).await.err().unwrap().code,
        client.list(path).await.err().unwrap().code,
        client.sync(path).await.err().unwrap().code,
        client.set(path, "x".into(), None).await.err().unwrap().code,
        client.delete(path, None).await.err().unwrap().code,
        client.multi_get(&[path.to_owned()]).await.err().unwrap().code,
    ];
    let created = client.create(path, "".into(), CreateMode::Ephemeral).await;
    codes.push(created.err().unwrap().code);
    match client.multi(vec![check(path, 0)]).await {
        Err(ha_zookeeper::client::MultiError::Failed(error)) => codes.push(error.code),
        other => panic!("{other:?}"),
    }
    assert_eq!(codes, [ZkCode::SessionOver; 11]);
}

pub(crate) async fn a_session_that_is_over_answers_nothing(place: Place) {
    let session = place.connect().await;
    let path = place.path("a");
    session.create(&path).await;
    let watch = session.watch_data(&path).await;
    session.close().await;
    assert_eq!(fired(watch).await, NodeEvent::SessionOver);
    expect_over(&session, &path).await;
    let other = place.connect().await;
    assert_eq!(other.client.exists(&path).await.unwrap().unwrap().version, 0);
}

pub(crate) async fn a_cut_keeps_the_session_and_what_was_asked_meanwhile(place: Place) {
    let session = place.connect().await;
    let other = place.connect().await;
    let path = session.create_as(&place.path("a"), CreateMode::Ephemeral).await;
    let before = session.id();
    session.cut().await;
    let mut set = session.client.set(&path, "meanwhile".into(), None);
    assert!(futures::poll!(&mut set).is_pending());
    let (_, stat) = other.client.get(&path).await.unwrap();
    assert_eq!((stat.version, stat.ephemeral_owner), (0, before));
    session.let_back_in().await;
    assert_eq!(set.await.unwrap().version, 1);
    assert_eq!(session.id(), before);
    assert_eq!(other.client.get(&path).await.unwrap().0, "meanwhile");
}

pub(crate) async fn an_expiry_while_cut_off_is_learnt_afterwards(place: Place) {
    let session = place.connect_briefly().await;
    let other = place.connect().await;
    let path = place.path("a");
    session.create(&path).await;
    let watch = session.watch_data(&path).await;
    session.expire_while_cut_off(&other).await;
    other.set(&path, "x").await;
    session.let_back_in().await;
    assert_eq!(fired(watch).await, NodeEvent::SessionOver);
    expect_over(&session, &path).await;
    assert_eq!(other.client.exists(&path).await.unwrap().unwrap().version, 1);
}
