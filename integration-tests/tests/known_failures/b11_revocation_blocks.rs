//! B11. Symptom: leadership is over, but what the callback should stop goes on, because stopping blocks: the next
//! leader acts beside it.
//!
//! Provoked: a process with two components; the revoke callback of one never returns, and the process is cut off
//! for longer than its lease, its latch is deleted, or it is stopped. And a grant callback that never returns.
//!
//! Right: `has_leadership` is false when the lease ends, whatever the callbacks do; the other component is revoked
//! and granted as if nothing were; after the deadline the fatal error handler is told to end the process; and the
//! component that blocks is not granted anything before it has returned.
//!
//! Sources: cilium/cilium#42920, kubernetes/kubernetes#23731 and #67651, risingwavelabs/risingwave#8238 and #7947,
//! apache/camel#25791.

use std::sync::Arc;
use std::time::Duration;

use ha_core::ErrorKind;
use ha_core::environment::Environment;
use ha_core::ids::ComponentId;
use ha_testkit::fakes::{
    Behaviour, ContenderCall, Gate, Recorder, RecordingContender, RecordingFatalErrorHandler,
};
use integration_tests::proxy::FaultProxy;
use integration_tests::{AdminClient, Ensemble, eventually, scaled, unstalled_case};

use crate::zookeeper::{AT_ONCE, Process, new_cluster, options, wait_until_leads};

/// How long callbacks may take to return from a revocation.
const REVOKE_TIMEOUT: Duration = Duration::from_secs(1);
const LONG: Duration = Duration::from_secs(60);
/// A revocation, with the flag false before it.
const REVOKED: ContenderCall = ContenderCall::Revoked {
    has_leadership: false,
};

/// A process whose dispatcher blocks at `gate`, in a grant or in a revocation.
async fn blocking(
    name: &str,
    servers: &str,
    paths: &ha_zookeeper::paths::ClusterPaths,
    timeout: Duration,
    (on_grant, on_revoke): (Behaviour, Behaviour),
) -> (Process, RecordingFatalErrorHandler) {
    let fatal = RecordingFatalErrorHandler::new();
    let environment = Environment::system().with_fatal_error_handler(Arc::new(fatal.clone()));
    let options = options(servers, timeout);
    let mut process = Process::connect_in(environment, REVOKE_TIMEOUT, name, paths, options).await;
    let address = format!("http://{name}:1");
    process.contender = RecordingContender::with(&address, &Recorder::new(), on_grant, on_revoke);
    process.contender.contend(&process.service).await;
    (process, fatal)
}

async fn wait_until_revoked(contender: &RecordingContender) {
    contender.wait_for_call("revoked", |call| *call == REVOKED).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b11_a_blocked_revocation_delays_neither_the_flag_nor_another_component() {
    unstalled_case(async || {
        let timeout = scaled(Duration::from_secs(8));
        let ensemble = Ensemble::shared().await.unwrap();
        let servers = ensemble.connect_string();
        let proxy = FaultProxy::start(&servers).await.unwrap();
        let paths = new_cluster();
        let gate = Gate::new();
        let blocked = (Behaviour::Confirm, Behaviour::Block(gate.clone()));
        let (old, fatal) = blocking("a", &proxy.address(), &paths, timeout, blocked).await;
        let resource_manager = old.election.election(ComponentId::resource_manager());
        let other = RecordingContender::confirming("http://a:2");
        other.contend(&resource_manager).await;
        let term = other.wait_for_grant().await;
        wait_until_leads(&old, AT_ONCE).await;
        let next = Process::start("b", &paths, options(&servers, timeout)).await;

        // Cut off for longer than the lease.
        proxy.hold_both(true);
        eventually("the next one leads", LONG, async || {
            // In this order: if the old one leads after the next one does, both do at once.
            let next_leads = next.leads().await;
            assert!(!(next_leads && old.service.has_leadership(term).await));
            assert!(!(next_leads && resource_manager.has_leadership(term).await));
            anyhow::ensure!(next_leads);
            Ok(())
        })
        .await
        .unwrap();
        wait_until_revoked(&old.contender).await;
        assert_eq!(old.contender.calls().last(), Some(&REVOKED), "it still blocks");
        other
            .wait_for_call("returned from the revocation", |call| {
                *call == ContenderCall::RevokeReturned
            })
            .await;
        let error = fatal.wait_for_kind(ErrorKind::Internal).await;
        assert_eq!(error.subject(), Some(ComponentId::dispatcher().as_str()));

        // It contends again although it blocks, and the other component leads again.
        proxy.cut();
        proxy.hold_both(false);
        next.close().await;
        let term = other.wait_for_grants(2).await;
        assert!(resource_manager.has_leadership(term).await);
        assert!(
            !old.service.has_leadership(term).await,
            "not told of the term, so not leading in it"
        );
        assert_eq!(old.contender.sessions().len(), 1);
        gate.open();
        assert_eq!(old.contender.wait_for_grants(2).await, term);
        assert!(old.service.has_leadership(term).await);
        old.close().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b11_a_blocked_grant_does_not_keep_the_flag() {
    let ensemble = Ensemble::shared().await.unwrap();
    let servers = ensemble.connect_string();
    let admin = AdminClient::connect(&servers).await.unwrap();
    let paths = new_cluster();
    let gate = Gate::new();
    let timeout = Duration::from_secs(40);
    let blocked = (Behaviour::Block(gate.clone()), Behaviour::Record);
    let (old, fatal) = blocking("a", &servers, &paths, timeout, blocked).await;
    let term = old.contender.wait_for_grant().await;
    let next = Process::start("b", &paths, options(&servers, timeout)).await;
    eventually("both stand", AT_ONCE, async || {
        anyhow::ensure!(admin.children(&paths.latches()).await?.len() == 2);
        Ok(())
    })
    .await
    .unwrap();
    admin.delete(&old.latch()).await.unwrap();
    wait_until_leads(&next, AT_ONCE).await;
    eventually("the flag is false", AT_ONCE, async || {
        anyhow::ensure!(!old.service.has_leadership(term).await);
        Ok(())
    })
    .await
    .unwrap();
    assert_eq!(old.contender.calls().len(), 1, "the grant still blocks");
    fatal.wait_for_kind(ErrorKind::Internal).await;
    gate.open();
    wait_until_revoked(&old.contender).await;
    old.close().await;
    next.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b11_a_stop_with_a_blocked_revocation_hands_over_at_the_deadline() {
    let ensemble = Ensemble::shared().await.unwrap();
    let servers = ensemble.connect_string();
    let paths = new_cluster();
    let timeout = Duration::from_secs(40);
    let blocked = (Behaviour::Confirm, Behaviour::Block(Gate::new()));
    let (old, fatal) = blocking("a", &servers, &paths, timeout, blocked).await;
    let term = old.contender.wait_for_grant().await;
    let next = Process::start("b", &paths, options(&servers, timeout)).await;
    let (stopped, ()) = futures::join!(old.service.stop(), async {
        wait_until_revoked(&old.contender).await;
        assert!(!old.service.has_leadership(term).await);
        // In this order: the deadline is later than what is looked at.
        let granted = next.contender.sessions();
        if fatal.errors().is_empty() {
            assert_eq!(granted, [], "handed over before the deadline");
        }
    });
    stopped.unwrap();
    fatal.wait_for_kind(ErrorKind::Internal).await;
    wait_until_leads(&next, AT_ONCE).await;
    assert_eq!(old.contender.calls().last(), Some(&REVOKED), "it blocks for ever");
    old.close().await;
    next.close().await;
}
