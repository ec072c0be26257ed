use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ha_core::environment::Environment;
use ha_core::ids::{CheckpointId, JobId};
use ha_core::jobs::JobResultStore as _;
use ha_storage::StateKind;

use super::world::{DIRTY_AFTER, DONE, ENDED, JOB, World, end, expect, ids};
use crate::cluster::Nodes;
use crate::doctor::finding::Severity;
use crate::doctor::read_tree::TreeReader;

fn second() -> CheckpointId {
    CheckpointId::new(2).unwrap()
}

fn place(path: &Path) -> Option<String> {
    Some(path.display().to_string())
}

#[tokio::test]
async fn a_healthy_cluster_has_no_finding_and_nothing_is_written() {
    let world = World::healthy().await;
    let list = || {
        let mut found = Vec::new();
        let mut folders = vec![world.directory.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                if entry.path().is_dir() {
                    folders.push(entry.path());
                }
                found.push((entry.path(), entry.metadata().unwrap().modified().unwrap()));
            }
        }
        found.sort();
        found
    };
    let (files, zxid) = (list(), world.server.zxid());
    let verdict = world.verdict().await;
    assert!(verdict.findings.is_empty(), "{verdict:?}");
    assert_eq!((list(), world.server.zxid()), (files, zxid));
    // What another mode has.
    let skipped: Vec<_> = verdict.skipped.iter().map(|skipped| skipped.id).collect();
    assert_eq!(skipped, ["unreadable-state-file"]);
}

#[tokio::test]
async fn unreadable_pointer() {
    let world = World::healthy().await;
    let path = world.paths.checkpoint(JOB, second());
    world.write(&path, "{").await;
    expect(&world.verdict().await, "unreadable-pointer", Some(&path), None);
}

#[tokio::test]
async fn pointer_to_a_missing_torn_foreign_or_misplaced_file() {
    let world = World::healthy().await;
    let node = world.paths.checkpoint(JOB, second());
    let path = &world.checkpoints[1].path;
    let (file, place) = (world.file(path), Some(world.storage.display(path)));
    let content = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    expect(
        &world.verdict().await,
        "pointer-to-missing-file",
        Some(&node),
        place.clone(),
    );
    std::fs::write(&file, &content[..content.len() - 1]).unwrap();
    expect(
        &world.verdict().await,
        "pointer-to-torn-file",
        Some(&node),
        place.clone(),
    );
    // A file of another write.
    std::fs::copy(world.file(&world.checkpoints[0].path), &file).unwrap();
    expect(
        &world.verdict().await,
        "pointer-to-foreign-file",
        Some(&node),
        place,
    );
    std::fs::write(&file, &content).unwrap();
    assert!(ids(&world.verdict().await).is_empty());

    let mut misplaced = world.checkpoints[1].clone();
    for path in [
        misplaced.path.replace(&JOB.to_string(), &DONE.to_string()),
        "../../x".to_owned(),
    ] {
        misplaced.path.clone_from(&path);
        world.point(&node, misplaced.clone(), None).await;
        let place = Some(world.storage.display(&path));
        expect(
            &world.verdict().await,
            "pointer-to-misplaced-file",
            Some(&node),
            place,
        );
    }
}

#[tokio::test]
async fn a_pointer_that_is_replaced_while_its_file_is_read_is_no_finding() {
    let world = World::healthy().await;
    let node = world.paths.checkpoint(JOB, second());
    let file = world.file(&world.checkpoints[1].path);
    let nodes = Nodes::new(Arc::new(world.server.client(0x30)));
    let mut reader = TreeReader::new(&nodes, &world.paths, None).with_files(Some(&world.storage), None);
    let read = nodes.get(&node).await.unwrap().unwrap();
    reader.add_pointer(&read, StateKind::Checkpoint, JOB).unwrap();
    // As a newer checkpoint does.
    world.delete(&node).await;
    std::fs::remove_file(&file).unwrap();
    reader.look_at_files().await.unwrap();
    let read = reader.into_read();
    assert!(read.broken.is_empty());
    assert!(read.tree.pointers.is_empty(), "{:?}", read.tree.pointers);
}

