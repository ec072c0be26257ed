//! One-shot watches.

use futures::FutureExt as _;
use ha_zookeeper::client::{NodeEvent, ZkCode};

use crate::backend::{Place, check, create, delete, fired, set};

pub(crate) async fn a_get_on_a_missing_node_arms_nothing(place: Place) {
    let session = place.connect().await;
    let path = place.path("a");
    let error = session.client.get_and_watch(&path).await.err().unwrap();
    assert_eq!(error.code, ZkCode::NoNode);
    let error = session.client.list_and_watch(&path).await.err().unwrap();
    assert_eq!(error.code, ZkCode::NoNode);
    // What is armed by others, on the same path, is not disturbed.
    session.create(&path).await;
    let mut watch = session.watch_data(&path).await;
    session.expect_silent(&mut watch).await;
}

pub(crate) async fn a_missing_node_is_watched_by_exists(place: Place) {
    let session = place.connect().await;
    let other = place.connect().await;
    let path = place.path("a");
    let (stat, watch) = session.client.exists_and_watch(&path).await.unwrap();
    assert!(stat.is_none());
    other.create(&path).await;
    assert_eq!(fired(watch).await, NodeEvent::Changed);
    let (stat, watch) = session.client.exists_and_watch(&path).await.unwrap();
    assert_eq!(stat.unwrap().version, 0);
    other.set(&path, "x").await;
    assert_eq!(fired(watch).await, NodeEvent::Changed);
    let watch = session.watch_existence(&path).await;
    other.delete(&path).await;
    assert_eq!(fired(watch).await, NodeEvent::Deleted);
}

pub(crate) async fn a_data_watch_sees_its_node_and_nothing_below(place: Place) {
    let session = place.connect().await;
    let other = place.connect().await;
    let (path, child) = (place.path("a"), place.path("a/b"));
    other.create(&path).await;
    let mut data = session.watch_data(&path).await;
    let mut existence = session.watch_existence(&path).await;
    other.create(&child).await;
    other.set(&child, "x").await;
    other.delete(&child).await;
    other.create(&place.path("neighbour")).await;
    session.expect_silent(&mut data).await;
    session.expect_silent(&mut existence).await;
    other.set(&path, "x").await;
    assert_eq!(fired(data).await, NodeEvent::Changed);
    assert_eq!(fired(existence).await, NodeEvent::Changed);
    let data = session.watch_data(&path).await;
    other.delete(&path).await;
    assert_eq!(fired(data).await, NodeEvent::Deleted);
}

pub(crate) async fn a_child_watch_sees_names_and_no_data(place: Place) {
    let session = place.connect().await;
    let other = place.connect().await;
    let (path, child) = (place.path("a"), place.path("a/b"));
    other.create(&path).await;
    let watch = session.watch_children(&path).await;
    other.create(&child).await;
    assert_eq!(fired(watch).await, NodeEvent::Changed);
    let mut watch = session.watch_children(&path).await;
    other.set(&child, "x").await;
    other.set(&path, "x").await;
    other.create(&format!("{child}/c")).await;
    other.delete(&format!("{child}/c")).await;
    session.expect_silent(&mut watch).await;
    other.delete(&child).await;
    assert_eq!(fired(watch).await, NodeEvent::Changed);
    let watch = session.watch_children(&path).await;
    other.delete(&path).await;
    assert_eq!(fired(watch).await, NodeEvent::Deleted);
}

pub(crate) async fn a_watch_fires_once(place: Place) {
    let session = place.connect().await;
    let other = place.connect().await;
    let path = place.path("a");
    other.create(&path).await;
    for _ in 0..3 {
        let first = session.watch_data(&path).await;
        other.set(&path, "x").await;
        assert_eq!(fired(first).await, NodeEvent::Changed);
        // Nobody watches now; a watch that is armed afterwards knows nothing of it.
        other.set(&path, "y").await;
        let mut second = session.watch_data(&path).await;
        session.expect_silent(&mut second).await;
    }
}

pub(crate) async fn all_watches_of_a_node_fire(place: Place) {
    let session = place.connect().await;
    let other = place.connect().await;
    let path = place.path("a");
    session.create(&path).await;
    let watches = [
        session.watch_data(&path).await,
        session.watch_data(&path).await,
        session.watch_existence(&path).await,
        session.watch_children(&path).await,
        other.watch_data(&path).await,
        other.watch_children(&path).await,
    ];
    // One's own change is told too.
    session.delete(&path).await;
    for watch in watches {
        assert_eq!(fired(watch).await, NodeEvent::Deleted);
    }
}

pub(crate) async fn a_dropped_watch_disturbs_no_other(place: Place) {
    let session = place.connect().await;
    let path = place.path("a");
    session.create(&path).await;
    for _ in 0..20 {
        let kept = session.watch_data(&path).await;
        drop(session.watch_data(&path).await);
        drop(session.watch_children(&path).await);
        session.set(&path, "x").await;
        assert_eq!(fired(kept).await, NodeEvent::Changed);
    }
}

