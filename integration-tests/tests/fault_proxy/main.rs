//! Each fault of the proxy, as a client of a real server meets it; and what the proxy tells of the traffic (`told`).
#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod told;

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use ha_core::environment::SystemClock;
use ha_zookeeper::client::{
    CreateMode, MultiError, NodeEvent, Operation, WireClient, ZkCode, ZooKeeperClient as _, connect_client,
};
use integration_tests::proxy::{Direction, FaultProxy, Occurrence, RequestFilter, RequestKind};
use integration_tests::waiting::now;
use integration_tests::{AdminClient, Ensemble, eventually, scaled, unique_name};

/// So long that a loaded machine does not end a session, so short that a client soon gives a dead connection up.
const TIMEOUT: Duration = Duration::from_secs(8);
const LONG: Duration = Duration::from_secs(30);

/// A server, a proxy to it, a client through the proxy, and a client beside it.
struct Rig {
    proxy: FaultProxy,
    client: Arc<WireClient>,
    admin: AdminClient,
    path: String,
    _ensemble: Ensemble,
}

impl Rig {
    async fn new() -> Self {
        let ensemble = Ensemble::shared().await.unwrap();
        let servers = ensemble.connect_string();
        let proxy = FaultProxy::start(&servers).await.unwrap();
        let admin = AdminClient::connect(&servers).await.unwrap();
        let path = format!("/{}", unique_name("proxy"));
        admin.create(&path, b"").await.unwrap();
        Self {
            client: connect(&proxy).await.unwrap(),
            proxy,
            admin,
            path,
            _ensemble: ensemble,
        }
    }

    fn set(&self, data: &str) -> impl Future<Output = Result<(), ZkCode>> + Send + use<> {
        let client = Arc::clone(&self.client);
        let (path, data) = (self.path.clone(), data.to_owned());
        async move {
            let result = client.set(&path, data.into(), None).await;
            result.map(drop).map_err(|error| error.code)
        }
    }

    async fn data(&self) -> String {
        self.admin.text(&self.path).await.unwrap().unwrap()
    }

    async fn wait_for_data(&self, data: &str) {
        eventually("the data is there", LONG, async || {
            anyhow::ensure!(self.data().await == data);
            Ok(())
        })
        .await
        .unwrap();
    }
}

async fn connect(proxy: &FaultProxy) -> ha_core::Result<Arc<WireClient>> {
    connect_client(&proxy.address(), TIMEOUT, scaled(LONG), &SystemClock).await
}

/// What the fault does to a write, and that the client is back afterwards on the same session.
async fn a_write_is_lost(applied: bool, lose: impl Fn(&FaultProxy, RequestFilter) -> Occurrence) {
    let rig = Rig::new().await;
    let session = rig.client.session_id();
    let swallow = lose(&rig.proxy, RequestKind::SetData.into());
    rig.set("first").await.unwrap();
    rig.client.get(&rig.path).await.unwrap();
    assert!(!swallow.has_happened());
    assert_eq!(rig.set("second").await, Err(ZkCode::ConnectionLoss));
    swallow.happened().await.unwrap();
    assert_eq!(rig.data().await, if applied { "second" } else { "first" });
    assert_eq!(rig.set("third").await, Ok(()));
    assert_eq!(rig.client.session_id(), session);
    assert_eq!(rig.proxy.seen(RequestKind::Connect), 2);
    assert_eq!(rig.data().await, "third");
}

#[tokio::test]
async fn exactly_the_reply_of_the_second_set_is_swallowed_and_the_connection_cut() {
    a_write_is_lost(true, |proxy, sets| proxy.swallow_reply_and_cut(sets, 2)).await;
}

#[tokio::test]
async fn exactly_the_second_set_is_swallowed_and_the_connection_cut() {
    a_write_is_lost(false, |proxy, sets| proxy.swallow_request_and_cut(sets, 2)).await;
}

/// The client notices by itself that nothing comes any more.
#[tokio::test]
async fn exactly_the_reply_of_the_second_set_is_swallowed_with_all_behind_it() {
    a_write_is_lost(true, |proxy, sets| proxy.swallow_reply(sets, 2)).await;
}

#[tokio::test]
async fn behind_a_swallowed_reply_requests_arrive_and_replies_do_not() {
    let rig = Rig::new().await;
    let swallow = rig.proxy.swallow_reply(RequestKind::Exists, 1);
    let mut exists = Box::pin(rig.client.exists(&rig.path));
    assert!(futures::poll!(&mut exists).is_pending());
    swallow.happened().await.unwrap();
    let mut set = Box::pin(rig.set("behind"));
    assert!(futures::poll!(&mut set).is_pending());
    rig.wait_for_data("behind").await;
    assert!((&mut set).now_or_never().is_none() && (&mut exists).now_or_never().is_none());
    rig.proxy.cut();
    assert_eq!(set.await, Err(ZkCode::ConnectionLoss));
    assert_eq!(exists.await.unwrap_err().code, ZkCode::ConnectionLoss);
}

