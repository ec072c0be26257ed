//! Nodes, their versions and Stats.

use ha_zookeeper::client::{CreateMode, ZkCode, ZkResult};

use crate::backend::Place;

fn code<T>(result: ZkResult<T>) -> ZkCode {
    result.err().unwrap().code
}

pub(crate) async fn a_node_is_read_as_it_was_created(place: Place) {
    let session = place.connect().await;
    let path = place.path("a");
    let created = session
        .client
        .create(&path, "data".into(), CreateMode::Persistent)
        .await
        .unwrap();
    assert_eq!(created, path);
    let (data, stat) = session.client.get(&path).await.unwrap();
    assert_eq!(data, "data");
    assert_eq!(
        (stat.version, stat.cversion, stat.num_children, stat.data_length),
        (0, 0, 0, 4)
    );
    assert_eq!(stat.ephemeral_owner, 0);
    assert!(stat.czxid > 0 && stat.czxid == stat.mzxid);
    assert!(stat.ctime > 0 && stat.ctime == stat.mtime);
    assert_eq!(session.client.exists(&path).await.unwrap(), Some(stat));
    assert_eq!(
        session.client.list(&path).await.unwrap(),
        (Vec::<String>::new(), stat)
    );
}

pub(crate) async fn what_is_there_is_not_created_again(place: Place) {
    let session = place.connect().await;
    let path = place.path("a");
    session.create(&path).await;
    for mode in [CreateMode::Persistent, CreateMode::Ephemeral] {
        let again = session.client.create(&path, "x".into(), mode).await;
        assert_eq!(code(again), ZkCode::NodeExists);
    }
    assert_eq!(session.client.get(&path).await.unwrap().0, "");
}

pub(crate) async fn nothing_is_created_below_a_missing_parent(place: Place) {
    let session = place.connect().await;
    for mode in [
        CreateMode::Persistent,
        CreateMode::Ephemeral,
        CreateMode::EphemeralSequential,
    ] {
        let created = session
            .client
            .create(&place.path("missing/child"), "".into(), mode)
            .await;
        assert_eq!(code(created), ZkCode::NoNode);
    }
}

pub(crate) async fn a_missing_node_is_told_by_each_request(place: Place) {
    let session = place.connect().await;
    let client = &session.client;
    let path = place.path("missing");
    assert_eq!(code(client.get(&path).await), ZkCode::NoNode);
    assert_eq!(client.exists(&path).await.unwrap(), None);
    assert_eq!(code(client.list(&path).await), ZkCode::NoNode);
    assert_eq!(
        client.list_and_watch(&path).await.err().unwrap().code,
        ZkCode::NoNode
    );
    for version in [None, Some(0)] {
        assert_eq!(code(client.set(&path, "".into(), version).await), ZkCode::NoNode);
        assert_eq!(code(client.delete(&path, version).await), ZkCode::NoNode);
    }
}

pub(crate) async fn setting_counts_versions_and_keeps_the_creation(place: Place) {
    let session = place.connect().await;
    let path = place.path("a");
    session.create(&path).await;
    let created = session.client.exists(&path).await.unwrap().unwrap();
    let first = session.client.set(&path, "one".into(), Some(0)).await.unwrap();
    let second = session.client.set(&path, "second".into(), None).await.unwrap();
    assert_eq!((first.version, second.version), (1, 2));
    assert_eq!((first.data_length, second.data_length), (3, 6));
    assert_eq!((first.czxid, second.czxid), (created.czxid, created.czxid));
    assert!(created.mzxid < first.mzxid && first.mzxid < second.mzxid);
    assert!(second.ctime == created.ctime && second.mtime >= created.mtime);
    let (data, stat) = session.client.get(&path).await.unwrap();
    assert_eq!((&data[..], stat), (&b"second"[..], second));
}

pub(crate) async fn another_version_is_refused_and_changes_nothing(place: Place) {
    let session = place.connect().await;
    let path = place.path("a");
    session.create(&path).await;
    session.set(&path, "one").await;
    let before = session.client.get(&path).await.unwrap();
    for version in [0, 2] {
        let set = session.client.set(&path, "x".into(), Some(version)).await;
        assert_eq!(code(set), ZkCode::BadVersion);
        let deleted = session.client.delete(&path, Some(version)).await;
        assert_eq!(code(deleted), ZkCode::BadVersion);
    }
    assert_eq!(session.client.get(&path).await.unwrap(), before);
    session.client.delete(&path, Some(1)).await.unwrap();
    assert_eq!(session.client.exists(&path).await.unwrap(), None);
}

pub(crate) async fn version_minus_one_is_any(place: Place) {
    let session = place.connect().await;
    let path = place.path("a");
    session.create(&path).await;
    let set = session.client.set(&path, "x".into(), Some(-1)).await.unwrap();
    assert_eq!(set.version, 1);
    let checked = session.client.multi(vec![crate::backend::check(&path, -1)]).await;
    assert!(checked.is_ok());
    session.client.delete(&path, Some(-1)).await.unwrap();
}

