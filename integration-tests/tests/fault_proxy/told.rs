//! What the proxy tells: the requests, which have arrived, and the connections.

use std::sync::{Arc, Mutex};

use ha_zookeeper::client::{CreateMode, Operation, ZkCode, ZooKeeperClient as _};
use integration_tests::eventually;
use integration_tests::proxy::{Direction, RequestFilter, RequestKind};

use crate::{LONG, Rig};

#[tokio::test]
async fn everything_passes_and_is_counted() {
    let rig = Rig::new().await;
    let (client, proxy) = (&rig.client, &rig.proxy);
    rig.set("a").await.unwrap();
    client.get(&rig.path).await.unwrap();
    client.exists(&rig.path).await.unwrap();
    client.list(&rig.path).await.unwrap();
    client.sync(&rig.path).await.unwrap();
    let child = format!("{}/child-", rig.path);
    let child = client
        .create(&child, "".into(), CreateMode::EphemeralSequential)
        .await
        .unwrap();
    client.delete(&child, None).await.unwrap();
    client
        .multi(vec![Operation::Check {
            path: rig.path.clone(),
            version: 1,
        }])
        .await
        .unwrap();
    client.multi_get(std::slice::from_ref(&rig.path)).await.unwrap();
    client.close().await;
    for kind in [
        RequestKind::Connect,
        RequestKind::SetData,
        RequestKind::GetData,
        RequestKind::Exists,
        RequestKind::GetChildren,
        RequestKind::Sync,
        RequestKind::Create,
        RequestKind::Delete,
        RequestKind::Multi,
        RequestKind::MultiRead,
        RequestKind::CloseSession,
    ] {
        assert_eq!(proxy.seen(kind), 1, "{kind:?}");
    }
    assert_eq!(proxy.seen(RequestKind::Check), 0);
}

#[tokio::test]
async fn requests_are_shown_with_what_they_are_about() {
    let rig = Rig::new().await;
    let shown = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&shown);
    rig.proxy.observe(move |request| {
        if request.kind != RequestKind::Ping {
            log.lock()
                .unwrap()
                .push((request.kind, request.path.clone(), request.watch));
        }
    });
    rig.client.get(&rig.path).await.unwrap();
    let watch = rig.client.list_and_watch(&rig.path).await.unwrap();
    rig.set("x").await.unwrap();
    let path = Some(rig.path.clone());
    assert_eq!(
        *shown.lock().unwrap(),
        [
            (RequestKind::GetData, path.clone(), false),
            (RequestKind::GetChildren, path.clone(), true),
            (RequestKind::SetData, path, false),
        ]
    );
    drop(watch);
}

/// That a request is on its way is told while it is held back; it is counted when it goes on.
#[tokio::test]
async fn a_held_request_is_told_of() {
    let rig = Rig::new().await;
    let about_us = RequestFilter::from(RequestKind::SetData).about(&rig.path);
    let second = rig.proxy.arrival(about_us, 2);
    rig.proxy.hold(Direction::ToServer, true);
    let mut sets = Box::pin(futures::future::join(rig.set("first"), async {
        assert!(!second.has_happened());
        rig.set("second").await
    }));
    assert!(futures::poll!(&mut sets).is_pending());
    second.happened().await.unwrap();
    assert_eq!(rig.proxy.seen(RequestKind::SetData), 0);
    rig.proxy.hold(Direction::ToServer, false);
    assert_eq!(sets.await, (Ok(()), Ok(())));
    assert_eq!(rig.data().await, "second");
}

/// A link is what a server accepted; an attempt that no server answered is none.
#[tokio::test]
async fn links_are_known_from_their_acceptance_to_their_end() {
    let rig = Rig::new().await;
    let session = rig.client.session_id().0;
    let [first] = rig.proxy.links()[..] else {
        panic!("{:?}", rig.proxy.links())
    };
    assert_eq!((first.session, first.until), (session, None));
    rig.proxy.refuse(true);
    rig.proxy.cut();
    assert_eq!(rig.set("lost").await, Err(ZkCode::ConnectionLoss));
    let [first] = rig.proxy.links()[..] else {
        panic!("{:?}", rig.proxy.links())
    };
    let end = first.until.unwrap();
    assert!(first.since < end);
    // Attempts are made, and come to nothing.
    rig.proxy.swallow_reply_and_cut(RequestKind::Connect, 1);
    rig.proxy.refuse(false);
    eventually("it is let in again", LONG, async || {
        Ok(rig.client.get(&rig.path).await?)
    })
    .await
    .unwrap();
    let [_, second] = rig.proxy.links()[..] else {
        panic!("{:?}", rig.proxy.links())
    };
    assert_eq!((second.session, second.until), (session, None));
    assert!(second.since > end);
    rig.client.close().await;
    eventually("the end is recorded", LONG, async || {
        anyhow::ensure!(rig.proxy.links().iter().all(|link| link.until.is_some()));
        Ok(())
    })
    .await
    .unwrap();
}
