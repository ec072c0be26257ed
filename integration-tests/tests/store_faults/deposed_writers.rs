//! Every kind of write of a leader that is queued while another process takes over and goes on: it is refused where it
//! arrives late, says so, and removes no file (I2, I8).
//!
//! Each case runs once for every request that carries the write or is one of its steps. The request is held back on
//! its way, the latch of its leader goes, the next leader writes to the same job and to another one, and then the
//! request arrives. The old leader learns of all this by the refusal alone: no event reaches it, and no time passes
//! for it, so that its lease holds and no heartbeat asks. So nothing but the check in the request can refuse it: a
//! version that the next leader changed is read again, and the write sent again.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use ha_core::blobs::BlobStore;
use ha_core::checkpoints::{CheckpointIdCounter, CompletedCheckpointStore};
use ha_core::environment::BoxFuture;
use ha_core::ids::{BlobKey, ComponentId};
use ha_core::jobs::{ApplicationStatus, JobGraphStore, JobStatus};
use ha_core::services::HighAvailabilityServices as _;
use ha_core::{ErrorKind, Result};
use ha_testkit::contract::{checkpoint, checkpoint_id, ended, graph, job};
use ha_zookeeper::services::ZooKeeperHaServices;
use integration_tests::AdminClient;
use integration_tests::proxy::{Direction, RequestFilter, RequestKind, RequestView};
use tokio::task::JoinSet;

use crate::rig::{Cluster, Member};

/// The stores of the old leader, opened before it is deposed.
struct Old {
    member: Member,
    graphs: Arc<dyn JobGraphStore>,
    checkpoints: Arc<dyn CompletedCheckpointStore>,
    counter: Arc<dyn CheckpointIdCounter>,
    blobs: Arc<dyn BlobStore>,
    blob: BlobKey,
    file: PathBuf,
}

impl Old {
    fn services(&self) -> &ZooKeeperHaServices {
        &self.member.services
    }

    async fn end(&self, number: u8) -> Result<()> {
        let end = ended(job(number), ApplicationStatus::Failed);
        self.member
            .services
            .job_result_store()
            .create_dirty_result(&end)
            .await
    }
}

/// Job 1 has everything that a job has and runs; job 2 has all of it too, and has ended; job 3 was never there.
async fn old_leader(cluster: &Cluster) -> Old {
    let member = cluster.leader("old").await;
    let file = cluster.local.path().join("library");
    std::fs::write(&file, b"library").unwrap();
    let blobs = member.services.create_blob_store().await.unwrap();
    let graphs = member.job_graphs().await;
    let registry = member.services.running_jobs_registry();
    let blob = blobs.create_key(&file).await.unwrap();
    for number in [1, 2] {
        graphs.put_job_graph(&graph(job(number), "old")).await.unwrap();
        let store = member.checkpoints(job(number), 1).await;
        store.add_and_subsume(checkpoint(job(number), 1)).await.unwrap();
        member.counter(job(number)).await;
        registry.set_job_running(job(number)).await.unwrap();
        assert!(blobs.put(&file, job(number), &blob).await.unwrap());
    }
    let end = ended(job(2), ApplicationStatus::Succeeded);
    let results = member.services.job_result_store();
    results.create_dirty_result(&end).await.unwrap();
    Old {
        checkpoints: member.checkpoints(job(1), 1).await,
        counter: member.counter(job(1)).await,
        member,
        graphs,
        blobs,
        blob,
        file,
    }
}

/// What the next leader does: recovers, writes to job 1, and begins another job.
async fn go_on(next: &Member) {
    next.contend().await;
    next.contender.wait_for_grant().await;
    let graphs = next.job_graphs().await;
    graphs.recover_job_graphs().await.unwrap();
    graphs.put_job_graph(&graph(job(4), "next")).await.unwrap();
    let store = next.checkpoints(job(1), 1).await;
    store.add_and_subsume(checkpoint(job(1), 50)).await.unwrap();
    let counter = next.counter(job(1)).await;
    counter.get_and_increment().await.unwrap();
    next.services
        .running_jobs_registry()
        .set_job_running(job(4))
        .await
        .unwrap();
}

type Write = fn(Arc<Old>) -> BoxFuture<Result<()>>;

/// The fenced multis of stores and clean-ups: all but those of the election. The last one of a clean-up of everything
/// is left out: before it the identity is given up, and nobody leads any more.
fn of_stores(cluster: &Cluster) -> RequestFilter {
    let paths = &cluster.paths;
    let dispatcher = ComponentId::dispatcher();
    let others = [
        paths.latches(),
        paths.leader_of(&dispatcher),
        paths.connection_info(&dispatcher),
        paths.identity(),
    ];
    RequestFilter::matching(move |request: &RequestView| {
        let mut operations = request.operations.iter();
        let is_fenced = operations
            .next()
            .is_some_and(|first| first.kind == RequestKind::Check);
        request.kind == RequestKind::Multi
            && is_fenced
            && operations.all(|operation| !others.contains(&operation.path))
    })
}

