//! What commands plan, over a tree in memory and files in a folder.

use std::sync::Arc;

use ha_core::ErrorKind;
use ha_core::ids::{CheckpointId, JobId};
use ha_core::jobs::JobResultStore as _;
use ha_storage::StateKind;
use ha_zookeeper::client::Operation;
use ha_zookeeper::codec::IdentityData;

use super::world::{JOB, World, end};
use crate::writes::{Action, Plan, Progress, Work, WritingCommand};

async fn plan(world: &World, command: WritingCommand) -> ha_core::Result<Plan> {
    command.plan(&world.view(), &Progress::new()).await
}

/// Each change with the end of its path, as short as tells which it is.
fn changes(plan: &Plan) -> Vec<(Action, String)> {
    let changes = plan.steps.iter().flat_map(|step| &step.changes);
    changes
        .map(|change| {
            let mut path = change.path.rsplit("/c/").next().unwrap().to_owned();
            path = path.replace(&JOB.to_string(), "JOB");
            // What is behind the id of a file.
            let cut = path.len().saturating_sub(37);
            if change.action == Action::DeleteFile && path.get(cut..=cut) == Some("-") {
                path.truncate(cut);
            }
            (change.action, path)
        })
        .collect()
}

fn deletions(paths: &[&str], action: Action) -> Vec<(Action, String)> {
    paths.iter().map(|path| (action, (*path).to_owned())).collect()
}

#[tokio::test]
async fn no_plan_writes_anything() {
    let world = World::new().await;
    world.write_identity(true).await;
    let (before, zxid) = (world.everything().await, world.server.zxid());
    let restore = WritingCommand::RestoreCheckpoint(JOB, CheckpointId::FIRST);
    for command in [
        WritingCommand::Forget(JOB),
        WritingCommand::Cleanup { ended_jobs: true },
        restore,
        WritingCommand::AcceptEmptyTree,
    ] {
        plan(&world, command).await.unwrap();
    }
    assert_eq!(world.everything().await, before);
    assert_eq!(world.server.zxid(), zxid);
    world.write_identity(false).await;
    let (before, zxid) = (world.everything().await, world.server.zxid());
    let accepts_no_pointers = false;
    for command in [
        WritingCommand::Cleanup { ended_jobs: false },
        WritingCommand::Gc { accepts_no_pointers },
    ] {
        plan(&world, command).await.unwrap();
    }
    assert_eq!(world.everything().await, before);
    assert_eq!(world.server.zxid(), zxid);
}

#[tokio::test]
async fn a_checkpoint_is_restored_under_the_id_that_the_counter_gives_and_the_counter_moves_on() {
    let world = World::new().await;
    let plan = plan(
        &world,
        WritingCommand::RestoreCheckpoint(JOB, CheckpointId::FIRST),
    )
    .await
    .unwrap();
    let (name, next) = ("0000000000000000005", CheckpointId::new(5).unwrap());
    assert_eq!(
        changes(&plan),
        [
            (
                Action::WriteFile,
                format!("jobs/JOB/checkpoints/{name}-<a new uuid>")
            ),
            (Action::CreateZnode, format!("jobs/JOB/checkpoints/{name}")),
            (Action::SetZnode, "jobs/JOB/checkpoint_id_counter".to_owned()),
        ]
    );
    let [step] = plan.steps.as_slice() else { panic!() };
    let Work::RestoreCheckpoint(restoration) = &step.work else {
        panic!()
    };
    assert_eq!(restoration.pointer, world.paths.checkpoint(JOB, next));
    let Operation::Set { data, version, .. } = &restoration.counter else {
        panic!()
    };
    assert_eq!((data.as_ref(), *version), (&b"6"[..], Some(0)));
}

#[tokio::test]
async fn a_counter_that_is_behind_or_missing_does_not_give_an_id_again() {
    let world = World::new().await;
    let restore = || {
        plan(
            &world,
            WritingCommand::RestoreCheckpoint(JOB, CheckpointId::FIRST),
        )
    };
    let name = |plan: &Plan| changes(plan)[1].1.clone();
    world
        .write(&world.paths.checkpoint_id_counter(JOB), "2".into())
        .await;
    let behind = restore().await.unwrap();
    assert_eq!(name(&behind), "jobs/JOB/checkpoints/0000000000000000003");
    // A file of a checkpoint that was never published counts too.
    let id = CheckpointId::new(9).unwrap().to_name();
    let orphan = world
        .storage
        .put_state(StateKind::Checkpoint, JOB, &id, Default::default(), "x".into());
    orphan.await.unwrap();
    let above = restore().await.unwrap();
    assert_eq!(name(&above), "jobs/JOB/checkpoints/0000000000000000010");
}

#[tokio::test]
async fn what_cannot_be_restored_is_refused() {
    let world = World::new().await;
    let restore = |id| {
        plan(
            &world,
            WritingCommand::RestoreCheckpoint(JOB, CheckpointId::new(id).unwrap()),
        )
    };
    let kind = async |id| restore(id).await.unwrap_err().kind();
    assert_eq!(kind(7).await, ErrorKind::NotFound);
    let id = CheckpointId::FIRST;
    let files = world
        .storage
        .list_states(StateKind::Checkpoint, Some(JOB))
        .await
        .unwrap();
    let folder = world.storage.local_folder().unwrap();
    std::fs::write(folder.join(&files[1].path), "torn").unwrap();
    assert_eq!(kind(2).await, ErrorKind::Corrupt);
    restore(id.get()).await.unwrap();
    let path = world.paths.job_graph(JOB);
    world
        .put(StateKind::JobGraph, &JOB.to_string(), &path, Some(end()))
        .await;
    assert_eq!(kind(1).await, ErrorKind::Conflict);
}

