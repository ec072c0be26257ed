//! Cases about who may write: of services that ever started an election only the leader (I2).

use std::sync::Arc;

use ha_core::election::LeaderElectionService;
use ha_core::ids::BlobKey;
use ha_core::jobs::ApplicationStatus;
use ha_core::{Error, ErrorKind};

use super::super::{Fixture, checkpoint, ended, graph, job};
use super::{Kept, Subject, counter, graphs, write_job};
use crate::fakes::RecordingContender;

/// Leads the dispatcher.
async fn lead(services: &Subject) -> Arc<dyn LeaderElectionService> {
    let election = services.dispatcher_leader_election();
    let contender = RecordingContender::confirming("a:1");
    contender.contend(&election).await;
    contender.wait_for_grant().await;
    election
}

/// Tries each write of the stores for a job whose data [`write_job`] wrote, and gives the errors.
async fn try_all_writes(services: &Subject, key: BlobKey) -> Vec<(&'static str, Option<Error>)> {
    let store = graphs(services).await;
    let put = store.put_job_graph(&graph(job(3), "new")).await;
    store.recover_job_graph(job(1)).await.unwrap();
    let removed = store.remove_job_graph(job(1)).await;
    store.stop().await.unwrap();
    let factory = services.checkpoint_recovery_factory();
    let added = async {
        factory
            .create_recovered_completed_checkpoint_store(job(1), 1)
            .await?
            .add_and_subsume(checkpoint(job(1), 9))
            .await
    };
    let counted = async {
        let counter = factory.create_checkpoint_id_counter(job(1)).await?;
        counter.start().await?;
        counter.get_and_increment().await
    };
    let registry = services.running_jobs_registry();
    let end = ended(job(1), ApplicationStatus::Failed);
    let results = services.job_result_store();
    let blobs = services.create_blob_store().await.unwrap();
    let local = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(local.path(), b"new content").unwrap();
    let new_key = blobs.create_key(local.path()).await.unwrap();
    let put_blob = blobs.put(local.path(), job(3), &new_key).await;
    vec![
        ("put_job_graph", put.err()),
        ("remove_job_graph", removed.err()),
        ("add_and_subsume", added.await.err()),
        ("get_and_increment", counted.await.err()),
        ("set_job_finished", registry.set_job_finished(job(1)).await.err()),
        ("clear_job", registry.clear_job(job(1)).await.err()),
        (
            "create_dirty_result",
            results.create_dirty_result(&end).await.err(),
        ),
        (
            "mark_result_as_clean",
            results.mark_result_as_clean(job(1)).await.err(),
        ),
        ("put of a blob", put_blob.err()),
        ("delete of a blob", blobs.delete(job(1), &key).await.err()),
        ("delete_all of blobs", blobs.delete_all(job(1)).await.err()),
        (
            "clean-up of all blobs",
            blobs.close_and_cleanup_all_data().await.err(),
        ),
    ]
}

/// Each write is refused as `NotLeader`, and none was applied. `reader` may write.
async fn nothing_is_written(services: &Subject, reader: &Subject, key: BlobKey) {
    for (write, error) in try_all_writes(services, key).await {
        let error = error.unwrap_or_else(|| panic!("{write} succeeded"));
        assert_eq!(error.kind(), ErrorKind::NotLeader, "{write}: {error}");
        assert!(error.is_safe_to_repeat(), "{write}: {error}");
    }
    assert_eq!(Kept::read(reader, job(1)).await, Kept::all(key));
    assert_eq!(counter(reader, job(1)).await.get().await.unwrap().get(), 2);
    assert_eq!(Kept::read(reader, job(3)).await, Kept::default());
}

/// Who led once writes nothing after leadership was given up, though nobody else leads.
pub async fn former_leader_cannot_write<F: Fixture<Subject = Subject>>(fixture: F) {
    let (services, reader) = (fixture.open().await, fixture.open().await);
    let key = write_job(&services, job(1)).await;
    lead(&services).await.stop().await.unwrap();
    nothing_is_written(&services, &reader, key).await;
}

/// Who stands behind a leader writes nothing.
pub async fn standby_cannot_write<F: Fixture<Subject = Subject>>(fixture: F) {
    let (first, second) = (fixture.open().await, fixture.open().await);
    let key = write_job(&second, job(1)).await;
    let _election = lead(&first).await;
    let election = second.dispatcher_leader_election();
    let standby = RecordingContender::confirming("b:2");
    standby.contend(&election).await;
    nothing_is_written(&second, &first, key).await;
    assert!(standby.calls().is_empty());
}

/// Who leads writes all.
pub async fn leader_can_write<F: Fixture<Subject = Subject>>(fixture: F) {
    let services = fixture.open().await;
    let _election = lead(&services).await;
    let key = write_job(&services, job(1)).await;
    for (write, error) in try_all_writes(&services, key).await {
        assert!(error.is_none(), "{write}: {error:?}");
    }
}

/// Services that stand in no election do not write while somebody else contends.
pub async fn tool_cannot_write_beside_a_contender<F: Fixture<Subject = Subject>>(fixture: F) {
    let (tool, leader) = (fixture.open().await, fixture.open().await);
    // While nobody contends they may.
    let key = write_job(&tool, job(1)).await;
    let _election = lead(&leader).await;
    nothing_is_written(&tool, &leader, key).await;
}

/// Cleaning up all is `NotLeader` while somebody else contends, and removes nothing.
pub async fn cleanup_of_all_is_refused_beside_a_contender<F: Fixture<Subject = Subject>>(fixture: F) {
    let (services, leader) = (fixture.open().await, fixture.open().await);
    let key = write_job(&services, job(1)).await;
    let _election = lead(&leader).await;
    let error = services.close_and_cleanup_all_data().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotLeader);
    assert_eq!(Kept::read(&leader, job(1)).await, Kept::all(key));
}