/// Deposes the old leader while the `nth` multi of `write` is on its way; false when it has not so many.
async fn depose_at(write: Write, nth: usize) -> bool {
    let cluster = Cluster::new().await;
    let old = Arc::new(old_leader(&cluster).await);
    let next = cluster.member("next").await;
    let before = files(&cluster);
    old.member.proxy.swallow_events(true);
    old.member.clock.hold();
    // A heartbeat that was on its way looks like the check of a step. It has passed the proxy when this is answered.
    old.graphs.job_ids().await.unwrap();
    let held = old.member.proxy.hold_from(of_stores(&cluster), nth);
    let mut writing = JoinSet::new();
    writing.spawn(write(Arc::clone(&old)));
    tokio::select! {
        // It has fewer steps.
        outcome = writing.join_next() => {
            assert!(!held.has_happened());
            outcome.unwrap().unwrap().unwrap();
            old.member.clock.release();
            next.services.close().await.unwrap();
            return false;
        }
        happened = held.happened() => happened.unwrap(),
    }
    let own: BTreeSet<_> = files(&cluster).difference(&before).cloned().collect();
    for latch in cluster.admin.children(&cluster.paths.latches()).await.unwrap() {
        cluster.admin.delete(&cluster.paths.latch(&latch)).await.unwrap();
    }
    go_on(&next).await;
    let (znodes, standing) = (cluster.znodes().await, files(&cluster));
    old.member.proxy.hold(Direction::ToServer, false);
    let late = writing.join_next().await.unwrap().unwrap();
    old.member.clock.release();
    // If it landed this names the step.
    let error = late.map(|()| nth).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotLeader, "step {nth}: {error}");
    assert!(error.is_safe_to_repeat(), "step {nth}: {error}");
    AdminClient::expect_unchanged(&znodes, &cluster.znodes().await).unwrap();
    // It may take away what it has put itself and nothing names.
    let without_own = |files: BTreeSet<PathBuf>| files.difference(&own).cloned().collect::<BTreeSet<_>>();
    assert_eq!(without_own(files(&cluster)), without_own(standing), "step {nth}");
    // The next leader has it all.
    let newest = next.checkpoints(job(1), 1).await.latest().await.unwrap();
    assert_eq!(newest, Some(checkpoint(job(1), 50)));
    for services in [&old.member.services, &next.services] {
        services.close().await.unwrap();
    }
    true
}

fn files(cluster: &Cluster) -> BTreeSet<PathBuf> {
    cluster.files().into_iter().collect()
}

/// Deposes the old leader at every step of `write`, of which there is one at least.
async fn is_refused_at_every_step(write: Write) {
    let mut step = 1;
    while depose_at(write, step).await {
        step += 1;
    }
    assert!(step > 1, "nothing was written");
}

/// A test for each write of the old leader.
macro_rules! refused {
    ($(#[test] fn $name:ident($old:ident) $write:block)*) => {$(
        #[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            is_refused_at_every_step(|$old| Box::pin(async move { $write })).await;
        }
    )*};
}

refused! {
    #[test]
    fn a_late_put_of_a_job_graph_is_refused(old) {
        old.graphs.put_job_graph(&graph(job(3), "late")).await
    }

    #[test]
    fn a_late_replacement_of_a_job_graph_is_refused(old) {
        old.graphs.put_job_graph(&graph(job(1), "late")).await
    }

    #[test]
    fn a_late_removal_of_a_job_graph_is_refused(old) {
        old.graphs.remove_job_graph(job(1)).await
    }

    #[test]
    fn a_late_checkpoint_is_refused_and_subsumes_nothing(old) {
        old.checkpoints.add_and_subsume(checkpoint(job(1), 2)).await
    }

    #[test]
    fn a_late_removal_of_all_checkpoints_is_refused(old) {
        old.checkpoints.shutdown(JobStatus::Finished).await
    }

    #[test]
    fn a_late_increment_is_refused(old) {
        old.counter.get_and_increment().await.map(drop)
    }

    #[test]
    fn a_late_setting_of_the_counter_is_refused(old) {
        old.counter.set_count(checkpoint_id(1000)).await
    }

    #[test]
    fn a_late_removal_of_the_counter_is_refused(old) {
        old.counter.shutdown(JobStatus::Finished).await
    }

    #[test]
    fn a_late_end_of_a_job_is_refused(old) {
        old.end(1).await
    }

    #[test]
    fn a_late_end_of_a_job_without_a_graph_is_refused(old) {
        old.end(3).await
    }

    #[test]
    fn a_late_mark_of_a_clean_result_is_refused(old) {
        old.services().job_result_store().mark_result_as_clean(job(2)).await
    }

    #[test]
    fn a_late_registration_of_a_running_job_is_refused(old) {
        old.services().running_jobs_registry().set_job_running(job(3)).await
    }

    #[test]
    fn a_late_registration_of_a_finished_job_is_refused(old) {
        old.services().running_jobs_registry().set_job_finished(job(1)).await
    }

    #[test]
    fn a_late_removal_from_the_registry_is_refused(old) {
        old.services().running_jobs_registry().clear_job(job(1)).await
    }

    #[test]
    fn a_late_blob_is_refused(old) {
        let key = old.blobs.create_key(&old.file).await?;
        old.blobs.put(&old.file, job(1), &key).await.map(drop)
    }

    #[test]
    fn a_late_removal_of_a_blob_is_refused(old) {
        old.blobs.delete(job(1), &old.blob).await.map(drop)
    }

    #[test]
    fn a_late_removal_of_a_jobs_blobs_is_refused(old) {
        old.blobs.delete_all(job(1)).await.map(drop)
    }

    #[test]
    fn a_late_removal_of_all_blobs_is_refused(old) {
        old.blobs.close_and_cleanup_all_data().await
    }

    #[test]
    fn a_late_clean_up_of_a_job_is_refused_at_every_step(old) {
        old.services().global_cleanup(job(2)).await
    }

    #[test]
    fn a_late_clean_up_of_everything_is_refused_at_every_step(old) {
        old.services().close_and_cleanup_all_data().await
    }
}
