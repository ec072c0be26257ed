//! What a deposed process left beside a job that has not ended, and what only looks so.

use ha_core::jobs::{ApplicationStatus, JobGraphStore, JobResultStore as _};
use ha_storage::FileSystemJobResultStore;
use ha_testkit::contract::ended;

use super::*;

/// A job graph in the tree of `context`, and the results of its storage.
async fn running_job(context: &StoreContext) -> Arc<FileSystemJobResultStore> {
    let graphs = ZooKeeperJobGraphStore::new(context.clone());
    graphs
        .start(Arc::new(RecordingJobGraphListener::new()))
        .await
        .unwrap();
    graphs.put_job_graph(&graph(job(1), "a")).await.unwrap();
    graphs.stop().await.unwrap();
    FileSystemJobResultStore::in_storage(Arc::clone(&context.storage), false, context.health.clone())
}

#[tokio::test]
async fn what_a_deposed_process_left_is_not_made_clean() {
    let (context, _server) = context();
    let files = running_job(&context).await;
    let end = ended(job(1), ApplicationStatus::Succeeded);
    files.create_dirty_result(&end).await.unwrap();
    let results = ZooKeeperJobResultStore::new(context.clone(), Arc::clone(&files));
    let error = results.mark_result_as_clean(job(1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    assert!(error.is_safe_to_repeat(), "{error}");
    assert!(files.has_dirty_job_result_entry(job(1)).await.unwrap());
    assert!(!results.has_job_result_entry(job(1)).await.unwrap());
}

/// Gives a client of the first server once, then of the second.
struct Then {
    first: Mutex<Option<MemoryServer>>,
    second: MemoryServer,
}

#[async_trait]
impl ClientSource for Then {
    async fn client(&self) -> Result<Arc<dyn ZooKeeperClient>> {
        let first = self.first.lock().unwrap().take();
        let server = first.as_ref().unwrap_or(&self.second);
        Ok(Arc::new(server.client(1)))
    }
}

#[tokio::test]
async fn a_job_that_ends_between_its_pointer_and_its_file_has_ended() {
    // Two servers are one tree at two times: the pointer was read before the job ended, its file afterwards.
    let (before, server_before) = context();
    let files = running_job(&before).await;
    let (mut after, server) = context();
    after.storage = Arc::clone(&before.storage);
    after.health = before.health.clone();
    running_job(&after).await;
    let end = ended(job(1), ApplicationStatus::Succeeded);
    let ending = ZooKeeperJobResultStore::new(after.clone(), Arc::clone(&files));
    ending.create_dirty_result(&end).await.unwrap();

    let clients = Then {
        first: Mutex::new(Some(server_before)),
        second: server,
    };
    let writer = FencedWriter::new(
        Arc::new(clients),
        LeadershipFence::new(),
        after.writer.paths().clone(),
        Arc::new(Anybody),
    );
    let reading = StoreContext { writer, ..after };
    let results = ZooKeeperJobResultStore::new(reading.clone(), files);
    let dirty = results.dirty_results().await.unwrap();
    assert_eq!(dirty.broken, [], "nobody was deposed");
    assert_eq!(dirty.entries, [end]);
    assert!(reading.health.snapshot().broken.is_empty());
}
