//! The session against real servers: connecting, suspension, attaching again, replacement, closing.
#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod zookeeper;

use std::time::Duration;

use ha_core::environment::Environment;
use ha_core::health::{ConnectionState, HealthMonitor};
use ha_core::{Effect, ErrorKind};
use ha_zookeeper::client::{ClientSource as _, CreateMode, SessionId};
use ha_zookeeper::session::{SessionStatus, ZooKeeperSession};
use integration_tests::proxy::{Direction, FaultProxy};
use integration_tests::{AdminClient, Ensemble, EnsembleOptions, eventually, unique_name, unstalled_case};
use zookeeper::options;

const LONG: Duration = Duration::from_secs(60);

async fn connect(servers: &str, timeout: Duration) -> ZooKeeperSession {
    ZooKeeperSession::connect(
        options(servers, timeout),
        Environment::system(),
        HealthMonitor::default(),
    )
    .await
    .unwrap()
}

async fn wait_for(
    session: &ZooKeeperSession,
    what: &str,
    condition: impl Fn(&SessionStatus) -> bool,
) -> SessionStatus {
    let mut status = session.status();
    let reached = tokio::time::timeout(integration_tests::scaled(LONG), status.wait_for(condition)).await;
    reached
        .map_err(|_| format!("not in time: {what}"))
        .unwrap()
        .unwrap()
}

async fn create_ephemeral(session: &ZooKeeperSession) -> String {
    let path = format!("/{}", unique_name("ephemeral"));
    let client = session.client().await.unwrap();
    client
        .create(&path, "".into(), CreateMode::Ephemeral)
        .await
        .unwrap();
    path
}

#[tokio::test]
async fn closing_takes_the_ephemeral_znodes_with_it_at_once() {
    let ensemble = Ensemble::shared().await.unwrap();
    let admin = AdminClient::connect(&ensemble.connect_string()).await.unwrap();
    let session = connect(&ensemble.connect_string(), Duration::from_secs(30)).await;
    assert_eq!(session.status().latest().state, ConnectionState::Connected);
    let path = create_ephemeral(&session).await;
    // Somebody who keeps a client does not keep the session.
    let kept = session.client().await.unwrap();
    session.close().await;
    session.close().await;
    assert!(admin.node(&path).await.unwrap().is_none());
    assert!(kept.get(&path).await.is_err());
    let error = session.client().await.err().unwrap();
    assert_eq!(
        (error.kind(), error.effect()),
        (ErrorKind::Closed, Effect::NotApplied)
    );
}

#[tokio::test]
async fn the_timeout_is_what_the_servers_grant() {
    let ensemble = Ensemble::shared().await.unwrap();
    let session = connect(&ensemble.connect_string(), Duration::from_secs(3600)).await;
    assert!(session.session_timeout() < Duration::from_secs(3600));
    session.close().await;
}

#[tokio::test]
async fn a_start_without_servers_gives_up_and_says_what_was_tried() {
    let port = integration_tests::ensemble::ReservedPort::reserve().unwrap();
    let address = format!("127.0.0.1:{}", port.port());
    let mut options = options(&address, Duration::from_secs(4));
    options.max_retry_attempts = 2;
    let connecting =
        ZooKeeperSession::connect(options.clone(), Environment::system(), HealthMonitor::default());
    let error = connecting.await.err().unwrap();
    assert_eq!(
        (error.kind(), error.effect()),
        (ErrorKind::Unavailable, Effect::NotApplied)
    );
    let text = error.to_string();
    assert!(text.contains(&address) && text.contains("3 times"), "{text}");

    options.server_tick_time = Some(Duration::from_secs(3));
    let refused = ZooKeeperSession::connect(options, Environment::system(), HealthMonitor::default()).await;
    assert_eq!(refused.err().unwrap().kind(), ErrorKind::Invalid);
}

#[tokio::test]
async fn a_suspension_keeps_session_and_ephemerals() {
    unstalled_case(async || {
        let mut ensemble = Ensemble::start(EnsembleOptions::standalone()).await.unwrap();
        // Suspended after two fifths of it.
        let session = connect(&ensemble.connect_string(), Duration::from_secs(20)).await;
        let before = session.status().latest();
        let path = create_ephemeral(&session).await;
        ensemble.server(0).unwrap().stop().unwrap();
        wait_for(&session, "suspended", |status| {
            status.state == ConnectionState::Suspended
        })
        .await;
        ensemble.server(0).unwrap().cont().unwrap();
        let after = wait_for(&session, "connected", SessionStatus::is_connected).await;
        assert_eq!(after.session, before.session);
        assert!(after.connects > before.connects);
        assert!(
            session
                .client()
                .await
                .unwrap()
                .exists(&path)
                .await
                .unwrap()
                .is_some()
        );
        session.close().await;
    })
    .await;
}

#[tokio::test]
async fn a_session_that_expired_is_replaced() {
    unstalled_case(async || {
        let mut ensemble = Ensemble::start(EnsembleOptions::standalone()).await.unwrap();
        let session = connect(&ensemble.connect_string(), Duration::from_secs(6)).await;
        let before = session.status().latest();
        let path = create_ephemeral(&session).await;
        ensemble.server(0).unwrap().stop().unwrap();
        wait_for(&session, "lost", |status| status.state == ConnectionState::Lost).await;
        ensemble.server(0).unwrap().cont().unwrap();
        let after = wait_for(&session, "a new session", |status| {
            status.is_connected() && status.session != before.session
        })
        .await;
        let client = session.client().await.unwrap();
        assert_eq!(after.session, Some(client.session_id()));
        eventually("the old session's node is gone", LONG, async || {
            anyhow::ensure!(client.exists(&path).await?.is_none());
            Ok(())
        })
        .await
        .unwrap();
        session.close().await;
    })
    .await;
}

/// The client crate declares a session expired by itself after 1.4 timeouts without an answer, although the
/// session lives on where its requests reach a server.
#[tokio::test]
async fn a_session_that_only_seemed_expired_is_attached_to_again() {
    unstalled_case(async || {
        let ensemble = Ensemble::shared().await.unwrap();
        let proxy = FaultProxy::start(&ensemble.connect_string()).await.unwrap();
        let session = connect(&proxy.address(), Duration::from_secs(8)).await;
        let before = session.status().latest();
        let path = create_ephemeral(&session).await;
        proxy.hold(Direction::ToClient, true);
        wait_for(&session, "seemingly expired", |status| status.session.is_none()).await;
        proxy.hold(Direction::ToClient, false);
        let after = wait_for(&session, "connected", |status| {
            status.is_connected() && status.session.is_some()
        })
        .await;
        assert_eq!(after.session, before.session);
        let client = session.client().await.unwrap();
        let stat = client.exists(&path).await.unwrap().unwrap();
        assert_eq!(Some(SessionId(stat.ephemeral_owner)), before.session);
        session.close().await;
    })
    .await;
}
