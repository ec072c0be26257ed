//! No write of a deposed leader is applied, and none of its files replaces or removes another's (I2, I5).

use ha_core::jobs::{
    ApplicationStatus, JobGraphStore as _, JobResultStore as _, JobStatus, RunningJobsRegistry as _,
};
use ha_core::services::HighAvailabilityServices as _;
use ha_core::{Error, ErrorKind};
use ha_testkit::contract::{checkpoint, ended, graph, job};
use ha_zookeeper::client::ZkCode;
use integration_tests::AdminClient;

use crate::rig::Rig;

fn assert_not_leader<T>(outcome: Result<T, Error>, what: &str) {
    let error = outcome.err();
    assert!(error.is_some(), "{what} was let through");
    let error = error.unwrap();
    assert_eq!(error.kind(), ErrorKind::NotLeader, "{what}: {error}");
    assert!(error.is_safe_to_repeat(), "{what}: {error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_is_refused_once_the_latch_is_changed_or_gone_and_the_election_is_told() {
    let rig = Rig::new().await;
    for (code, deleted) in [(ZkCode::BadVersion, false), (ZkCode::NoNode, true)] {
        let leader = rig.leader().await;
        let graphs = leader.job_graphs().await;
        graphs.put_job_graph(&graph(job(1), "a")).await.unwrap();
        let before = rig.files();
        match deleted {
            true => rig.admin.delete(&leader.latch()).await.unwrap(),
            false => rig.admin.set(&leader.latch(), b"x").await.unwrap(),
        }
        let mut refusals = leader.fence.refusals();
        assert_not_leader(graphs.put_job_graph(&graph(job(1), "b")).await, "put");
        let refusal = refusals.latest().unwrap();
        assert_eq!(refusal.code, code);
        assert_eq!(refusal.session, leader.fence.current().unwrap().unwrap().session);
        // The new file was certainly not published, so it is gone again.
        assert_eq!(rig.files(), before);
        leader.session.close().await;
        let next = rig.leader().await;
        let graphs = next.job_graphs().await;
        assert_eq!(
            graphs.recover_job_graph(job(1)).await.unwrap(),
            Some(graph(job(1), "a"))
        );
        graphs.remove_job_graph(job(1)).await.unwrap();
        next.session.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deposed_process_changes_no_znode_and_no_file() {
    let rig = Rig::new().await;
    let old = rig.leader().await;
    let graphs = old.job_graphs().await;
    graphs.put_job_graph(&graph(job(1), "a")).await.unwrap();
    graphs.put_job_graph(&graph(job(2), "a")).await.unwrap();
    let checkpoints = old.checkpoints(job(1), 1).await;
    checkpoints.add_and_subsume(checkpoint(job(1), 1)).await.unwrap();
    let counter = old.counter(job(1)).await;
    old.registry.set_job_running(job(1)).await.unwrap();
    old.results
        .create_dirty_result(&ended(job(2), ApplicationStatus::Succeeded))
        .await
        .unwrap();

    rig.admin.delete(&old.latch()).await.unwrap();
    let new = rig.leader().await;
    let (znodes, files) = (rig.znodes().await, rig.files());

    assert_not_leader(graphs.put_job_graph(&graph(job(1), "b")).await, "replace");
    assert_not_leader(graphs.put_job_graph(&graph(job(3), "a")).await, "put");
    assert_not_leader(graphs.remove_job_graph(job(1)).await, "remove");
    assert_not_leader(checkpoints.add_and_subsume(checkpoint(job(1), 2)).await, "add");
    assert_not_leader(counter.get_and_increment().await, "increment");
    assert_not_leader(
        counter.set_count(ha_testkit::contract::checkpoint_id(50)).await,
        "set",
    );
    assert_not_leader(old.registry.set_job_finished(job(1)).await, "finished");
    assert_not_leader(old.registry.clear_job(job(1)).await, "clear");
    for number in [1, 3] {
        let end = ended(job(number), ApplicationStatus::Failed);
        assert_not_leader(old.results.create_dirty_result(&end).await, "end");
    }
    assert_not_leader(old.results.mark_result_as_clean(job(2)).await, "clean");
    assert_not_leader(checkpoints.shutdown(JobStatus::Finished).await, "shutdown");
    assert_not_leader(counter.shutdown(JobStatus::Finished).await, "shutdown");

    AdminClient::expect_unchanged(&znodes, &rig.znodes().await).unwrap();
    assert_eq!(rig.files(), files);
    // The new leader has it all.
    let newest = new.checkpoints(job(1), 1).await.latest().await.unwrap();
    assert_eq!(newest, Some(checkpoint(job(1), 1)));
    for process in [old, new] {
        process.session.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn services_that_contend_and_do_not_lead_write_nothing_after_their_stop_too() {
    let rig = Rig::new().await;
    let leading = rig.leading_services().await;
    let registry = leading.running_jobs_registry();
    registry.set_job_running(job(1)).await.unwrap();
    let election = leading.dispatcher_leader_election();
    let contender = ha_testkit::fakes::RecordingContender::confirming("http://x:1");
    // A component more, so that leaving both ends leadership.
    let other = leading.rest_endpoint_leader_election();
    contender.contend(&other).await;
    contender.wait_for_grant().await;
    other.stop().await.unwrap();
    registry.set_job_running(job(2)).await.unwrap();
    election.stop().await.unwrap();

    // Beside a leader, services without an election are refused; so are those that wait for their turn.
    let plain = rig.services().await;
    let refused = plain.running_jobs_registry().set_job_running(job(3)).await;
    assert_not_leader(refused, "beside a contender");
    let waiting = rig.services().await;
    let standing = ha_testkit::fakes::RecordingContender::confirming("http://y:1");
    let waiting_election = waiting.dispatcher_leader_election();
    standing.contend(&waiting_election).await;
    let refused = waiting.running_jobs_registry().set_job_running(job(3)).await;
    assert_not_leader(refused, "while waiting");
    waiting_election.stop().await.unwrap();
    let refused = waiting.running_jobs_registry().set_job_running(job(3)).await;
    assert_not_leader(refused, "after stop");

    leading.close().await.unwrap();
    plain
        .running_jobs_registry()
        .set_job_running(job(3))
        .await
        .unwrap();
    for services in [plain, waiting] {
        services.close().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_of_one_term_does_not_write_in_the_next_one_of_the_same_process() {
    let rig = Rig::new().await;
    let mut leader = rig.leader().await;
    let checkpoints = leader.checkpoints(job(1), 3).await;
    let counter = leader.counter(job(1)).await;
    checkpoints.add_and_subsume(checkpoint(job(1), 1)).await.unwrap();
    let first = leader.fence.current().unwrap().unwrap();
    leader.fence.ended(first.session);
    assert_not_leader(counter.get_and_increment().await, "between the terms");
    leader.lead().await;
    assert_not_leader(checkpoints.add_and_subsume(checkpoint(job(1), 2)).await, "add");
    assert_not_leader(counter.get_and_increment().await, "increment");
    let present = leader.checkpoints(job(1), 3).await;
    present.add_and_subsume(checkpoint(job(1), 2)).await.unwrap();
    leader.session.close().await;
}