#[tokio::test]
async fn file_without_pointer() {
    let world = World::healthy().await;
    let file = world
        .put(StateKind::Checkpoint, JOB, &second().to_name(), b"left")
        .await;
    let verdict = world.verdict().await;
    let place = Some(world.storage.display(&file.path));
    expect(&verdict, "file-without-pointer", None, place);
    assert_eq!(verdict.findings[0].severity, Severity::Info);
}

#[tokio::test]
async fn foreign_file() {
    let world = World::healthy().await;
    let file = world.file("jobs/README");
    std::fs::write(&file, "").unwrap();
    let verdict = world.verdict().await;
    expect(
        &verdict,
        "foreign-file",
        None,
        Some(world.storage.display("jobs/README")),
    );
}

#[tokio::test]
async fn foreign_znode() {
    let world = World::healthy().await;
    for path in [
        format!("{}/other", world.paths.cluster()),
        format!(
            "{}/other",
            world.paths.leader_of(&ha_core::ids::ComponentId::dispatcher())
        ),
        format!("{}/other", world.paths.job_graphs()),
        format!("{}/lock", world.paths.job_graph(JOB)),
        format!("{}/other", world.paths.jobs()),
        format!("{}/other", world.paths.job(JOB)),
        format!("{}/other", world.paths.checkpoints(JOB)),
        format!("{}/other", world.paths.running_jobs()),
        format!("{}/latch-", world.paths.leader()),
    ] {
        world.create(&path, "").await;
        expect(&world.verdict().await, "foreign-znode", Some(&path), None);
        world.delete(&path).await;
    }
}

#[tokio::test]
async fn counter_and_registry() {
    let world = World::healthy().await;
    let counter = world.paths.checkpoint_id_counter(JOB);
    world.write(&counter, "2").await;
    expect(&world.verdict().await, "counter-behind", Some(&counter), None);
    world.write(&counter, "x").await;
    expect(&world.verdict().await, "unreadable-counter", Some(&counter), None);
    world.write(&counter, "3").await;
    let entry = world.paths.running_job(JOB);
    world.write(&entry, "x").await;
    expect(
        &world.verdict().await,
        "unreadable-registry-entry",
        Some(&entry),
        None,
    );
}

#[tokio::test]
async fn unreadable_result() {
    let world = World::healthy().await;
    let file = world.result(&format!("{}.json", JobId::from_bytes([9; 16])));
    std::fs::write(&file, "{").unwrap();
    expect(&world.verdict().await, "unreadable-result", None, place(&file));
}

#[tokio::test]
async fn dirty_result_old() {
    let world = World::healthy().await;
    let dirty = world.result(&format!("{ENDED}_DIRTY.json"));
    let file = std::fs::File::options().write(true).open(&dirty).unwrap();
    let age = DIRTY_AFTER - Duration::from_secs(60);
    file.set_modified(SystemTime::UNIX_EPOCH + now() - age).unwrap();
    assert!(ids(&world.verdict().await).is_empty());
    file.set_modified(SystemTime::UNIX_EPOCH + now() - 2 * DIRTY_AFTER)
        .unwrap();
    expect(&world.verdict().await, "dirty-result-old", None, place(&dirty));
}

fn now() -> Duration {
    Duration::from_millis(Environment::system().clock.wall_time_millis())
}

#[tokio::test]
async fn result_beside_job_graph() {
    let world = World::healthy().await;
    let node = world.paths.job_graph(JOB);
    world.results.create_dirty_result(&end(JOB)).await.unwrap();
    let dirty = place(&world.result(&format!("{JOB}_DIRTY.json")));
    expect(
        &world.verdict().await,
        "result-beside-job-graph",
        Some(&node),
        dirty,
    );
    world.results.mark_result_as_clean(JOB).await.unwrap();
    let clean = place(&world.result(&format!("{JOB}.json")));
    expect(
        &world.verdict().await,
        "result-beside-job-graph",
        Some(&node),
        clean,
    );
}
