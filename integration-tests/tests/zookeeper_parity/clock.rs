//! What tests get from the server in memory beyond what a real one does: sessions end when an injected clock says so.

use std::sync::Arc;
use std::time::Duration;

use ha_core::environment::Clock as _;
use ha_testkit::condition::eventually;
use ha_testkit::fakes::ManualClock;
use ha_zookeeper::client::memory::{MemoryClient, MemoryServer};
use ha_zookeeper::client::{CreateMode, NodeEvent, ZkCode, ZooKeeperClient as _};

const TICK: Duration = Duration::from_millis(500);
const TIMEOUT: Duration = Duration::from_millis(3200);

fn server() -> (ManualClock, MemoryServer) {
    let clock = ManualClock::new();
    let server = MemoryServer::with_clock(Arc::new(clock.clone()), TICK);
    (clock, server)
}

async fn ephemeral(client: &MemoryClient) -> &'static str {
    client
        .create("/e", "".into(), CreateMode::Ephemeral)
        .await
        .unwrap();
    "/e"
}

/// As a real server does: not before its timeout, and at the next whole tick.
#[tokio::test]
async fn a_silent_session_ends_at_the_first_tick_after_its_timeout() {
    for started in [0, 1, 250, 299, 300, 301, 499] {
        let (clock, server) = server();
        let session = server.open_session(TIMEOUT);
        let path = ephemeral(&session).await;
        // A session that is connected is heard of.
        clock.advance(TIMEOUT * 3 + Duration::from_millis(started));
        server.expire_due();
        let cut = clock.wall_time_millis();
        server.cut(session.session_id().0);
        let other = server.client(1);
        let mut ended = cut;
        while other.exists(path).await.unwrap().is_some() {
            clock.advance(Duration::from_millis(1));
            ended += 1;
        }
        let lasted = Duration::from_millis(ended - cut);
        assert!(lasted > TIMEOUT && lasted <= TIMEOUT + TICK, "{lasted:?}");
        assert_eq!(ended % 500, 0);
        server.reconnect(session.session_id().0);
        assert_eq!(session.get(path).await.unwrap_err().code, ZkCode::SessionOver);
    }
}

#[tokio::test]
async fn a_session_that_is_back_in_time_lives_on() {
    let (clock, server) = server();
    let session = server.open_session(TIMEOUT);
    let path = ephemeral(&session).await;
    for _ in 0..5 {
        server.cut(session.session_id().0);
        clock.advance(TIMEOUT);
        server.reconnect(session.session_id().0);
    }
    assert!(session.exists(path).await.unwrap().is_some());
}

#[tokio::test]
async fn timeouts_are_kept_between_2_and_20_ticks() {
    for (asked, granted) in [(1, 1000), (60_000, 10_000)] {
        let (clock, server) = server();
        let session = server.open_session(Duration::from_millis(asked));
        let path = ephemeral(&session).await;
        server.cut(session.session_id().0);
        let other = server.client(1);
        clock.advance(Duration::from_millis(granted));
        assert!(other.exists(path).await.unwrap().is_some());
        clock.advance(TICK);
        assert!(other.exists(path).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn watches_fire_by_the_clock_alone_while_somebody_keeps_time() {
    let (clock, server) = server();
    let session = server.open_session(TIMEOUT);
    let path = ephemeral(&session).await;
    let (_, _, mut gone) = server.client(1).get_and_watch(path).await.unwrap();
    server.cut(session.session_id().0);
    let keeping = server.keep_time();
    let waiting = eventually("the watch fires", || {
        clock.advance(TICK);
        let event = futures::FutureExt::now_or_never(&mut gone);
        async move { event }
    });
    tokio::select! {
        () = keeping => unreachable!("it keeps time for ever"),
        event = waiting => assert_eq!(event, NodeEvent::Deleted),
    }
}