#[tokio::test]
async fn a_job_is_forgotten_from_its_job_graph_to_its_result() {
    let world = World::new().await;
    world.results.create_dirty_result(&end()).await.unwrap();
    let plan = plan(&world, WritingCommand::Forget(JOB)).await.unwrap();
    let znodes = [
        "jobgraphs/JOB",
        "jobs/JOB/checkpoints/0000000000000000001",
        "jobs/JOB/checkpoints/0000000000000000002",
        "jobs/JOB/checkpoints",
        "jobs/JOB/checkpoint_id_counter",
        "jobs/JOB",
        "running_job_registry/JOB",
    ];
    let files = [
        "jobgraphs/JOB",
        "jobs/JOB/checkpoints/0000000000000000001",
        "jobs/JOB/checkpoints/0000000000000000002",
        "JOB_DIRTY.json",
    ];
    let expected = [
        deletions(&znodes, Action::DeleteZnode),
        deletions(&files, Action::DeleteFile),
    ];
    assert_eq!(changes(&plan), expected.concat());
    let other = JobId::from_bytes([7; 16]);
    let error = super::plans::plan(&world, WritingCommand::Forget(other))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn foreign_znodes_and_the_nodes_above_them_stay() {
    let world = World::new().await;
    let foreign = format!("{}/note", world.paths.checkpoints(JOB));
    world.write(&foreign, "x".into()).await;
    let plan = plan(&world, WritingCommand::Forget(JOB)).await.unwrap();
    let touched = changes(&plan);
    for kept in ["jobs/JOB", "jobs/JOB/checkpoints", "jobs/JOB/checkpoints/note"] {
        assert!(
            touched.iter().all(|(_, path)| path != kept),
            "{kept}: {touched:?}"
        );
    }
}

#[tokio::test]
async fn a_cleanup_ends_with_the_identities_and_leaves_what_is_foreign() {
    let world = World::new().await;
    std::fs::write(world.storage.local_folder().unwrap().join("note"), "x").unwrap();
    let plan = plan(&world, WritingCommand::Cleanup { ended_jobs: false })
        .await
        .unwrap();
    let changes = changes(&plan);
    let first_file = changes
        .iter()
        .position(|(action, _)| *action == Action::DeleteFile);
    let (znodes, files) = changes.split_at(first_file.unwrap());
    assert_eq!(znodes.len(), 7 + 3, "those of the job, and the three folders");
    let last = plan.steps.last().unwrap();
    assert!(matches!(last.work, Work::RemoveRest));
    assert_eq!(files.len(), 3 + last.changes.len());
    assert!(files.iter().any(|(_, path)| path == "identity.json"));
    assert!(files.iter().any(|(_, path)| path == "identity"));
    assert!(changes.iter().all(|(_, path)| path != "note"));
    assert!(plan.broken[0].path.ends_with("/c/note"), "{:?}", plan.broken);
}

#[tokio::test]
async fn a_tree_that_was_lost_is_not_cleaned_up() {
    let world = World::new().await;
    world.write_identity(true).await;
    let error = plan(&world, WritingCommand::Cleanup { ended_jobs: false })
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.advice().contains("--accept-empty-tree"), "{error}");
}

#[tokio::test]
async fn the_clean_up_of_an_ended_job_begins_with_its_result_where_no_file_says_it() {
    let world = World::new().await;
    let path = world.paths.job_graph(JOB);
    world
        .put(StateKind::JobGraph, &JOB.to_string(), &path, Some(end()))
        .await;
    let command = WritingCommand::Cleanup { ended_jobs: true };
    let planned = plan(&world, command.clone()).await.unwrap();
    assert!(matches!(planned.steps[0].work, Work::RecordEnd(JOB)));
    assert!(matches!(planned.steps.last().unwrap().work, Work::MarkClean(JOB)));
    let results = Arc::clone(&world.results);
    results.create_dirty_result(&end()).await.unwrap();
    let planned = plan(&world, command.clone()).await.unwrap();
    assert!(matches!(planned.steps[0].work, Work::DeleteZnodes));
    // A dirty file beside a job that has not ended was left by a deposed process.
    world
        .put(StateKind::JobGraph, &JOB.to_string(), &path, None)
        .await;
    assert!(plan(&world, command).await.unwrap().steps.is_empty());
}

#[tokio::test]
async fn the_mark_of_a_lost_tree_is_taken_out_and_nothing_else() {
    let world = World::new().await;
    assert!(
        plan(&world, WritingCommand::AcceptEmptyTree)
            .await
            .unwrap()
            .steps
            .is_empty()
    );
    world.write_identity(true).await;
    let plan = plan(&world, WritingCommand::AcceptEmptyTree).await.unwrap();
    let [step] = plan.steps.as_slice() else { panic!() };
    let Work::Multi { operations, .. } = &step.work else {
        panic!()
    };
    let [Operation::Set { path, data, version }] = operations.as_slice() else {
        panic!()
    };
    let identity = IdentityData::decode(path, data).unwrap();
    assert!(!identity.tree_lost);
    assert_eq!((path, *version), (&world.paths.identity(), Some(1)));
}
