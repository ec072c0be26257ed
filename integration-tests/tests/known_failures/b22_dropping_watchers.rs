//! B22. Symptom: under load the client takes off a watch that had just fired, is answered "no watcher", cannot place
//! the answer, and fails the connection; all that was in flight on the session fails with it.
//!
//! Provoked: many tasks, on one session, arm watches of all kinds and drop them, some at once, some when they have
//! fired, on one node that comes and goes meanwhile; and each on a node of its own, whose deletion goes to the server
//! just before the request that takes the watch off, so that the server finds no watch.
//!
//! Right: not one reconnect. The version of the client in use has the fix; this keeps it.
//!
//! Source: kezhuw/zookeeper-client-rust#22, fix #24.

use std::sync::Arc;
use std::time::Duration;

use ha_core::environment::Environment;
use ha_core::health::HealthMonitor;
use ha_zookeeper::client::{ClientSource as _, CreateMode, NodeWatch, ZkCode, ZkResult, ZooKeeperClient};
use ha_zookeeper::session::ZooKeeperSession;
use integration_tests::proxy::{FaultProxy, RequestKind};
use integration_tests::{Ensemble, full_form, scaled, unique_name};
use tokio::task::JoinSet;

use crate::zookeeper::options;

/// One watch of the kind that `number` picks; `None` while the node is not there.
async fn arm(client: &dyn ZooKeeperClient, path: &str, number: usize) -> ZkResult<Option<NodeWatch>> {
    let armed = match number % 3 {
        0 => client.get_and_watch(path).await.map(|(_, _, watch)| watch),
        1 => client.exists_and_watch(path).await.map(|(_, watch)| watch),
        _ => client.list_and_watch(path).await.map(|(_, _, watch)| watch),
    };
    match armed {
        Ok(watch) => Ok(Some(watch)),
        Err(error) if error.code == ZkCode::NoNode => Ok(None),
        Err(error) => Err(error),
    }
}

/// Arms a watch on a node of the task's own, and drops it behind the node's deletion.
async fn drop_behind_a_deletion(client: &dyn ZooKeeperClient, path: &str, number: usize) {
    client
        .create(path, "".into(), CreateMode::Persistent)
        .await
        .unwrap();
    let watch = arm(client, path, number).await.unwrap();
    let mut deletion = client.delete(path, None);
    assert!(futures::poll!(&mut deletion).is_pending());
    drop(watch);
    deletion.await.unwrap();
}

/// Tolerates only what the others do to the node.
fn allow<T>(result: ZkResult<T>) {
    if let Err(error) = result {
        assert!(
            matches!(error.code, ZkCode::NoNode | ZkCode::NodeExists),
            "{error:?}"
        );
    }
}

/// 1,000 tasks in the full form, 200 else, five watches each.
#[tokio::test(flavor = "multi_thread")]
async fn b22_watchers_that_are_dropped_as_they_fire_cost_no_reconnect() {
    let tasks = if full_form() { 1000 } else { 200 };
    let ensemble = Ensemble::shared().await.unwrap();
    let proxy = FaultProxy::start(&ensemble.connect_string()).await.unwrap();
    let session = ZooKeeperSession::connect(
        options(&proxy.address(), scaled(Duration::from_secs(30))),
        Environment::system(),
        HealthMonitor::default(),
    )
    .await
    .unwrap();
    let before = session.status().latest();
    let client = session.client().await.unwrap();
    let path: Arc<str> = format!("/{}", unique_name("b22")).into();

    let mut watchers = JoinSet::new();
    for task in 0..tasks {
        let (client, path) = (Arc::clone(&client), Arc::clone(&path));
        watchers.spawn(async move {
            let mut armed = 0;
            for round in 0..5 {
                let own = format!("{path}-{task}");
                drop_behind_a_deletion(client.as_ref(), &own, task + round).await;
                let Some(watch) = arm(client.as_ref(), &path, task + round).await.unwrap() else {
                    continue;
                };
                armed += 1;
                match (task / 3 + round) % 3 {
                    // Dropped before anything can have happened,
                    0 => drop(watch),
                    // when the next answer is there, which a deletion may have come before,
                    1 => {
                        client.exists(&path).await.unwrap();
                        drop(watch);
                    }
                    // and after it fired.
                    _ => drop(tokio::time::timeout(Duration::from_millis(50), watch).await),
                }
            }
            armed
        });
    }
    let mut armed = 0;
    let mut deletions = 0;
    while !watchers.is_empty() {
        allow(client.create(&path, "".into(), CreateMode::Persistent).await);
        tokio::task::yield_now().await;
        allow(client.delete(&path, None).await);
        deletions += 1;
        while let Some(ended) = watchers.try_join_next() {
            armed += ended.unwrap();
        }
    }
    println!(
        "{tasks} tasks, {armed} watches, {deletions} deletions, {} times watches were taken off",
        proxy.seen(RequestKind::RemoveWatches)
    );
    assert!(armed > tasks, "it was watched");
    assert!(
        proxy.seen(RequestKind::RemoveWatches) > 0,
        "watches were taken off"
    );
    // All that came behind has been answered when this is.
    client.sync("/").await.unwrap();
    let after = session.status().latest();
    assert_eq!((after.session, after.connects), (before.session, before.connects));
    assert_eq!(proxy.seen(RequestKind::Connect), 1);
    session.close().await;
}
