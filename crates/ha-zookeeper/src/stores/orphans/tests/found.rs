//! What is an orphan, and what keeps a file from being one.

use super::*;

#[tokio::test]
async fn only_what_no_pointer_names_is_an_orphan() {
    let cluster = Cluster::new().await;
    let named = cluster.put(StateKind::Checkpoint, 1, 5).await;
    cluster.publish(1, 5, &named).await;
    assert!(cluster.orphans().await.is_empty());
    let replaced = cluster.put(StateKind::JobGraph, 1, 0).await;
    let subsumed = cluster.put(StateKind::Checkpoint, 1, 4).await;
    // A second file of the same id was never published.
    let unpublished = cluster.put(StateKind::Checkpoint, 1, 5).await;
    let mut expected = [replaced.path, subsumed.path, unpublished.path];
    expected.sort();
    let before = cluster.server.paths();
    assert_eq!(cluster.orphans().await, expected);
    assert_eq!(cluster.server.paths(), before);
    for path in expected {
        assert!(cluster.folder().join(path).exists(), "finding deletes nothing");
    }
}

#[tokio::test]
async fn a_pointer_that_cannot_be_read_keeps_the_files_of_its_job_only() {
    let torn = b"{\"format\":1,\"kind\":\"checkpo".as_slice();
    let newer = b"{\"format\":2,\"where\":\"x\"}".as_slice();
    for data in [b"".as_slice(), b"\xff\xfe", torn, newer] {
        let cluster = Cluster::new().await;
        let (one, two) = (
            cluster.put(StateKind::Checkpoint, 2, 1).await,
            cluster.put(StateKind::JobGraph, 2, 0).await,
        );
        let other = cluster.put(StateKind::Checkpoint, 3, 1).await;
        cluster
            .node(&cluster.paths.job_graph(job(2)), data.to_vec())
            .await;
        let report = cluster.find().await;
        let found: Vec<_> = report.orphans.iter().map(|orphan| &orphan.path).collect();
        assert_eq!(
            (report.refusal, found),
            (None, vec![&other.path]),
            "{one:?} {two:?}"
        );
        let unreadable: Vec<_> = report.unreadable.iter().map(|entry| &entry.path).collect();
        assert_eq!(unreadable, [&cluster.paths.job_graph(job(2))]);
    }
}

#[tokio::test]
async fn a_pointer_to_somewhere_else_keeps_its_job_and_what_it_names() {
    let cluster = Cluster::new().await;
    let of_two = cluster.put(StateKind::Checkpoint, 2, 1).await;
    let of_three = cluster.put(StateKind::Checkpoint, 3, 1).await;
    let of_four = cluster.put(StateKind::Checkpoint, 4, 1).await;
    // The pointer of job 2 names the file of job 3, and somebody has left one of job 4 under a foreign name.
    cluster.publish(2, 1, &of_three).await;
    let foreign = format!("{}/README", cluster.paths.job_graphs());
    let data = Cluster::pointer(&of_four).encode(&foreign).unwrap();
    cluster.node(&foreign, data).await;
    assert!(cluster.orphans().await.is_empty());
    let report = cluster.find().await;
    assert_eq!(report.unreadable.len(), 1);
    assert!(
        report.unreadable[0].reason.contains("no file of its job"),
        "{report:?}"
    );
    // Without them all three are.
    let client = cluster.server.client(1);
    client.delete(&foreign, None).await.unwrap();
    client
        .delete(&cluster.paths.checkpoint(job(2), CheckpointId::FIRST), None)
        .await
        .unwrap();
    let mut expected = [of_two.path, of_three.path, of_four.path];
    expected.sort();
    assert_eq!(cluster.orphans().await, expected);
}