pub(crate) async fn a_node_that_comes_and_goes_is_seen_each_time(place: Place) {
    let session = place.connect().await;
    let other = place.connect().await;
    let path = place.path("a");
    for _ in 0..5 {
        let watch = session.watch_existence(&path).await;
        other.create(&path).await;
        assert_eq!(fired(watch).await, NodeEvent::Changed);
        let watch = session.watch_existence(&path).await;
        other.delete(&path).await;
        assert_eq!(fired(watch).await, NodeEvent::Deleted);
    }
}

pub(crate) async fn a_multi_fires_for_each_node_and_a_refused_one_for_none(place: Place) {
    let session = place.connect().await;
    let other = place.connect().await;
    let (a, b, c) = (place.path("a"), place.path("b"), place.path("c"));
    other.create(&a).await;
    other.create(&b).await;
    let mut watches = [
        session.watch_data(&a).await,
        session.watch_data(&b).await,
        session.watch_existence(&c).await,
        session.watch_children(place.root()).await,
    ];
    let changes = vec![set(&a, "x", Some(0)), delete(&b, None), create(&c)];
    let refused = [changes.clone(), vec![check(&a, 9)]].concat();
    assert!(other.client.multi(refused).await.is_err());
    for watch in &mut watches {
        session.expect_silent(watch).await;
    }
    other.client.multi(changes).await.unwrap();
    let mut events = Vec::new();
    for watch in watches {
        events.push(fired(watch).await);
    }
    assert_eq!(
        events,
        [
            NodeEvent::Changed,
            NodeEvent::Deleted,
            NodeEvent::Changed,
            NodeEvent::Changed
        ]
    );
}

pub(crate) async fn an_event_comes_before_the_answer_that_shows_the_change(place: Place) {
    let session = place.connect().await;
    let other = place.connect().await;
    let path = place.path("a");
    session.create(&path).await;
    for _ in 0..20 {
        let watch = session.watch_data(&path).await;
        let version = session.client.exists(&path).await.unwrap().unwrap().version;
        other.set(&path, "x").await;
        session.client.sync(&path).await.unwrap();
        let stat = session.client.exists(&path).await.unwrap().unwrap();
        assert_eq!(stat.version, version + 1);
        assert_eq!(watch.now_or_never(), Some(NodeEvent::Changed));
    }
}

pub(crate) async fn what_changed_while_cut_off_is_told(place: Place) {
    let session = place.connect().await;
    let other = place.connect().await;
    let [set, deleted, recreated, parent, parent_gone, created] =
        ["set", "deleted", "recreated", "parent", "parent_gone", "created"].map(|name| place.path(name));
    for path in [&set, &deleted, &recreated, &parent, &parent_gone] {
        other.create(path).await;
    }
    other.create(&format!("{parent}/old")).await;
    let watches = [
        session.watch_data(&set).await,
        session.watch_data(&deleted).await,
        session.watch_existence(&recreated).await,
        session.watch_children(&parent).await,
        session.watch_children(&parent_gone).await,
        session.watch_existence(&created).await,
    ];
    session.cut().await;
    other.set(&set, "x").await;
    other.delete(&deleted).await;
    other.delete(&recreated).await;
    other.create(&recreated).await;
    // As many children as before.
    other.delete(&format!("{parent}/old")).await;
    other.create(&format!("{parent}/new")).await;
    other.delete(&parent_gone).await;
    other.create(&created).await;
    session.let_back_in().await;
    let mut events = Vec::new();
    for watch in watches {
        events.push(fired(watch).await);
    }
    assert_eq!(
        events,
        [
            NodeEvent::Changed,
            NodeEvent::Deleted,
            NodeEvent::Changed,
            NodeEvent::Changed,
            NodeEvent::Deleted,
            NodeEvent::Changed
        ]
    );
}

pub(crate) async fn what_came_and_went_while_cut_off_leaves_the_watch_armed(place: Place) {
    let session = place.connect().await;
    let other = place.connect().await;
    let path = place.path("a");
    let mut watch = session.watch_existence(&path).await;
    session.cut().await;
    other.create(&path).await;
    other.delete(&path).await;
    session.let_back_in().await;
    session.expect_silent(&mut watch).await;
    other.create(&path).await;
    assert_eq!(fired(watch).await, NodeEvent::Changed);
}

pub(crate) async fn what_did_not_change_while_cut_off_stays_watched(place: Place) {
    let session = place.connect().await;
    let other = place.connect().await;
    let path = place.path("a");
    other.create(&path).await;
    let mut watches = [
        session.watch_data(&path).await,
        session.watch_existence(&path).await,
        session.watch_children(&path).await,
    ];
    for _ in 0..2 {
        session.cut().await;
        other.create(&place.path("neighbour")).await;
        other.delete(&place.path("neighbour")).await;
        session.let_back_in().await;
        for watch in &mut watches {
            session.expect_silent(watch).await;
        }
    }
    other.delete(&path).await;
    for watch in watches {
        assert_eq!(fired(watch).await, NodeEvent::Deleted);
    }
}
