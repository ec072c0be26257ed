//! Where nothing is found, and why.

use super::*;

#[tokio::test]
async fn a_tree_that_is_not_this_storages_finds_nothing_and_writes_nothing() {
    let cluster = Cluster::new().await;
    let orphan = cluster.put(StateKind::Checkpoint, 2, 1).await;
    assert_eq!(cluster.orphans().await, std::slice::from_ref(&orphan.path));
    // No tree, under a wrong root.
    let id = ClusterId::new("c").unwrap();
    let wrong = ClusterPaths::new("/x", "/", &id).unwrap();
    let elsewhere = cluster.detection_of(&wrong, &cluster.storage, rules());
    let report = elsewhere.find().await.unwrap();
    assert!(
        matches!(report.refusal, Some(Refusal::NoTree { .. })),
        "{report:?}"
    );

    // Another storage: empty, then of another cluster.
    let directory = tempfile::tempdir().unwrap();
    let environment = Environment::system();
    let other = HaStorage::open(directory.path().to_str().unwrap(), &id, &environment)
        .await
        .unwrap();
    let detection = cluster.detection_of(&cluster.paths, &other, rules());
    let report = detection.find().await.unwrap();
    assert!(
        matches!(report.refusal, Some(Refusal::NoStorage { .. })),
        "{report:?}"
    );
    other.identity().await.unwrap();
    let report = detection.find().await.unwrap();
    assert!(
        matches!(report.refusal, Some(Refusal::IdentityMismatch { .. })),
        "{report:?}"
    );

    // The storage names another tree, which has been copied here.
    let path = cluster.folder().join("identity.json");
    let whole = std::fs::read_to_string(&path).unwrap();
    let moved = whole.replace("\"tree\":\"/c\"", "\"tree\":\"/elsewhere/c\"");
    assert_ne!(whole, moved);
    std::fs::write(&path, moved).unwrap();
    let report = cluster.find().await;
    assert!(
        matches!(report.refusal, Some(Refusal::AnotherTree { .. })),
        "{report:?}"
    );
    std::fs::write(&path, whole).unwrap();

    // A tree that was lost, one whose identity is torn, and one that has none.
    let path = cluster.paths.identity();
    let client = cluster.server.client(1);
    let (data, _) = client.get(&path).await.unwrap();
    let mut identity = IdentityData::decode(&path, &data).unwrap();
    identity.tree_lost = true;
    cluster.node(&path, identity.encode(&path).unwrap()).await;
    let report = cluster.find().await;
    assert!(
        matches!(report.refusal, Some(Refusal::TreeLost { .. })),
        "{report:?}"
    );
    cluster.node(&path, "{").await;
    let report = cluster.find().await;
    assert!(
        matches!(report.refusal, Some(Refusal::UnreadableIdentity { .. })),
        "{report:?}"
    );
    client.delete(&path, None).await.unwrap();
    let report = cluster.find().await;
    assert!(
        matches!(report.refusal, Some(Refusal::NoTree { .. })),
        "{report:?}"
    );
    assert!(report.orphans.is_empty());
    assert!(cluster.folder().join(orphan.path).exists());
}

#[tokio::test]
async fn a_tree_without_any_pointer_finds_nothing_until_somebody_has_looked() {
    let cluster = Cluster::empty().await;
    assert!(
        cluster.orphans().await.is_empty(),
        "an empty cluster is no suspicion"
    );
    let file = cluster.put(StateKind::Checkpoint, 1, 1).await;
    // What is known of jobs is no pointer.
    cluster.node(&cluster.paths.running_job(job(1)), "RUNNING").await;
    let report = cluster.find().await;
    assert_eq!(report.refusal, Some(Refusal::NoPointers { files: 1 }));
    assert!(report.orphans.is_empty());
    let accepting = rules().accepting_an_empty_tree();
    let accepted = cluster.detection_of(&cluster.paths, &cluster.storage, accepting);
    let report = accepted.find().await.unwrap();
    assert_eq!(report.orphans.len(), 1);
    assert_eq!(report.orphans[0].path, file.path);
}

#[tokio::test]
async fn pointers_that_cannot_be_listed_are_an_error() {
    let cluster = Cluster::new().await;
    cluster.put(StateKind::Checkpoint, 2, 1).await;
    cluster.server.expire(1);
    let error = cluster.detection().find().await.unwrap_err();
    assert_eq!(error.kind(), ha_core::ErrorKind::Unavailable, "{error}");
}
