//! Completed checkpoints and their counter: what is recovered, what never is, and what is never deleted.

use std::sync::Arc;
use std::time::Duration;

use ha_core::jobs::JobStatus;
use ha_core::{Effect, ErrorKind};
use ha_testkit::contract::{checkpoint, checkpoint_id, job};
use integration_tests::AdminClient;
use tokio::sync::Notify;

use crate::faulty_client::Fault;
use crate::rig::Rig;

#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_newest_fails_the_recovery_with_the_older_candidates() {
    let rig = Rig::new().await;
    let leader = rig.leader().await;
    let checkpoints = leader.checkpoints(job(1), 3).await;
    for number in [9, 10, 11] {
        checkpoints
            .add_and_subsume(checkpoint(job(1), number))
            .await
            .unwrap();
    }
    let path = |number| rig.paths.checkpoint(job(1), checkpoint_id(number));
    let file = rig.files_with("/checkpoints/").pop().unwrap();
    let content = std::fs::read(&file).unwrap();
    let pointer = rig.admin.text(&path(11)).await.unwrap().unwrap();
    for damage in ["missing", "cut off", "pointer"] {
        match damage {
            "missing" => std::fs::remove_file(&file).unwrap(),
            "cut off" => std::fs::write(&file, content.get(..20).unwrap()).unwrap(),
            _ => rig.admin.set(&path(11), b"{}").await.unwrap(),
        }
        let (znodes, files) = (rig.znodes().await, rig.files());
        let error = leader.try_checkpoints(job(1), 3).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{damage}");
        assert_eq!(error.subject(), Some(path(11).as_str()));
        let health = leader.context.health.snapshot();
        assert_eq!(
            health.broken.get(&path(11)).unwrap().candidates,
            [path(10), path(9)]
        );
        AdminClient::expect_unchanged(&znodes, &rig.znodes().await).unwrap();
        assert_eq!(rig.files(), files);
        std::fs::write(&file, &content).unwrap();
    }
    rig.admin.set(&path(11), pointer.as_bytes()).await.unwrap();
    let recovered = leader.checkpoints(job(1), 3).await;
    assert_eq!(recovered.latest().await.unwrap(), Some(checkpoint(job(1), 11)));
    assert!(!leader.context.health.snapshot().is_degraded());
    leader.session.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn more_than_a_hundred_are_subsumed_over_several_adds() {
    let rig = Rig::new().await;
    let leader = rig.leader().await;
    let many = leader.checkpoints(job(1), 500).await;
    for number in 1..=230 {
        many.add_and_subsume(checkpoint(job(1), number)).await.unwrap();
    }
    let few = leader.checkpoints(job(1), 2).await;
    let mut left = Vec::new();
    for number in 231..=234 {
        few.add_and_subsume(checkpoint(job(1), number)).await.unwrap();
        left.push(few.num_retained().await);
    }
    assert_eq!(left, [131, 32, 2, 2]);
    let names = rig.admin.children(&rig.paths.checkpoints(job(1))).await.unwrap();
    assert_eq!(names, [233, 234].map(|number| checkpoint_id(number).to_name()));
    assert_eq!(rig.files_with("/checkpoints/").len(), 2);
    leader.session.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b34_an_old_checkpoint_that_is_gone_or_cannot_go_does_not_fail_the_new_one() {
    let rig = Rig::new().await;
    let leader = rig.leader().await;
    let checkpoints = leader.checkpoints(job(1), 2).await;
    for number in [1, 2] {
        checkpoints
            .add_and_subsume(checkpoint(job(1), number))
            .await
            .unwrap();
    }
    let path = |number| rig.paths.checkpoint(job(1), checkpoint_id(number));
    rig.admin.delete(&path(1)).await.unwrap();
    checkpoints.add_and_subsume(checkpoint(job(1), 3)).await.unwrap();
    // Somebody hung something below an old one: pointer and file stay together.
    rig.admin
        .create(&format!("{}/locks", path(2)), b"")
        .await
        .unwrap();
    checkpoints.add_and_subsume(checkpoint(job(1), 4)).await.unwrap();
    assert!(rig.admin.get(&path(2)).await.unwrap().is_some());
    assert_eq!(rig.files_with("/checkpoints/").len(), 3);
    rig.admin.delete(&format!("{}/locks", path(2))).await.unwrap();
    checkpoints.add_and_subsume(checkpoint(job(1), 5)).await.unwrap();
    let expected = [4, 5].map(|number| checkpoint(job(1), number));
    assert_eq!(checkpoints.all().await.unwrap(), expected);
    assert_eq!(rig.files_with("/checkpoints/").len(), 2);
    leader.session.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_published_by_somebody_else_is_a_conflict_and_stays() {
    let rig = Rig::new().await;
    let (one, two) = (rig.process().await, rig.process().await);
    let (first, second) = (one.checkpoints(job(1), 3).await, two.checkpoints(job(1), 3).await);
    first.add_and_subsume(checkpoint(job(1), 1)).await.unwrap();
    let error = second.add_and_subsume(checkpoint(job(1), 1)).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.effect()),
        (ErrorKind::Conflict, Effect::NotApplied)
    );
    assert_eq!(rig.files_with("/checkpoints/").len(), 1);
    // It has seen the other one now.
    assert_eq!(second.latest().await.unwrap(), Some(checkpoint(job(1), 1)));
    second.add_and_subsume(checkpoint(job(1), 2)).await.unwrap();
    for process in [one, two] {
        process.session.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b38_the_counter_stands_above_all_that_is_there() {
    let rig = Rig::new().await;
    let leader = rig.leader().await;
    let checkpoints = leader.checkpoints(job(1), 3).await;
    checkpoints.add_and_subsume(checkpoint(job(1), 7)).await.unwrap();
    let path = rig.paths.checkpoint_id_counter(job(1));
    let counter = leader.counter(job(1)).await;
    assert_eq!(rig.admin.text(&path).await.unwrap().unwrap(), "8");
    assert_eq!(counter.get_and_increment().await.unwrap().get(), 8);
    // A backup of the tree, older than a checkpoint whose file is there.
    let pointer = rig.paths.checkpoint(job(1), checkpoint_id(7));
    rig.admin.delete(&pointer).await.unwrap();
    rig.admin.set(&path, b"3").await.unwrap();
    let restored = leader.counter(job(1)).await;
    assert_eq!(restored.get().await.unwrap().get(), 8);
    // The one that is in use does not go back either, not even when the znode is gone.
    assert_eq!(counter.get_and_increment().await.unwrap().get(), 9);
    rig.admin.set(&path, b"2").await.unwrap();
    assert_eq!(counter.get_and_increment().await.unwrap().get(), 10);
    rig.admin.delete(&path).await.unwrap();
    assert_eq!(counter.get_and_increment().await.unwrap().get(), 11);
    assert_eq!(rig.admin.text(&path).await.unwrap().unwrap(), "12");
    for garbage in [&b""[..], b"text", b"-1", b"0", b"\x00\x00\x01"] {
        rig.admin.set(&path, garbage).await.unwrap();
        let error = counter.get_and_increment().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{garbage:?}");
        assert_eq!(rig.admin.get(&path).await.unwrap().unwrap(), garbage);
    }
    rig.admin.set(&path, b"9223372036854775807").await.unwrap();
    let error = counter.get_and_increment().await.unwrap_err();
    assert_eq!(
        error.kind(),
        ErrorKind::Invalid,
        "there is no id after the last one"
    );
    counter.shutdown(JobStatus::Suspended).await.unwrap();
    assert!(rig.admin.get(&path).await.unwrap().is_some());
    counter.shutdown(JobStatus::Finished).await.unwrap();
    counter.shutdown(JobStatus::Finished).await.unwrap();
    assert!(rig.admin.get(&path).await.unwrap().is_none());
    leader.session.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_recovered_before_the_term_is_read_again_in_it() {
    let rig = Rig::new().await;
    let leader = rig.leader().await;
    let leading = leader.checkpoints(job(1), 1).await;
    leading.add_and_subsume(checkpoint(job(1), 3)).await.unwrap();
    let mut standby = rig.process().await;
    standby.fence.election_started();
    let recovered = standby.checkpoints(job(1), 1).await;
    for number in [4, 5] {
        leading.add_and_subsume(checkpoint(job(1), number)).await.unwrap();
    }
    leader.session.close().await;
    standby.lead().await;
    let error = recovered
        .add_and_subsume(checkpoint(job(1), 4))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert_eq!(recovered.latest().await.unwrap(), Some(checkpoint(job(1), 5)));
    recovered.add_and_subsume(checkpoint(job(1), 6)).await.unwrap();
    assert_eq!(recovered.all().await.unwrap(), [checkpoint(job(1), 6)]);
    assert_eq!(rig.files_with("/checkpoints/").len(), 1);
    standby.session.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clean_up_beside_an_add_leaves_no_pointer_without_a_file() {
    let rig = Rig::new().await;
    let leader = rig.leader().await;
    let (adding, cleaning) = (
        leader.checkpoints(job(1), 3).await,
        leader.checkpoints(job(1), 3).await,
    );
    adding.add_and_subsume(checkpoint(job(1), 1)).await.unwrap();
    // The file is there, its pointer is on its way: the clean-up has all the time it wants.
    let (begun, cleaned) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let hook = {
        let (begun, cleaned) = (Arc::clone(&begun), Arc::clone(&cleaned));
        Box::new(move || {
            Box::pin(async move {
                begun.notify_one();
                drop(tokio::time::timeout(Duration::from_millis(500), cleaned.notified()).await);
            }) as ha_core::environment::BoxFuture<()>
        })
    };
    leader.clients.next([Fault::LoseRequestAnd(hook)]);
    let clean = async {
        begun.notified().await;
        cleaning.shutdown(JobStatus::Finished).await.unwrap();
        cleaned.notify_one();
    };
    let (added, ()) = tokio::join!(adding.add_and_subsume(checkpoint(job(1), 2)), clean);
    added.unwrap();
    let pointer = rig.paths.checkpoint(job(1), checkpoint_id(2));
    assert!(rig.admin.get(&pointer).await.unwrap().is_none());
    assert!(rig.files_with("/checkpoints/").is_empty());
    leader.session.close().await;
}