#[tokio::test]
async fn blobs_stay_while_anything_is_known_of_their_job() {
    let cluster = Cluster::new().await;
    for number in 1..=7 {
        cluster.blob(number);
    }
    let orphan = cluster.blob(9);
    cluster.node(&cluster.paths.job_graph(job(2)), "torn").await;
    cluster
        .node(&cluster.paths.checkpoint_id_counter(job(3)), "4")
        .await;
    cluster.node(&cluster.paths.running_job(job(4)), "RUNNING").await;
    let election = format!("{}/job-{}", cluster.paths.leader(), job(5));
    cluster.node(&election, "").await;
    // The clean-up of one goes on; that of another is complete.
    let results = cluster.directory.path().join("job-results-store/c");
    std::fs::create_dir_all(&results).unwrap();
    std::fs::write(results.join(format!("{}_DIRTY.json", job(6))), "torn").unwrap();
    std::fs::write(results.join(format!("{}_DIRTY.json", job(8))), "torn").unwrap();
    std::fs::write(results.join(format!("{}.json", job(8))), "x").unwrap();
    cluster.node(&cluster.paths.job(job(7)), "").await;
    let of_eight = cluster.blob(8);
    let mut expected = [orphan, of_eight];
    expected.sort();
    assert_eq!(cluster.orphans().await, expected);
}

#[tokio::test]
async fn left_over_temporary_files_are_orphans_and_foreign_ones_are_not() {
    let cluster = Cluster::new().await;
    let temporary = format!("jobs/{}/checkpoints/x#1", job(1));
    for path in [
        &*temporary,
        "README",
        "jobs/x",
        &format!("jobs/{}/counter", job(1)),
    ] {
        cluster.write(path);
    }
    let report = cluster.find().await;
    let found: Vec<_> = report.orphans.iter().map(|orphan| &orphan.path).collect();
    assert_eq!(found, [&temporary]);
    assert_eq!(report.foreign.len(), 3, "{report:?}");
}

#[tokio::test]
async fn b58_a_pointer_whose_file_is_gone_keeps_the_files_of_its_job() {
    let cluster = Cluster::new().await;
    // What the tree of a backup names was subsumed long ago, by what nothing names now.
    let subsumed = cluster.put(StateKind::Checkpoint, 1, 4).await;
    cluster.publish(1, 4, &subsumed).await;
    cluster.put(StateKind::Checkpoint, 1, 9).await;
    let orphan = cluster.put(StateKind::Checkpoint, 2, 9).await;
    std::fs::remove_file(cluster.folder().join(&subsumed.path)).unwrap();
    let report = cluster.find().await;
    let found: Vec<_> = report.orphans.iter().map(|orphan| &orphan.path).collect();
    assert_eq!(found, [&orphan.path]);
    assert_eq!(report.unreadable.len(), 1, "{report:?}");
    assert_eq!(report.unreadable[0].path, subsumed.path);
}

#[tokio::test]
async fn b58_what_a_counter_has_not_given_and_a_counter_that_cannot_be_read_keep_the_files_of_their_job() {
    for (counter, is_given, told) in [
        ("10", true, None),
        ("9", false, Some("has the id 9")),
        ("x", false, Some("checkpoint id")),
    ] {
        let cluster = Cluster::new().await;
        let named = cluster.put(StateKind::Checkpoint, 1, 5).await;
        cluster.publish(1, 5, &named).await;
        let path = cluster.paths.checkpoint_id_counter(job(1));
        cluster.node(&path, counter).await;
        let file = cluster.put(StateKind::Checkpoint, 1, 9).await;
        let report = cluster.find().await;
        let found: Vec<_> = report.orphans.iter().map(|orphan| &orphan.path).collect();
        assert_eq!(
            found,
            if is_given { vec![&file.path] } else { vec![] },
            "{counter}"
        );
        let reasons: Vec<_> = report.unreadable.iter().map(|entry| &entry.reason).collect();
        assert_eq!(reasons.len(), usize::from(told.is_some()), "{reasons:?}");
        assert!(
            reasons
                .iter()
                .all(|reason| reason.contains(told.unwrap_or_default())),
            "{reasons:?}"
        );
    }
}
