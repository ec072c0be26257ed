//! A lost reply is resolved by reading back; only what cannot be resolved is unknown, and its file stays (I12).

use ha_core::jobs::{
    ApplicationStatus, JobGraphStore as _, JobResultStore as _, JobSchedulingStatus, JobStatus,
    RunningJobsRegistry as _,
};
use ha_core::{Effect, ErrorKind};
use ha_testkit::contract::{checkpoint, checkpoint_id, ended, graph, job};

use crate::faulty_client::Fault;
use crate::rig::Rig;

#[tokio::test(flavor = "multi_thread")]
async fn b29_what_was_applied_is_success_and_what_was_not_is_sent_again() {
    let rig = Rig::new().await;
    let leader = rig.leader().await;
    let graphs = leader.job_graphs().await;
    let checkpoints = leader.checkpoints(job(1), 1).await;
    for (number, fault) in [
        (1, (|| Fault::LoseReply) as fn() -> Fault),
        (2, || Fault::LoseRequest),
    ] {
        leader.clients.next([fault()]);
        graphs.put_job_graph(&graph(job(number), "a")).await.unwrap();
        leader.clients.next([fault()]);
        graphs.put_job_graph(&graph(job(number), "b")).await.unwrap();
        let read = graphs.recover_job_graph(job(number)).await.unwrap();
        assert_eq!(read, Some(graph(job(number), "b")));
        leader.clients.next([fault()]);
        let id = u64::from(number);
        checkpoints.add_and_subsume(checkpoint(job(1), id)).await.unwrap();
        assert_eq!(checkpoints.all().await.unwrap(), [checkpoint(job(1), id)]);
        leader.clients.next([fault()]);
        leader.registry.set_job_running(job(number)).await.unwrap();
        let status = leader.registry.job_scheduling_status(job(number)).await.unwrap();
        assert_eq!(status, JobSchedulingStatus::Running);
        leader.clients.next([fault()]);
        leader.registry.clear_job(job(number)).await.unwrap();
        leader.clients.next([fault()]);
        leader
            .results
            .create_dirty_result(&ended(job(number), ApplicationStatus::Succeeded))
            .await
            .unwrap();
        assert!(
            leader
                .results
                .has_dirty_job_result_entry(job(number))
                .await
                .unwrap()
        );
        leader.clients.next([fault()]);
        graphs.remove_job_graph(job(number)).await.unwrap();
    }
    assert!(graphs.job_ids().await.unwrap().is_empty());
    assert!(rig.files_with("/jobgraphs/").is_empty());
    assert_eq!(rig.files_with("/checkpoints/").len(), 1);
    assert!(leader.listener.events().is_empty(), "own changes are not told");
    leader.session.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b29_what_cannot_be_told_is_unknown_and_keeps_its_file() {
    let rig = Rig::new().await;
    let leader = rig.leader().await;
    let checkpoints = leader.checkpoints(job(1), 2).await;
    checkpoints.add_and_subsume(checkpoint(job(1), 1)).await.unwrap();
    let depose = || {
        let (admin, latch) = (rig.admin.clone(), leader.latch());
        Box::new(move || {
            Box::pin(async move { admin.delete(&latch).await.unwrap() })
                as ha_core::environment::BoxFuture<()>
        })
    };
    leader.clients.next([Fault::LoseRequestAnd(depose())]);
    let error = checkpoints
        .add_and_subsume(checkpoint(job(1), 2))
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.effect()),
        (ErrorKind::NotLeader, Effect::Unknown)
    );
    assert_eq!(rig.files_with("/checkpoints/").len(), 2, "the file stays");
    // The election is told that the latch is gone.
    assert!(leader.fence.refusals().latest().is_some());
    leader.session.close().await;

    // Applied, and the latch gone: the write id proves it all the same.
    let leader = rig.leader().await;
    let graphs = leader.job_graphs().await;
    graphs.put_job_graph(&graph(job(1), "a")).await.unwrap();
    let (admin, latch) = (rig.admin.clone(), leader.latch());
    leader.clients.next([Fault::LoseReplyAnd(Box::new(move || {
        Box::pin(async move { admin.delete(&latch).await.unwrap() })
    }))]);
    graphs.put_job_graph(&graph(job(2), "a")).await.unwrap();
    assert!(
        rig.admin
            .get(&rig.paths.job_graph(job(2)))
            .await
            .unwrap()
            .is_some()
    );
    leader.session.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_add_counts_if_it_was_applied_after_all() {
    let rig = Rig::new().await;
    let leader = rig.leader().await;
    let checkpoints = leader.checkpoints(job(1), 2).await;
    checkpoints.add_and_subsume(checkpoint(job(1), 1)).await.unwrap();
    // Dropped half-way: the outcome is unknown to the store.
    leader
        .clients
        .next([Fault::LoseReplyAnd(Box::new(|| Box::pin(std::future::pending())))]);
    let second = rig.paths.checkpoint(job(1), checkpoint_id(2));
    tokio::select! {
        biased;
        _ = checkpoints.add_and_subsume(checkpoint(job(1), 2)) => panic!("its reply never comes"),
        () = wait_for_node(&rig, &second) => {}
    }
    assert_eq!(checkpoints.latest().await.unwrap(), Some(checkpoint(job(1), 2)));
    let error = checkpoints
        .add_and_subsume(checkpoint(job(1), 2))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    checkpoints.add_and_subsume(checkpoint(job(1), 3)).await.unwrap();
    let expected = [2, 3].map(|number| checkpoint(job(1), number));
    assert_eq!(checkpoints.all().await.unwrap(), expected);
    leader.session.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_deletion_by_somebody_else_does_not_prove_the_others() {
    let rig = Rig::new().await;
    let leader = rig.leader().await;
    let checkpoints = leader.checkpoints(job(1), 3).await;
    for number in [1, 2] {
        checkpoints
            .add_and_subsume(checkpoint(job(1), number))
            .await
            .unwrap();
    }
    let path = |number| rig.paths.checkpoint(job(1), checkpoint_id(number));
    let (admin, last) = (rig.admin.clone(), path(2));
    leader.clients.next([Fault::LoseRequestAnd(Box::new(move || {
        Box::pin(async move { admin.delete(&last).await.unwrap() })
    }))]);
    checkpoints.shutdown(JobStatus::Finished).await.unwrap();
    assert!(rig.admin.get(&path(1)).await.unwrap().is_none());
    assert!(rig.files_with("/checkpoints/").is_empty());
    leader.session.close().await;
}

async fn wait_for_node(rig: &Rig, path: &str) {
    integration_tests::eventually(
        "the node is there",
        std::time::Duration::from_secs(20),
        async || {
            anyhow::ensure!(rig.admin.get(path).await?.is_some());
            Ok(())
        },
    )
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn b38_ids_never_repeat_however_many_replies_are_lost() {
    let rig = Rig::new().await;
    let seed = integration_tests::seed().unwrap();
    println!("seed {seed}");
    let mut random = seed | 1;
    let mut next = move || {
        // xorshift64
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let calls = if integration_tests::full_form() {
        10_000
    } else {
        600
    };
    let mut last = 0;
    let mut given = 0;
    while given < calls {
        // Another process leads in turn.
        let mut leader = rig.leader().await;
        let mut counter = leader.counter(job(1)).await;
        for _ in 0..calls / 6 {
            match next() % 8 {
                0 | 1 => leader.clients.next([Fault::LoseReply]),
                2 => leader.clients.next([Fault::LoseRequest]),
                3 => leader
                    .clients
                    .next([Fault::LoseReply, Fault::LoseReply, Fault::LoseRequest]),
                4 if next() % 8 == 0 => {
                    leader.lead().await;
                    counter = leader.counter(job(1)).await;
                }
                5 if next() % 8 == 0 => {
                    rig.admin
                        .delete(&rig.paths.checkpoint_id_counter(job(1)))
                        .await
                        .unwrap();
                }
                _ => {}
            }
            let id = counter.get_and_increment().await.unwrap().get();
            assert!(id > last, "{id} after {last}, seed {seed}");
            last = id;
            given += 1;
        }
        leader.session.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b38_an_id_that_was_read_is_not_given_again_when_the_counter_is_deleted() {
    let rig = Rig::new().await;
    let leader = rig.leader().await;
    for _ in 0..3 {
        leader.counter(job(1)).await.get_and_increment().await.unwrap();
    }
    // It gave nothing itself yet.
    let counter = leader.counter(job(1)).await;
    let path = rig.paths.checkpoint_id_counter(job(1));
    rig.admin.delete(&path).await.unwrap();
    assert_eq!(counter.get_and_increment().await.unwrap().get(), 4);
    leader.session.close().await;
}