/// A publish and a claim are told apart by what they are about.
#[tokio::test]
async fn a_multi_is_picked_by_a_node_that_it_is_about() {
    let rig = Rig::new().await;
    let info = format!("{}/info", rig.path);
    let publish = vec![
        Operation::Check {
            path: rig.path.clone(),
            version: 0,
        },
        Operation::Create {
            path: info.clone(),
            data: "leader".into(),
            mode: CreateMode::Ephemeral,
        },
    ];
    let about = RequestFilter::from(RequestKind::Multi).about(&info);
    let swallow = rig.proxy.swallow_reply_and_cut(about, 1);
    rig.client.multi(publish[..1].to_vec()).await.unwrap();
    let error = rig.client.multi(publish).await.unwrap_err();
    assert!(
        matches!(&error, MultiError::Failed(error) if error.code == ZkCode::ConnectionLoss),
        "{error:?}"
    );
    swallow.happened().await.unwrap();
    let stat = rig.client.exists(&info).await.unwrap().unwrap();
    assert_eq!(stat.ephemeral_owner, rig.client.session_id().0);
}

#[tokio::test]
async fn a_client_that_is_not_told_its_session_asks_for_another() {
    let rig = Rig::new().await;
    let swallow = rig.proxy.swallow_reply_and_cut(RequestKind::Connect, 1);
    let mut attempts = 0;
    let client = eventually("connected", LONG, async || {
        attempts += 1;
        Ok(connect(&rig.proxy).await?)
    })
    .await
    .unwrap();
    assert!(swallow.has_happened());
    client.get(&rig.path).await.unwrap();
    assert!(rig.proxy.seen(RequestKind::Connect) >= 3, "{attempts} attempts");
}

#[tokio::test]
async fn a_cut_fails_what_is_in_flight_and_keeps_the_session() {
    let rig = Rig::new().await;
    let session = rig.client.session_id();
    rig.proxy.hold(Direction::ToServer, true);
    let mut held = Box::pin(rig.set("held"));
    assert!(futures::poll!(&mut held).is_pending());
    rig.proxy.cut();
    assert_eq!(held.await, Err(ZkCode::ConnectionLoss));
    rig.proxy.hold(Direction::ToServer, false);
    assert_eq!(rig.set("later").await, Ok(()));
    assert_eq!(rig.client.session_id(), session);
    // What was held back on the old connection is lost.
    assert_eq!(rig.client.exists(&rig.path).await.unwrap().unwrap().version, 1);
}

