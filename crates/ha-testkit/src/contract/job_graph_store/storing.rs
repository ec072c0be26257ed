//! Cases about what is stored.

use ha_core::ErrorKind;
use ha_core::jobs::JobGraph;

use super::super::{Entry, Fixture, graph, job};
use super::{Subject, start, started};

/// What was put is recovered whole; what was not is `None`.
pub async fn graphs_round_trip<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, _) = started(&fixture).await;
    assert_eq!(store.recover_job_graph(job(1)).await.unwrap(), None);
    let written = graph(job(1), "one \"\u{e9}\" \0");
    store.put_job_graph(&written).await.unwrap();
    assert_eq!(store.recover_job_graph(job(1)).await.unwrap(), Some(written));
    assert_eq!(store.recover_job_graph(job(2)).await.unwrap(), None);
    assert_eq!(store.job_ids().await.unwrap(), [job(1)]);
}

/// All graphs are recovered, in the order of their ids.
pub async fn all_are_recovered_in_order<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, _) = started(&fixture).await;
    assert!(store.recover_job_graphs().await.unwrap().entries.is_empty());
    for number in [4, 2, 5, 1, 3] {
        store.put_job_graph(&graph(job(number), "payload")).await.unwrap();
    }
    let recovered = store.recover_job_graphs().await.unwrap();
    let expected: Vec<JobGraph> = (1..=5).map(|number| graph(job(number), "payload")).collect();
    assert_eq!(recovered.entries, expected);
    assert!(recovered.broken.is_empty(), "{:?}", recovered.broken);
    let mut ids = store.job_ids().await.unwrap();
    ids.sort_unstable();
    assert_eq!(ids, (1..=5).map(job).collect::<Vec<_>>());
}

/// Before `start` everything but looking at the ids is `Invalid`.
pub async fn use_before_start_is_invalid<F: Fixture<Subject = Subject>>(fixture: F) {
    let store = fixture.open().await;
    let outcomes = [
        store.put_job_graph(&graph(job(1), "one")).await,
        store.recover_job_graph(job(1)).await.map(|_| ()),
        store.recover_job_graphs().await.map(|_| ()),
        store.remove_job_graph(job(1)).await,
        store.release_job_graph(job(1)).await,
    ];
    for outcome in outcomes {
        assert_eq!(outcome.err().map(|error| error.kind()), Some(ErrorKind::Invalid));
    }
    assert!(store.job_ids().await.unwrap().is_empty());
}

/// After `stop` everything but looking at the ids is `Closed`, and a second `stop` is success.
pub async fn use_after_stop_is_closed<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, _) = started(&fixture).await;
    store.put_job_graph(&graph(job(1), "one")).await.unwrap();
    store.stop().await.unwrap();
    store.stop().await.unwrap();
    let outcomes = [
        store.put_job_graph(&graph(job(1), "two")).await,
        store.recover_job_graph(job(1)).await.map(|_| ()),
        store.recover_job_graphs().await.map(|_| ()),
        store.remove_job_graph(job(1)).await,
        store.release_job_graph(job(1)).await,
    ];
    for outcome in outcomes {
        assert_eq!(outcome.err().map(|error| error.kind()), Some(ErrorKind::Closed));
    }
    let (store, _) = started(&fixture).await;
    assert_eq!(
        store.recover_job_graph(job(1)).await.unwrap(),
        Some(graph(job(1), "one"))
    );
}

/// A second `start` is `Invalid`.
pub async fn start_twice_is_invalid<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, listener) = started(&fixture).await;
    let error = store.start(std::sync::Arc::new(listener)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    store.put_job_graph(&graph(job(1), "one")).await.unwrap();
}

/// A graph that this process put is replaced by the next put.
pub async fn own_graph_is_replaced<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, _) = started(&fixture).await;
    for payload in ["one", "two", "three"] {
        store.put_job_graph(&graph(job(1), payload)).await.unwrap();
        assert_eq!(
            store.recover_job_graph(job(1)).await.unwrap(),
            Some(graph(job(1), payload))
        );
    }
    assert_eq!(store.job_ids().await.unwrap(), [job(1)]);
}

