//! What people and programs are shown by each command that changes a cluster: the table and the document of its dry run,
//! as planned for one cluster. The expected texts stand in `snapshots/`; those of the documents are part of the help.

use std::fs::File;
use std::time::{Duration, SystemTime};

use ha_core::ids::CheckpointId;
use ha_core::jobs::JobResultStore as _;
use ha_storage::StateKind;

use super::world::{JOB, World, end};
use crate::cluster::ClusterHeader;
use crate::render::View;
use crate::report::text_of;
use crate::writes::frame::report;
use crate::writes::{Progress, WritingCommand};

/// What stands for the uuids that each run makes anew.
const UUID: &str = "11111111-2222-3333-4444-555555555555";

/// The text with every uuid replaced, and the folder of the test by one that is the same in each run.
pub(crate) fn settled(text: &str, folder: &str) -> String {
    let mut rest = text.replace(folder, "/data/ha");
    let mut settled = String::new();
    while let Some(first) = rest.chars().next() {
        let is_uuid = rest.get(..UUID.len()).is_some_and(|start| {
            let mut pairs = start.chars().zip(UUID.chars());
            pairs
                .all(|(one, other)| (one == '-') == (other == '-') && (one == '-' || one.is_ascii_hexdigit()))
        });
        let taken = if is_uuid { UUID.len() } else { first.len_utf8() };
        let (start, _) = rest.split_at(taken);
        settled.push_str(if is_uuid { UUID } else { start });
        rest.drain(..taken);
    }
    settled
}

/// Compares what the dry run of a command shows with what stands in `snapshots/`.
async fn compare(name: &str, world: &World, command: WritingCommand) {
    let mut plan = command.plan(&world.view(), &Progress::new()).await.unwrap();
    let folder = world.directory.path().display().to_string();
    for change in plan.steps.iter_mut().flat_map(|step| &mut step.changes) {
        change.path = settled(&change.path, &folder);
        // A checksum has not always as many digits, nor the name of the folder as many letters.
        if change.is_of_znode() && change.size > Some(100) {
            change.size = Some(240);
        }
    }
    for broken in &mut plan.broken {
        broken.path = settled(&broken.path, &folder);
    }
    let header = ClusterHeader {
        cluster_id: "c".to_owned(),
        mode: "zookeeper".to_owned(),
        location: "zk-1:2181,zk-2:2181,zk-3:2181/flink/c".to_owned(),
    };
    let report = report(&command, header, plan, false);
    let table = text_of(&report, &View::plain(0));
    insta::assert_snapshot!(format!("{name}_table"), table);
    let json = serde_json::to_string_pretty(&report).unwrap();
    insta::assert_snapshot!(format!("{name}_json"), json);
}

#[tokio::test]
async fn gc() {
    let world = World::new().await;
    let name = CheckpointId::FIRST.to_name();
    let payload = "of a checkpoint that was subsumed".into();
    let orphan = world
        .storage
        .put_state(StateKind::Checkpoint, JOB, &name, Default::default(), payload)
        .await
        .unwrap();
    let folder = world.storage.local_folder().unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let file = File::options().write(true).open(folder.join(orphan.path));
    file.unwrap().set_modified(long_ago).unwrap();
    std::fs::write(folder.join("note"), "x").unwrap();
    let accepts_no_pointers = false;
    compare("gc", &world, WritingCommand::Gc { accepts_no_pointers }).await;
}

#[tokio::test]
async fn cleanup() {
    let world = World::new().await;
    let ended_jobs = false;
    compare("cleanup", &world, WritingCommand::Cleanup { ended_jobs }).await;
}

#[tokio::test]
async fn cleanup_of_ended_jobs() {
    let world = World::new().await;
    let path = world.paths.job_graph(JOB);
    world
        .put(StateKind::JobGraph, &JOB.to_string(), &path, Some(end()))
        .await;
    let ended_jobs = true;
    compare(
        "cleanup_ended_jobs",
        &world,
        WritingCommand::Cleanup { ended_jobs },
    )
    .await;
}

#[tokio::test]
async fn forget() {
    let world = World::new().await;
    world.results.create_dirty_result(&end()).await.unwrap();
    compare("forget", &world, WritingCommand::Forget(JOB)).await;
}

#[tokio::test]
async fn restore() {
    let world = World::new().await;
    let command = WritingCommand::RestoreCheckpoint(JOB, CheckpointId::FIRST);
    compare("restore", &world, command).await;
}

#[tokio::test]
async fn accept_empty_tree() {
    let world = World::new().await;
    world.write_identity(true).await;
    compare("accept_empty_tree", &world, WritingCommand::AcceptEmptyTree).await;
}