#[tokio::test]
async fn new_connections_are_refused_and_standing_ones_stay() {
    let rig = Rig::new().await;
    rig.proxy.refuse(true);
    rig.set("standing").await.unwrap();
    assert!(connect(&rig.proxy).await.is_err());
    rig.proxy.cut();
    let connects = rig.proxy.seen(RequestKind::Connect);
    // It waits for a connection.
    let mut waiting = Box::pin(rig.client.get(&rig.path));
    let lost = tokio::time::timeout(TIMEOUT / 10, &mut waiting).await;
    assert!(lost.is_err() || lost.unwrap().is_err());
    assert_eq!(rig.proxy.seen(RequestKind::Connect), connects);
    rig.proxy.refuse(false);
    eventually("it is let in again", LONG, async || {
        Ok(rig.client.get(&rig.path).await?)
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn held_requests_arrive_when_they_are_let_go() {
    let rig = Rig::new().await;
    rig.proxy.hold(Direction::ToServer, true);
    let mut set = Box::pin(rig.set("held"));
    let early = tokio::time::timeout(TIMEOUT / 20, &mut set).await;
    assert!(early.is_err());
    assert_eq!(rig.data().await, "");
    assert_eq!(rig.proxy.seen(RequestKind::SetData), 0);
    rig.proxy.hold(Direction::ToServer, false);
    assert_eq!(set.await, Ok(()));
    assert_eq!(rig.data().await, "held");
}

#[tokio::test]
async fn held_replies_arrive_when_they_are_let_go() {
    let rig = Rig::new().await;
    rig.proxy.hold(Direction::ToClient, true);
    let mut set = Box::pin(rig.set("done"));
    assert!(futures::poll!(&mut set).is_pending());
    rig.wait_for_data("done").await;
    assert!((&mut set).now_or_never().is_none());
    rig.proxy.hold(Direction::ToClient, false);
    assert_eq!(set.await, Ok(()));
}

/// As after one-way loss, when the network sends the old segments again.
#[tokio::test]
async fn a_held_request_of_a_connection_that_the_client_gave_up_still_arrives() {
    let rig = Rig::new().await;
    rig.proxy.hold(Direction::ToServer, true);
    // When the client is back, its server ends the old connection.
    rig.proxy.refuse(true);
    let mut set = Box::pin(rig.set("ghost"));
    assert!(futures::poll!(&mut set).is_pending());
    // The client hears nothing, and gives the connection up.
    assert_eq!(set.await, Err(ZkCode::ConnectionLoss));
    assert_eq!(rig.data().await, "");
    rig.proxy.hold(Direction::ToServer, false);
    rig.wait_for_data("ghost").await;
}

#[tokio::test]
async fn delayed_frames_arrive_later_and_in_order() {
    let rig = Rig::new().await;
    let delay = Duration::from_millis(200);
    for direction in [Direction::ToServer, Direction::ToClient] {
        rig.proxy.delay(direction, delay);
        let begin = now();
        // All are under way together: each is later by the delay, not by the sum of all.
        let sets = (0..10).map(|number| rig.set(&number.to_string()));
        for result in futures::future::join_all(sets).await {
            assert_eq!(result, Ok(()));
        }
        assert!(now().saturating_since(begin) >= delay);
        assert_eq!(rig.data().await, "9");
        rig.proxy.delay(direction, Duration::ZERO);
    }
    let stat = rig.client.exists(&rig.path).await.unwrap().unwrap();
    assert_eq!(stat.version, 20);
}

#[tokio::test]
async fn a_swapped_session_is_another_than_the_client_believes() {
    let rig = Rig::new().await;
    let believed = rig.client.session_id();
    rig.proxy.swap_sessions(true);
    rig.proxy.cut();
    let path = format!("{}/swapped", rig.path);
    eventually("it is connected again", LONG, async || {
        // It may be there from an attempt whose reply was lost.
        let _ = rig.client.create(&path, "".into(), CreateMode::Ephemeral).await;
        anyhow::ensure!(rig.client.exists(&path).await?.is_some());
        Ok(())
    })
    .await
    .unwrap();
    let stat = rig.client.exists(&path).await.unwrap().unwrap();
    assert_ne!(stat.ephemeral_owner, 0);
    assert_ne!(stat.ephemeral_owner, believed.0);
    assert_eq!(rig.client.session_id(), believed);
}

#[tokio::test]
async fn events_are_lost_and_nothing_else() {
    let rig = Rig::new().await;
    rig.proxy.swallow_events(true);
    let (_, _, mut lost) = rig.client.get_and_watch(&rig.path).await.unwrap();
    rig.set("unseen").await.unwrap();
    // What comes behind an event shows that it was sent.
    rig.client.get(&rig.path).await.unwrap();
    assert!((&mut lost).now_or_never().is_none());
    rig.proxy.swallow_events(false);
    let (_, _, told) = rig.client.get_and_watch(&rig.path).await.unwrap();
    rig.set("seen").await.unwrap();
    rig.client.get(&rig.path).await.unwrap();
    assert_eq!(told.now_or_never(), Some(NodeEvent::Changed));
    assert_eq!(rig.proxy.seen(RequestKind::Connect), 1);
}

#[tokio::test]
async fn what_is_no_frame_is_not_passed_on() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;

    let rig = Rig::new().await;
    for garbage in [&b"ruok"[..], &[0xff; 64], &i32::MAX.to_be_bytes()] {
        let mut stream = TcpStream::connect(rig.proxy.address()).await.unwrap();
        stream.write_all(garbage).await.unwrap();
        let closed = tokio::time::timeout(scaled(LONG), stream.read(&mut [0; 16]))
            .await
            .unwrap();
        // An end or a reset.
        assert_eq!(closed.unwrap_or(0), 0);
    }
    rig.set("alive").await.unwrap();
}

#[tokio::test]
async fn dropping_the_proxy_ends_its_connections() {
    let rig = Rig::new().await;
    let address = rig.proxy.address();
    let mut get = Box::pin(rig.client.get(&rig.path));
    rig.proxy.hold(Direction::ToClient, true);
    assert!(futures::poll!(&mut get).is_pending());
    drop(rig.proxy);
    let lost = tokio::time::timeout(scaled(LONG), get).await.unwrap();
    assert_eq!(lost.unwrap_err().code, ZkCode::ConnectionLoss);
    eventually("the port is closed", LONG, async || {
        anyhow::ensure!(tokio::net::TcpStream::connect(&address).await.is_err());
        Ok(())
    })
    .await
    .unwrap();
}