/// A graph that this process recovered may be replaced and removed by it.
pub async fn recovered_graph_is_replaced<F: Fixture<Subject = Subject>>(fixture: F) {
    let (first, _) = started(&fixture).await;
    first.put_job_graph(&graph(job(1), "one")).await.unwrap();
    first.put_job_graph(&graph(job(2), "one")).await.unwrap();
    let (second, _) = started(&fixture).await;
    second.recover_job_graph(job(1)).await.unwrap().unwrap();
    second.put_job_graph(&graph(job(1), "two")).await.unwrap();
    assert_eq!(second.recover_job_graphs().await.unwrap().entries.len(), 2);
    second.remove_job_graph(job(2)).await.unwrap();
    let recovered = first.recover_job_graphs().await.unwrap();
    assert_eq!(recovered.entries, [graph(job(1), "two")]);
}

/// A graph that this process neither put nor recovered is not replaced: `AlreadyExists`.
pub async fn foreign_graph_is_not_replaced<F: Fixture<Subject = Subject>>(fixture: F) {
    let ((first, _), (second, _)) = (started(&fixture).await, started(&fixture).await);
    first.put_job_graph(&graph(job(1), "one")).await.unwrap();
    let error = second.put_job_graph(&graph(job(1), "two")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(
        first.recover_job_graph(job(1)).await.unwrap(),
        Some(graph(job(1), "one"))
    );
}

/// Replacing a graph that another process replaced since is `Conflict`, and the other's stands.
pub async fn graph_that_changed_since_is_conflict<F: Fixture<Subject = Subject>>(fixture: F) {
    let ((first, _), (second, _)) = (started(&fixture).await, started(&fixture).await);
    first.put_job_graph(&graph(job(1), "one")).await.unwrap();
    second.recover_job_graph(job(1)).await.unwrap().unwrap();
    second.put_job_graph(&graph(job(1), "two")).await.unwrap();
    let error = first.put_job_graph(&graph(job(1), "three")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    // Having read it again, the first one may.
    assert_eq!(
        first.recover_job_graph(job(1)).await.unwrap(),
        Some(graph(job(1), "two"))
    );
    first.put_job_graph(&graph(job(1), "three")).await.unwrap();
}

/// Of two processes that put a new graph at the same time one succeeds, and it is the one whose graph is there.
pub async fn concurrent_puts_have_one_winner<F: Fixture<Subject = Subject>>(fixture: F) {
    let ((first, _), (second, _)) = (started(&fixture).await, started(&fixture).await);
    for number in 1..=8 {
        let (one, other) = (graph(job(number), "one"), graph(job(number), "other"));
        let outcomes = tokio::join!(first.put_job_graph(&one), second.put_job_graph(&other));
        let (winner, lost) = match outcomes {
            (Ok(()), Err(error)) => (one, error),
            (Err(error), Ok(())) => (other, error),
            outcomes => panic!("not exactly one put of job {number} won: {outcomes:?}"),
        };
        assert_eq!(lost.kind(), ErrorKind::AlreadyExists);
        let (third, _) = started(&fixture).await;
        assert_eq!(third.recover_job_graph(job(number)).await.unwrap(), Some(winner));
    }
}

/// A removed graph is gone; removing what is not there is success.
pub async fn remove_is_idempotent<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, _) = started(&fixture).await;
    store.put_job_graph(&graph(job(1), "one")).await.unwrap();
    store.put_job_graph(&graph(job(2), "two")).await.unwrap();
    store.remove_job_graph(job(1)).await.unwrap();
    store.remove_job_graph(job(1)).await.unwrap();
    store.remove_job_graph(job(3)).await.unwrap();
    assert_eq!(store.recover_job_graph(job(1)).await.unwrap(), None);
    assert_eq!(store.job_ids().await.unwrap(), [job(2)]);
    // The id may be used again.
    store.put_job_graph(&graph(job(1), "again")).await.unwrap();
    assert_eq!(
        store.recover_job_graph(job(1)).await.unwrap(),
        Some(graph(job(1), "again"))
    );
}

