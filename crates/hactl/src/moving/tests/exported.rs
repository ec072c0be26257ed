use super::*;

#[tokio::test]
async fn all_that_recovery_needs_is_in_it() {
    let world = World::new().await;
    // What no pointer names, what a process holds while it lives, and what belongs to the one tree.
    world.put(StateKind::Checkpoint, JOB, "0000000000000000009").await;
    world.write(&world.paths.identity(), "{}").await;
    let (contents, broken) = world.export().await;
    assert!(broken.is_empty(), "{broken:?}");
    let expected = [
        format!("the job graph of {JOB}"),
        format!("the checkpoint 1 of {JOB}"),
        format!("the checkpoint 2 of {JOB}"),
        format!("the counter of {JOB}"),
        format!("the registry entry of {JOB}"),
        format!("the job graph of {ENDED}"),
    ];
    assert_eq!(znodes(&contents), expected);
    assert!(matches!(contents.znodes[3], Znode::Counter(_, next) if next.get() == 5));
    assert!(matches!(&contents.znodes[5], Znode::JobGraph(_, pointer) if pointer.terminal.is_some()));
    let expected = [
        "files/blobs".to_owned(),
        "files/jobgraphs".to_owned(),
        "files/jobgraphs".to_owned(),
        "files/jobs".to_owned(),
        "files/jobs".to_owned(),
        format!("results/{ENDED}_DIRTY.json"),
        format!("results/{DONE}.json"),
    ];
    assert_eq!(kinds(&contents), expected);
}

#[tokio::test]
async fn what_is_broken_or_foreign_is_told_beside_the_good() {
    let world = World::new().await;
    let other = JobId::from_bytes([4; 16]);
    let third = world.add_checkpoint(3).await;
    std::fs::write(world.file(&third.path), "torn").unwrap();
    let fourth = world.add_checkpoint(4).await;
    std::fs::remove_file(world.file(&fourth.path)).unwrap();
    // A pointer that leads to the file of another job.
    let graph = world.put(StateKind::JobGraph, JOB, &JOB.to_string()).await;
    world.point(&world.paths.job_graph(other), graph, None).await;
    let newer = format!("{}/README", world.paths.job_graphs());
    world.write(&newer, "").await;
    world.write(&world.paths.running_job(ENDED), "PAUSED").await;
    world
        .write(&format!("{}/unknown", world.paths.cluster()), "")
        .await;
    std::fs::write(world.file("jobgraphs/README"), "").unwrap();
    std::fs::write(world.result(&format!("{other}.json")), "{\"version\":2}").unwrap();
    let (contents, broken) = world.export().await;
    assert_eq!(znodes(&contents).len(), 6, "{:?}", znodes(&contents));
    assert_eq!(contents.files.len(), 7);
    let mut told: Vec<_> = broken
        .iter()
        .map(|entry| entry.path.rsplit('/').next().unwrap().to_owned())
        .collect();
    told.sort();
    let mut expected = vec![
        "0000000000000000003".to_owned(),
        "0000000000000000004".to_owned(),
        other.to_string(),
        "README".to_owned(),
        "README".to_owned(),
        ENDED.to_string(),
        "unknown".to_owned(),
        format!("{other}.json"),
    ];
    expected.sort();
    assert_eq!(told, expected, "{broken:#?}");
}

#[tokio::test]
async fn a_result_beside_a_job_that_runs_is_left_out() {
    let world = World::new().await;
    world.results.create_dirty_result(&end(JOB)).await.unwrap();
    let (contents, broken) = world.export().await;
    assert_eq!(broken.len(), 1, "{broken:?}");
    assert!(broken[0].reason.contains("the job runs"), "{broken:?}");
    assert!(!contents.files.contains_key(&format!("results/{JOB}_DIRTY.json")));
    assert_eq!(znodes(&contents).len(), 6);
}

#[tokio::test]
async fn blobs_that_were_altered_are_left_out() {
    let world = World::new().await;
    let (contents, _) = world.export().await;
    let name = contents.files.keys().next().unwrap().clone();
    let path = world.file(name.strip_prefix("files/").unwrap());
    std::fs::write(&path, "altered").unwrap();
    let (contents, broken) = world.export().await;
    assert!(!contents.files.contains_key(&name));
    assert_eq!(broken.len(), 1, "{broken:?}");
    assert!(broken[0].reason.contains("not that of its key"), "{broken:?}");
    assert_eq!(broken[0].path, path.display().to_string());
}
