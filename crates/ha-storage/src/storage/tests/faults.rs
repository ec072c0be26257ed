use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use ha_core::environment::Environment;
use ha_core::error::{Effect, ErrorKind};

use super::put_graph;
use crate::test_support::{FaultyStore, Trouble, cluster, job};
use crate::{HaStorage, StateKind};

#[tokio::test(start_paused = true)]
async fn b30_transient_faults_are_tried_again_and_lasting_ones_told() {
    let store = Arc::new(FaultyStore::default());
    let storage = store.storage();
    store.make(Trouble::WriteFails, 2);
    let file = put_graph(&storage, 1).await;
    store.make(Trouble::ReadFails, 2);
    assert!(storage.get_state(&file).await.is_ok());
    store.make(Trouble::ReadFails, 100);
    let error = storage.get_state(&file).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.effect()),
        (ErrorKind::Denied, Effect::NotApplied),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_outcome_of_a_write_that_failed_late_is_read_back() {
    let store = Arc::new(FaultyStore::default());
    let storage = store.storage();
    // Put in place and reported as failed: found by the next attempt, or by the last look.
    for times in [1, 100] {
        store.make(Trouble::WriteHappensAndFails, times);
        let file = put_graph(&storage, 1).await;
        store.make(Trouble::WriteHappensAndFails, 0);
        assert!(storage.get_state(&file).await.is_ok());
    }
    let put = |number| {
        let owner = job(number);
        let storage = Arc::clone(&storage);
        async move {
            let name = owner.to_string();
            storage
                .put_state(StateKind::JobGraph, owner, &name, BTreeMap::new(), Bytes::new())
                .await
        }
    };
    store.make(Trouble::WriteFails, 100);
    let error = put(2).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.effect()),
        (ErrorKind::Unavailable, Effect::NotApplied)
    );
    // Cannot be read back: unknown.
    store.make(Trouble::ReadFails, 100);
    assert_eq!(put(2).await.unwrap_err().effect(), Effect::Unknown);
    store.make(Trouble::WriteFails, 0);
    store.make(Trouble::ReadFails, 0);
    store.make(Trouble::Full, 100);
    let error = put(3).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.effect()),
        (ErrorKind::Unavailable, Effect::NotApplied)
    );
    assert!(error.advice().contains("free space"), "{error}");
}

#[tokio::test]
async fn a_dropped_call_finishes_what_it_began() {
    let storage = HaStorage::in_memory(&cluster(), &Environment::system());
    let (done, is_done) = tokio::sync::oneshot::channel();
    let (go, may_go) = tokio::sync::oneshot::channel::<()>();
    let mut call = Box::pin(storage.to_the_end("test", async move {
        let _ = may_go.await;
        let _ = done.send(());
        Ok(())
    }));
    assert!(futures::poll!(&mut call).is_pending());
    drop(call);
    go.send(()).unwrap();
    is_done.await.unwrap();
}
