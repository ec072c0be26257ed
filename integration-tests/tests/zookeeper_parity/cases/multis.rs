//! Multis: whole or not at all, and which operation refused.

use std::time::Duration;

use ha_zookeeper::client::{CreateMode, MultiError, Operation, OperationResult, ZkCode};
use integration_tests::eventually;

use crate::backend::{Place, Session, check, create, delete, set};

/// The index of the operation that refused, and why.
async fn refusal(session: &Session, operations: Vec<Operation>) -> (usize, ZkCode) {
    match session.client.multi(operations).await {
        Err(MultiError::Refused { index, error }) => (index, error.code),
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn a_multi_is_applied_whole_and_told_in_order(place: Place) {
    let session = place.connect().await;
    let (old, info) = (place.path("old"), place.path("info"));
    session.create(&old).await;
    let number = Operation::Create {
        path: place.path("n-"),
        data: "n".into(),
        mode: CreateMode::EphemeralSequential,
    };
    let results = session
        .client
        .multi(vec![
            check(&old, 0),
            create(&info),
            set(&info, "leader", Some(0)),
            number,
            delete(&old, Some(0)),
        ])
        .await
        .unwrap();
    let stat = session.client.exists(&info).await.unwrap().unwrap();
    assert_eq!((stat.version, stat.data_length), (1, 6));
    assert_eq!(
        results,
        [
            OperationResult::Checked,
            OperationResult::Created { path: info },
            OperationResult::Set { stat },
            OperationResult::Created {
                path: place.path("n-0000000002")
            },
            OperationResult::Deleted,
        ]
    );
    let (mut names, _) = session.client.list(place.root()).await.unwrap();
    names.sort();
    assert_eq!(names, ["info", "n-0000000002"]);
}

pub(crate) async fn a_refused_multi_changes_nothing_and_names_the_operation(place: Place) {
    let session = place.connect().await;
    let (a, b, missing) = (place.path("a"), place.path("b"), place.path("missing"));
    session.create(&a).await;
    session.create(&format!("{a}/child")).await;
    let ephemeral = session.create_as(&place.path("e"), CreateMode::Ephemeral).await;
    let before = session.client.list(place.root()).await.unwrap();
    let before_a = session.client.get(&a).await.unwrap();
    for (refused, code) in [
        (check(&a, 7), ZkCode::BadVersion),
        (check(&missing, 0), ZkCode::NoNode),
        (create(&a), ZkCode::NodeExists),
        (create(&format!("{missing}/x")), ZkCode::NoNode),
        (create(&format!("{ephemeral}/x")), ZkCode::NoChildrenForEphemerals),
        (set(&a, "x", Some(7)), ZkCode::BadVersion),
        (set(&missing, "x", None), ZkCode::NoNode),
        (delete(&a, None), ZkCode::NotEmpty),
        (delete(&a, Some(7)), ZkCode::BadVersion),
        (delete(&missing, None), ZkCode::NoNode),
    ] {
        let first = vec![refused.clone(), create(&b)];
        assert_eq!(refusal(&session, first).await, (0, code), "{refused:?}");
        let last = vec![create(&b), set(&a, "changed", None), refused.clone()];
        assert_eq!(refusal(&session, last).await, (2, code), "{refused:?}");
    }
    assert_eq!(session.client.list(place.root()).await.unwrap(), before);
    assert_eq!(session.client.get(&a).await.unwrap(), before_a);
}

pub(crate) async fn the_first_refusal_counts(place: Place) {
    let session = place.connect().await;
    let a = place.path("a");
    session.create(&a).await;
    let operations = vec![
        check(&a, 0),
        create(&a),
        check(&place.path("missing"), 0),
        delete(&a, Some(9)),
    ];
    assert_eq!(refusal(&session, operations).await, (1, ZkCode::NodeExists));
}

pub(crate) async fn operations_see_those_before_them(place: Place) {
    let session = place.connect().await;
    let (a, b) = (place.path("a"), place.path("a/b"));
    session
        .client
        .multi(vec![
            create(&a),
            create(&b),
            set(&b, "x", Some(0)),
            check(&b, 1),
            delete(&b, Some(1)),
            delete(&a, Some(0)),
            create(&a),
            check(&a, 0),
        ])
        .await
        .unwrap();
    let stat = session.client.exists(&a).await.unwrap().unwrap();
    assert_eq!((stat.version, stat.cversion, stat.num_children), (0, 0, 0));
    // A parent goes after its child, not before.
    session.create(&b).await;
    assert_eq!(
        refusal(&session, vec![delete(&a, None), delete(&b, None)]).await,
        (0, ZkCode::NotEmpty)
    );
    session
        .client
        .multi(vec![delete(&b, None), delete(&a, None)])
        .await
        .unwrap();
}

pub(crate) async fn a_multi_is_one_transaction(place: Place) {
    let session = place.connect().await;
    let (a, b, c) = (place.path("a"), place.path("b"), place.path("c"));
    session.create(&c).await;
    session
        .client
        .multi(vec![create(&a), create(&b), set(&c, "x", None)])
        .await
        .unwrap();
    let mut zxids = Vec::new();
    for path in [&a, &b, &c] {
        zxids.push(session.client.exists(path).await.unwrap().unwrap().mzxid);
    }
    assert!(zxids[0] == zxids[1] && zxids[1] == zxids[2], "{zxids:?}");
}

/// The zxid that a new node gets.
async fn zxid_of_a_new_node(session: &Session, place: &Place) -> i64 {
    let path = place.path("zxid");
    session.create(&path).await;
    let stat = session.client.exists(&path).await.unwrap().unwrap();
    session.delete(&path).await;
    stat.czxid
}

pub(crate) async fn a_check_alone_is_a_transaction_that_changes_nothing(place: Place) {
    let session = place.connect().await;
    let path = place.path("latch");
    session.create(&path).await;
    let before = session.client.get(&path).await.unwrap();
    let mut watches = [
        session.watch_data(&path).await,
        session.watch_existence(&path).await,
        session.watch_children(&path).await,
    ];
    let first = zxid_of_a_new_node(&session, &place).await;
    for _ in 0..5 {
        session.client.multi(vec![check(&path, 0)]).await.unwrap();
    }
    // The deletion between is one too.
    let second = zxid_of_a_new_node(&session, &place).await;
    assert!(second - first >= 7, "{first} {second}");
    assert_eq!(session.client.get(&path).await.unwrap(), before);
    for watch in &mut watches {
        session.expect_silent(watch).await;
    }
}

pub(crate) async fn a_refused_write_is_a_transaction_and_a_read_is_none(place: Place) {
    let session = place.connect().await;
    let client = &session.client;
    // Others use the server too: there is a moment when they do not.
    eventually("a quiet moment", Duration::from_secs(30), async || {
        let first = zxid_of_a_new_node(&session, &place).await;
        client.get(place.root()).await?;
        client.exists(&place.path("missing")).await?;
        client.list(place.root()).await?;
        client.sync(place.root()).await?;
        client.multi_get(&[place.root().to_owned()]).await?;
        let second = zxid_of_a_new_node(&session, &place).await;
        anyhow::ensure!(second - first == 2, "{} transactions", second - first);
        assert!(client.delete(&place.path("missing"), None).await.is_err());
        assert_eq!(
            refusal(&session, vec![check(place.root(), 9), create(&place.path("x"))]).await,
            (0, ZkCode::BadVersion)
        );
        let third = zxid_of_a_new_node(&session, &place).await;
        anyhow::ensure!(third - second == 4, "{} transactions", third - second);
        Ok(())
    })
    .await
    .unwrap();
}

pub(crate) async fn a_refused_multi_gives_its_sequence_numbers_back(place: Place) {
    let session = place.connect().await;
    let number = Operation::Create {
        path: place.path("n-"),
        data: "".into(),
        mode: CreateMode::EphemeralSequential,
    };
    let refused = vec![number.clone(), number, check(place.root(), 9)];
    assert_eq!(refusal(&session, refused).await, (2, ZkCode::BadVersion));
    let path = session
        .create_as(&place.path("n-"), CreateMode::EphemeralSequential)
        .await;
    assert_eq!(path, place.path("n-0000000000"));
}

pub(crate) async fn a_multi_may_be_empty(place: Place) {
    let session = place.connect().await;
    assert_eq!(session.client.multi(Vec::new()).await.unwrap(), []);
    assert!(session.client.multi_get(&[]).await.unwrap().is_empty());
}

pub(crate) async fn a_multi_read_tells_each_node(place: Place) {
    let session = place.connect().await;
    let (a, b) = (place.path("a"), place.path("b"));
    session.create(&a).await;
    session.set(&a, "x").await;
    let results = session
        .client
        .multi_get(&[b.clone(), a.clone(), b])
        .await
        .unwrap();
    let told: Vec<_> = results
        .into_iter()
        .map(|result| {
            result
                .map(|(data, stat)| (data, stat.version))
                .map_err(|error| error.code)
        })
        .collect();
    assert_eq!(
        told,
        [Err(ZkCode::NoNode), Ok(("x".into(), 1)), Err(ZkCode::NoNode)]
    );
}