pub(crate) async fn a_node_with_children_is_not_deleted(place: Place) {
    let session = place.connect().await;
    let path = place.path("a");
    session.create(&path).await;
    session.create(&format!("{path}/b")).await;
    assert_eq!(code(session.client.delete(&path, None).await), ZkCode::NotEmpty);
    assert_eq!(
        code(session.client.delete(&path, Some(5)).await),
        ZkCode::BadVersion,
        "the version is looked at first"
    );
    session.delete(&format!("{path}/b")).await;
    session.delete(&path).await;
}

pub(crate) async fn the_stat_of_a_parent_counts_its_children(place: Place) {
    let session = place.connect().await;
    let path = place.path("a");
    session.create(&path).await;
    let before = session.client.exists(&path).await.unwrap().unwrap();
    let mut seen = Vec::new();
    let child = |number: usize| format!("{path}/{number}");
    for number in 0..3 {
        session.create(&child(number)).await;
    }
    session.create(&format!("{path}/0/grandchild")).await;
    session.set(&child(1), "x").await;
    for number in 1..3 {
        let (names, stat) = session.client.list(&path).await.unwrap();
        seen.push((names.len(), stat.num_children, stat.cversion));
        session.delete(&child(number)).await;
    }
    let (names, stat) = session.client.list(&path).await.unwrap();
    seen.push((names.len(), stat.num_children, stat.cversion));
    assert_eq!(seen, [(3, 3, 3), (2, 2, 4), (1, 1, 5)]);
    assert_eq!(names, ["0"]);
    assert_eq!((stat.version, stat.mzxid), (0, before.mzxid));
}

pub(crate) async fn the_same_path_comes_again_at_version_0(place: Place) {
    let session = place.connect().await;
    let path = place.path("a");
    session.create(&path).await;
    session.set(&path, "x").await;
    let first = session.client.exists(&path).await.unwrap().unwrap();
    session.delete(&path).await;
    session.create(&path).await;
    let second = session.client.exists(&path).await.unwrap().unwrap();
    assert_eq!((first.version, second.version), (1, 0));
    assert!(second.czxid > first.mzxid);
}

pub(crate) async fn data_may_be_empty(place: Place) {
    let session = place.connect().await;
    let path = place.path("a");
    session.create(&path).await;
    let (data, stat) = session.client.get(&path).await.unwrap();
    assert_eq!((data.len(), stat.data_length), (0, 0));
    session.set(&path, "x").await;
    session.set(&path, "").await;
    let (data, stat) = session.client.get(&path).await.unwrap();
    assert_eq!((data.len(), stat.data_length, stat.version), (0, 0, 2));
}

pub(crate) async fn bad_paths_are_refused(place: Place) {
    let session = place.connect().await;
    let client = &session.client;
    let root = place.root();
    let below = [
        "/",
        "//a",
        "/./a",
        "/../a",
        "/a/",
        "/a\u{1}",
        "/a\u{7f}",
        "/a\u{fff0}",
        "/.",
        "/..",
    ];
    let mut bad: Vec<String> = below.iter().map(|end| format!("{root}{end}")).collect();
    bad.extend(["", "a", "a/b"].map(str::to_owned));
    for path in &bad {
        let create = client.create(path, "".into(), CreateMode::Persistent).await;
        assert_eq!(
            create.err().map(|error| error.code),
            Some(ZkCode::BadArguments),
            "{path:?}"
        );
    }
    // Here the parent is looked for first.
    let path = place.path("a/..");
    let below_missing = client.create(&path, "".into(), CreateMode::Persistent).await;
    assert_eq!(code(below_missing), ZkCode::NoNode);
    assert_eq!(code(client.get(&format!("{root}/..")).await), ZkCode::NoNode);
    for path in ["", "a", "//", "/a/", "/a//b"] {
        assert_eq!(code(client.get(path).await), ZkCode::BadArguments);
        assert_eq!(code(client.exists(path).await), ZkCode::BadArguments);
        assert_eq!(
            code(client.set(path, "".into(), None).await),
            ZkCode::BadArguments
        );
        assert_eq!(code(client.delete(path, None).await), ZkCode::BadArguments);
        assert_eq!(code(client.list(path).await), ZkCode::BadArguments);
        assert_eq!(code(client.sync(path).await), ZkCode::BadArguments);
    }
    assert!(client.list(root).await.unwrap().0.is_empty());
}

pub(crate) async fn the_root_is_a_node(place: Place) {
    let session = place.connect().await;
    let client = &session.client;
    let stat = client.exists("/").await.unwrap().unwrap();
    assert_eq!((stat.czxid, stat.version, stat.ephemeral_owner), (0, 0, 0));
    let (names, _) = client.list("/").await.unwrap();
    assert!(names.iter().any(|name| format!("/{name}") == place.root()));
    let created = client.create("/", "".into(), CreateMode::Persistent).await;
    assert_eq!(code(created), ZkCode::BadArguments);
    assert_eq!(code(client.delete("/", None).await), ZkCode::BadArguments);
}
