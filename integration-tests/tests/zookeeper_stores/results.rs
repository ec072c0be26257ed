//! The end of a job: decided in the pointer, recorded in a file, never undone (I7).

use ha_core::jobs::{ApplicationStatus, JobGraphStore as _, JobResultStore as _};
use ha_core::{Effect, ErrorKind};
use ha_storage::FileSystemJobResultStore;
use ha_testkit::contract::{ended, graph, job};

use crate::faulty_client::Fault;
use crate::rig::Rig;

#[tokio::test(flavor = "multi_thread")]
async fn b42_a_job_with_a_recorded_end_never_runs_again() {
    let rig = Rig::new().await;
    let leader = rig.leader().await;
    let graphs = leader.job_graphs().await;
    for number in [1, 2] {
        graphs.put_job_graph(&graph(job(number), "a")).await.unwrap();
    }
    let mut end = ended(job(1), ApplicationStatus::Failed);
    end.result.failure_cause = Some("x".repeat(20_000));
    leader.results.create_dirty_result(&end).await.unwrap();
    let pointer = rig
        .admin
        .text(&rig.paths.job_graph(job(1)))
        .await
        .unwrap()
        .unwrap();
    assert!(
        pointer.contains(r#""terminal":{"result":{"id""#) && pointer.len() < 8192,
        "{pointer}"
    );
    // The file holds what the pointer has no room for.
    assert_eq!(
        leader.results.job_result_entry(job(1)).await.unwrap(),
        Some(end.clone())
    );
    assert_eq!(leader.results.dirty_results().await.unwrap().entries, [end]);
    let again = ended(job(1), ApplicationStatus::Succeeded);
    let error = leader.results.create_dirty_result(&again).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    // For the store that put it, and for every other one.
    for store in [graphs, leader.job_graphs().await] {
        assert_eq!(store.recover_job_graph(job(1)).await.unwrap(), None);
        assert_eq!(
            store.recover_job_graphs().await.unwrap().entries,
            [graph(job(2), "a")]
        );
        let error = store.put_job_graph(&graph(job(1), "b")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert!(error.is_safe_to_repeat());
    }
    assert_eq!(rig.files_with("/jobgraphs/").len(), 2);
    leader.session.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b41_the_next_leader_writes_the_file_that_the_old_one_could_not() {
    let rig = Rig::new().await;
    let leader = rig.leader().await;
    let graphs = leader.job_graphs().await;
    graphs.put_job_graph(&graph(job(1), "a")).await.unwrap();
    let end = ended(job(1), ApplicationStatus::Succeeded);
    leader.results.create_dirty_result(&end).await.unwrap();
    std::fs::remove_file(rig.files_with("_DIRTY.json").remove(0)).unwrap();
    // Whoever only looks sees the end and writes nothing.
    let observer = rig.process().await;
    assert!(observer.results.has_job_result_entry(job(1)).await.unwrap());
    assert!(observer.results.has_dirty_job_result_entry(job(1)).await.unwrap());
    assert_eq!(
        observer.results.dirty_results().await.unwrap().entries,
        std::slice::from_ref(&end)
    );
    assert!(rig.files_with("_DIRTY.json").is_empty());
    leader.session.close().await;
    let next = rig.leader().await;
    assert_eq!(next.results.dirty_results().await.unwrap().entries, [end]);
    assert_eq!(rig.files_with("_DIRTY.json").len(), 1);
    for process in [observer, next] {
        process.session.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_a_deposed_process_left_ends_no_job() {
    let rig = Rig::new().await;
    let leader = rig.leader().await;
    let graphs = leader.job_graphs().await;
    // The end of a job without a graph is in the file alone; then the graph comes up beside it.
    let stale = ended(job(1), ApplicationStatus::Failed);
    leader.results.create_dirty_result(&stale).await.unwrap();
    graphs.put_job_graph(&graph(job(1), "a")).await.unwrap();
    assert!(!leader.results.has_job_result_entry(job(1)).await.unwrap());
    assert_eq!(leader.results.job_result_entry(job(1)).await.unwrap(), None);
    let dirty = leader.results.dirty_results().await.unwrap();
    assert!(dirty.entries.is_empty());
    assert_eq!(dirty.broken.len(), 1, "{:?}", dirty.broken);
    assert!(leader.context.health.snapshot().is_degraded());
    assert!(graphs.recover_job_graph(job(1)).await.unwrap().is_some());
    let end = ended(job(1), ApplicationStatus::Succeeded);
    leader.results.create_dirty_result(&end).await.unwrap();
    assert_eq!(
        leader.results.dirty_results().await.unwrap().entries,
        std::slice::from_ref(&end)
    );
    leader.results.mark_result_as_clean(job(1)).await.unwrap();
    assert_eq!(leader.results.clean_results().await.unwrap().entries, [end]);
    leader.session.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pointer_outweighs_the_file_of_another_end() {
    let rig = Rig::new().await;
    let leader = rig.leader().await;
    let graphs = leader.job_graphs().await;
    graphs.put_job_graph(&graph(job(1), "a")).await.unwrap();
    let end = ended(job(1), ApplicationStatus::Succeeded);
    leader.results.create_dirty_result(&end).await.unwrap();
    // As a deposed process leaves it: written late, over nothing or over the right one.
    let storage = std::sync::Arc::clone(&leader.context.storage);
    FileSystemJobResultStore::in_storage(storage, false, leader.context.health.clone())
        .record_decided_result(&ended(job(1), ApplicationStatus::Failed))
        .await
        .unwrap();
    assert_eq!(
        leader.results.job_result_entry(job(1)).await.unwrap(),
        Some(end.clone())
    );
    assert_eq!(
        leader.results.dirty_results().await.unwrap().entries,
        std::slice::from_ref(&end)
    );
    leader.results.mark_result_as_clean(job(1)).await.unwrap();
    assert_eq!(leader.results.clean_results().await.unwrap().entries, [end]);
    leader.session.close().await;
}

/// The end's reply is lost together with the leadership: either it was applied, and then the call says so and the next
/// leader only cleans up, or it was not, and then the call says that it cannot tell and the next leader runs the job.
#[tokio::test(flavor = "multi_thread")]
async fn b41_an_end_whose_reply_is_lost_with_leadership_is_recorded_or_the_job_goes_on() {
    for is_applied in [true, false] {
        let rig = Rig::new().await;
        let leader = rig.leader().await;
        let graphs = leader.job_graphs().await;
        graphs.put_job_graph(&graph(job(1), "a")).await.unwrap();
        let end = ended(job(1), ApplicationStatus::Failed);
        let (admin, latch) = (rig.admin.clone(), leader.latch());
        let depose = Box::new(move || {
            Box::pin(async move { admin.delete(&latch).await.unwrap() })
                as ha_core::environment::BoxFuture<()>
        });
        leader.clients.next([match is_applied {
            true => Fault::LoseReplyAnd(depose),
            false => Fault::LoseRequestAnd(depose),
        }]);
        let outcome = leader.results.create_dirty_result(&end).await;
        leader.session.close().await;
        let next = rig.leader().await;
        let dirty = next.results.dirty_results().await.unwrap().entries;
        let recovered = next.job_graphs().await.recover_job_graph(job(1)).await.unwrap();
        match is_applied {
            true => {
                outcome.unwrap();
                assert_eq!((dirty, recovered), (vec![end], None));
            }
            false => {
                let error = outcome.unwrap_err();
                assert_eq!(
                    (error.kind(), error.effect()),
                    (ErrorKind::NotLeader, Effect::Unknown)
                );
                assert_eq!((dirty, recovered), (vec![], Some(graph(job(1), "a"))));
            }
        }
        next.session.close().await;
    }
}
