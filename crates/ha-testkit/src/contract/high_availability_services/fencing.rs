//! Cases about who may write: of services that ever started an election only the leader (I2).

use std::sync::Arc;

use ha_core::election::LeaderElectionService;
use ha_core::ids::BlobKey;
use ha_core::jobs::ApplicationStatus;
use ha_core::{Error, ErrorKind};

use super::super::{Fixture, checkpoint, ended, graph, job};
use super::{Kept, Subject, graphs, write_job};
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
async fn try_all_writes(services: &Subject) -> Vec<(&'static str, Option<Error>)> {
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
    vec![
        ("put_job_graph", put.err()),
        ("remove_job_graph", removed.err()),
        ("add_and_subsume", added.await.err()),
        ("get_and_increment", counted.await.err()),
        ("set_job_finished", registry.set_job_finished(job(1)).await.err()),
        ("clear_job", registry.clear_job(job(1)).await.err()),
        (
            "create_dirty_result",
            services.job_result_store().create_dirty_result(&end).await.err(),
        ),
    ]
}

/// Each write is refused as `NotLeader`, and none was applied.
async fn nothing_is_written(services: &Subject, reader: &Subject, key: BlobKey) {
    for (write, error) in try_all_writes(services).await {
        let error = error.unwrap_or_else(|| panic!("{write} succeeded"));
        assert_eq!(error.kind(), ErrorKind::NotLeader, "{write}: {error}");
        assert!(error.is_safe_to_repeat(), "{write}: {error}");
    }
    let unchanged = Kept::read_only(reader, key).await;
    assert_eq!(unchanged, Kept::all(key));
}

impl Kept {
    /// What is kept of job 1, read without a counter (whose start may write).
    async fn read_only(services: &Subject, key: BlobKey) -> Self {
        let store = graphs(services).await;
        let graph = store.recover_job_graph(job(1)).await.unwrap().is_some();
        assert_eq!(store.recover_job_graph(job(3)).await.unwrap(), None);
        store.stop().await.unwrap();
        let checkpoints = services
            .checkpoint_recovery_factory()
            .create_recovered_completed_checkpoint_store(job(1), 3)
            .await
            .unwrap();
        let registry = services.running_jobs_registry();
        let results = services.job_result_store();
        Self {
            graph,
            checkpoints: checkpoints
                .all()
                .await
                .unwrap()
                .iter()
                .map(|checkpoint| checkpoint.checkpoint_id.get())
                .collect(),
            counted: true,
            running: registry.running_job_ids().await.unwrap() == [job(1)],
            blobs: vec![key],
            ended: results.has_job_result_entry(job(1)).await.unwrap(),
        }
    }
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
    write_job(&services, job(1)).await;
    for (write, error) in try_all_writes(&services).await {
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