/// A graph that this process neither put nor recovered is not removed: `Conflict`.
pub async fn foreign_graph_is_not_removed<F: Fixture<Subject = Subject>>(fixture: F) {
    let ((first, _), (second, _)) = (started(&fixture).await, started(&fixture).await);
    first.put_job_graph(&graph(job(1), "one")).await.unwrap();
    let error = second.remove_job_graph(job(1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(
        first.recover_job_graph(job(1)).await.unwrap(),
        Some(graph(job(1), "one"))
    );
}

/// A released graph stays, may not be changed by who released it, and may be recovered again.
pub async fn release_gives_up_the_right<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, _) = started(&fixture).await;
    store.put_job_graph(&graph(job(1), "one")).await.unwrap();
    store.release_job_graph(job(1)).await.unwrap();
    store.release_job_graph(job(2)).await.unwrap();
    let error = store.put_job_graph(&graph(job(1), "two")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    let error = store.remove_job_graph(job(1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(
        store.recover_job_graph(job(1)).await.unwrap(),
        Some(graph(job(1), "one"))
    );
    store.put_job_graph(&graph(job(1), "two")).await.unwrap();
}

/// What was put or removed before a crash is there or gone after it.
pub async fn graphs_survive_a_crash<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, _) = started(&fixture).await;
    store.put_job_graph(&graph(job(1), "one")).await.unwrap();
    store.put_job_graph(&graph(job(1), "two")).await.unwrap();
    store.put_job_graph(&graph(job(2), "two")).await.unwrap();
    store.remove_job_graph(job(2)).await.unwrap();
    let (store, _) = start(fixture.reopen_after_crash(store).await).await;
    let recovered = store.recover_job_graphs().await.unwrap();
    assert_eq!(recovered.entries, [graph(job(1), "two")]);
    assert!(recovered.broken.is_empty(), "{:?}", recovered.broken);
}

/// Stopping a store deletes no graph (I8).
pub async fn stop_deletes_nothing<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, _) = started(&fixture).await;
    store.put_job_graph(&graph(job(1), "one")).await.unwrap();
    store.stop().await.unwrap();
    let (store, _) = started(&fixture).await;
    let recovered = store.recover_job_graphs().await.unwrap();
    assert_eq!(recovered.entries, [graph(job(1), "one")]);
}

/// A payload of a few megabytes, and an empty one, come back whole.
pub async fn payload_sizes_do_not_matter<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, _) = started(&fixture).await;
    let (empty, large) = (graph(job(1), ""), graph(job(2), &"0123456789".repeat(300_001)));
    store.put_job_graph(&empty).await.unwrap();
    let large = JobGraph {
        name: "large".to_owned(),
        ..large
    };
    store.put_job_graph(&large).await.unwrap();
    // Not `assert_eq`: a failure would print megabytes.
    assert!(store.recover_job_graphs().await.unwrap().entries == [empty, large]);
}

/// A broken entry is reported with its place, hides no other, and is left as it is.
pub async fn broken_entry_hides_no_other<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, _) = started(&fixture).await;
    for number in 1..=3 {
        store.put_job_graph(&graph(job(number), "payload")).await.unwrap();
    }
    fixture.break_entry(Entry::JobGraph(job(2))).await;
    let (store, _) = start(fixture.reopen_after_crash(store).await).await;
    for _ in 0..2 {
        let recovered = store.recover_job_graphs().await.unwrap();
        assert_eq!(
            recovered.entries,
            [graph(job(1), "payload"), graph(job(3), "payload")]
        );
        assert_eq!(recovered.broken.len(), 1, "{:?}", recovered.broken);
        let broken = &recovered.broken[0];
        assert!(broken.path.contains(&job(2).to_string()), "{broken:?}");
        assert!(!broken.reason.is_empty());
    }
    assert_eq!(store.job_ids().await.unwrap().len(), 3);
}

/// A broken entry that is asked for alone is `Corrupt`, with its place, never `None`.
pub async fn broken_entry_alone_is_corrupt<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, _) = started(&fixture).await;
    store.put_job_graph(&graph(job(1), "payload")).await.unwrap();
    fixture.break_entry(Entry::JobGraph(job(1))).await;
    let (store, _) = start(fixture.reopen_after_crash(store).await).await;
    let error = store.recover_job_graph(job(1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(
        error
            .subject()
            .is_some_and(|subject| subject.contains(&job(1).to_string()))
    );
    // The broken one is not replaced by who could not recover it.
    let error = store.put_job_graph(&graph(job(1), "other")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
}
