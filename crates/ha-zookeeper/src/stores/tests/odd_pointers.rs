//! Pointers that do not fit their job, and files that cannot be deleted: they cost the others nothing.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use ha_core::environment::{StepObserver, steps};

use super::*;
use crate::client::CreateMode;
use crate::stores::state_files::Deletions;

async fn store_of(context: &StoreContext, number: u8, retained: usize) -> ZooKeeperCompletedCheckpointStore {
    ZooKeeperCompletedCheckpointStore::recover(context.clone(), job(number), retained)
        .await
        .unwrap()
}

#[tokio::test]
async fn subsuming_a_pointer_to_another_jobs_file_leaves_that_file() {
    let (context, server) = context();
    let other = store_of(&context, 2, 1).await;
    other.add_and_subsume(checkpoint(job(2), 1)).await.unwrap();
    let own = store_of(&context, 1, 3).await;
    own.add_and_subsume(checkpoint(job(1), 2)).await.unwrap();
    // The whole pointer of the other job, under this one's name and the same id.
    let paths = context.writer.paths();
    let id = checkpoint(job(1), 1).checkpoint_id;
    let client = server.client(1);
    let (data, _) = client.get(&paths.checkpoint(job(2), id)).await.unwrap();
    let copy = paths.checkpoint(job(1), id);
    client.create(&copy, data, CreateMode::Persistent).await.unwrap();

    let own = store_of(&context, 1, 1).await;
    assert!(context.health.snapshot().broken.contains_key(&copy));
    own.add_and_subsume(checkpoint(job(1), 3)).await.unwrap();
    assert_eq!(own.all().await.unwrap(), [checkpoint(job(1), 3)]);
    let found = store_of(&context, 2, 1).await.latest().await.unwrap();
    assert_eq!(found, Some(checkpoint(job(2), 1)), "its file is there");
}

/// Counts deletions of the files of subsumed checkpoints.
#[derive(Clone, Default)]
struct Subsumed(Arc<AtomicUsize>);

impl StepObserver for Subsumed {
    fn reached(&self, step: &'static str) {
        if step == steps::SUBSUME_CHECKPOINT_FILE.before {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Puts folders in the place of all files of a folder: none of them can be deleted as a file.
fn block(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::remove_file(&path).unwrap();
            std::fs::create_dir(&path).unwrap();
        }
    }
}

#[tokio::test]
async fn b34_files_that_cannot_be_deleted_do_not_slow_down_one_add_after_the_other() {
    let (mut context, _server) = context();
    let subsumed = Subsumed::default();
    let directory = tempfile::tempdir().unwrap();
    context.environment = context.environment.with_step_observer(Arc::new(subsumed.clone()));
    let id = ClusterId::new("c").unwrap();
    context.storage = HaStorage::open(directory.path().to_str().unwrap(), &id, &context.environment)
        .await
        .unwrap();
    let store = store_of(&context, 1, 1).await;
    let folder = directory.path().join(format!("c/jobs/{}/checkpoints", job(1)));
    for id in 1..=20 {
        store.add_and_subsume(checkpoint(job(1), id)).await.unwrap();
        let attempts = subsumed.0.swap(0, Ordering::SeqCst);
        assert!(
            attempts <= 2,
            "the add of {id} made {attempts} attempts at deletions"
        );
        block(&folder);
    }
    // Once they can be deleted again they are, all of them with the next one.
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        std::fs::remove_dir(&path).unwrap();
        std::fs::write(&path, "").unwrap();
    }
    store.add_and_subsume(checkpoint(job(1), 21)).await.unwrap();
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
}

#[tokio::test]
async fn a_deletion_that_is_dropped_forgets_no_file_but_the_one_under_way() {
    let (mut context, _server) = context();
    let directory = tempfile::tempdir().unwrap();
    let id = ClusterId::new("c").unwrap();
    context.storage = HaStorage::open(directory.path().to_str().unwrap(), &id, &context.environment)
        .await
        .unwrap();
    let mut paths = Vec::new();
    for number in 1..=3 {
        let name = job(number).to_string();
        let putting = context.storage.put_state(
            StateKind::JobGraph,
            job(number),
            &name,
            Default::default(),
            "".into(),
        );
        paths.push(putting.await.unwrap().path);
    }
    let deletions = Deletions::default();
    let step = steps::REMOVE_GRAPH_FILE;
    let mut dropped = Box::pin(deletions.delete(&context, step, paths));
    // A file of a local folder is not deleted before this returns.
    assert!(futures::poll!(&mut dropped).is_pending());
    drop(dropped);
    deletions.delete(&context, step, []).await;
    let left = context
        .storage
        .list_states(StateKind::JobGraph, None)
        .await
        .unwrap();
    assert!(left.len() <= 1, "{left:?}");
}
