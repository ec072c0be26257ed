//! The checkpoints of many jobs are read at once.

use std::pin::pin;

use futures::future::join_all;

use super::*;

async fn recover(context: &StoreContext, number: u8) -> Result<ZooKeeperCompletedCheckpointStore> {
    ZooKeeperCompletedCheckpointStore::recover(context.clone(), job(number), 6).await
}

async fn add_checkpoints(context: &StoreContext, numbers: std::ops::RangeInclusive<u8>) {
    for number in numbers {
        let store = recover(context, number).await.unwrap();
        for id in 1..=6 {
            store.add_and_subsume(checkpoint(job(number), id)).await.unwrap();
        }
    }
}

async fn is_whole(store: &ZooKeeperCompletedCheckpointStore, number: u8) -> bool {
    store.num_retained().await == 6 && store.latest().await.unwrap() == Some(checkpoint(job(number), 6))
}

#[tokio::test]
async fn b60_the_checkpoints_of_many_jobs_are_read_in_few_requests() {
    let (context, server) = context();
    add_checkpoints(&context, 1..=120).await;
    server.take_requests();
    server.cut(1);
    // The last one has none.
    let recovering = join_all((1..=121).map(|number| recover(&context, number)));
    let mut recovering = pin!(recovering);
    assert!(futures::poll!(&mut recovering).is_pending());
    server.reconnect(1);
    let stores = recovering.await;
    for (number, store) in (1..=121).zip(&stores) {
        let store = store.as_ref().unwrap();
        match number {
            121 => assert_eq!(store.num_retained().await, 0),
            _ => assert!(is_whole(store, number).await, "{number}"),
        }
    }
    // One alone, then a hundred, 600 pointers of theirs 500 at a time, then the rest.
    let requests = server.take_requests();
    let alone = ["sync", "list", "multi_get"];
    let first = ["sync", "multi_list", "multi_get", "multi_get"];
    let rest = ["sync", "multi_list", "multi_get"];
    assert_eq!(requests, [&alone[..], &first, &rest].concat());
}

#[tokio::test]
async fn reading_together_neither_waits_for_a_dropped_call_nor_fails_with_another() {
    let (context, server) = context();
    add_checkpoints(&context, 1..=5).await;
    server.cut(1);
    let mut calls: Vec<_> = (1..=5)
        .map(|number| Box::pin(recover(&context, number)))
        .collect();
    for call in &mut calls {
        assert!(futures::poll!(call).is_pending());
    }
    // The one that reads, and one that waits.
    drop(calls.remove(0));
    drop(calls.remove(0));
    // The next one reads for the others too, and is dropped on the way.
    assert!(futures::poll!(&mut calls[0]).is_pending());
    drop(calls.remove(0));
    for (call, number) in calls.iter_mut().zip(4..) {
        assert!(futures::poll!(call).is_pending(), "{number}");
    }
    server.reconnect(1);
    for (call, number) in calls.into_iter().zip(4..) {
        assert!(is_whole(&call.await.unwrap(), number).await, "{number}");
    }

    // A folder that cannot be listed fails its own job only.
    let denied = context.writer.paths().checkpoints(job(2));
    server.deny_reads(Some(&denied));
    server.cut(1);
    let recovering = join_all((1..=5).map(|number| recover(&context, number)));
    let mut recovering = pin!(recovering);
    assert!(futures::poll!(&mut recovering).is_pending());
    server.reconnect(1);
    for (store, number) in recovering.await.into_iter().zip(1..) {
        match store {
            Ok(store) => assert!(number != 2 && is_whole(&store, number).await, "{number}"),
            Err(error) => assert_eq!((number, error.kind()), (2, ErrorKind::Denied), "{error}"),
        }
    }
}
