//! An ensemble that is frozen: all servers are stopped, keep their connections, and answer nothing (B12).

use std::time::Duration;

use ha_zookeeper::client::{ClientSource as _, CreateMode, MultiError, Operation};
use ha_zookeeper::session::SessionOptions;
use integration_tests::waiting::now;
use integration_tests::{Ensemble, EnsembleOptions, full_form, pause, scaled, unstalled_case};

use crate::group::{Group, SOON, grants_and_revocations};
use crate::zookeeper::{Process, options};

const SERVERS: usize = 3;
const TICK: Duration = Duration::from_secs(1);

/// Three servers. After a freeze of more than `sync_limit` ticks each takes the others' silence for their death, and
/// they elect a leader anew.
async fn ensemble(tick: Duration, sync_limit: u32) -> Ensemble {
    let options = EnsembleOptions::three()
        .with_tick_time(tick)
        .with_sync_limit(sync_limit);
    Ensemble::start(options).await.unwrap()
}

fn session_options(servers: &str, timeout: Duration, tick: Duration) -> SessionOptions {
    SessionOptions {
        server_tick_time: Some(tick),
        ..options(servers, timeout)
    }
}

fn stop_all(ensemble: &mut Ensemble) {
    for server in 0..SERVERS {
        ensemble.server(server).unwrap().stop().unwrap();
    }
}

fn continue_all(ensemble: &mut Ensemble) {
    for server in 0..SERVERS {
        ensemble.server(server).unwrap().cont().unwrap();
    }
}

async fn freeze(ensemble: &mut Ensemble, duration: Duration) {
    stop_all(ensemble);
    pause(duration).await;
    continue_all(ensemble);
}

/// The timeout is 24 ticks, of which a lease has more than 15 left at any moment: a third, and a machine that stalls.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_third_of_the_timeout_is_invisible() {
    unstalled_case(async || {
        let timeout = scaled(TICK * 24);
        let mut ensemble = ensemble(TICK, 12).await;
        let group = Group::start(3, &session_options(&ensemble.connect_string(), timeout, TICK)).await;
        // The lease is as long as it gets once the first proofs count.
        pause(timeout / 3).await;
        let before = group.before().await;
        let frozen = now();
        freeze(&mut ensemble, timeout / 3).await;
        group.answered().await;
        eprintln!(
            "frozen for {:?} of {timeout:?}; answered again after {:?}",
            timeout / 3,
            now().saturating_since(frozen)
        );
        // What was on its way arrives.
        pause(timeout / 4).await;
        group.expect_untouched(&before).await;
        group.close().await;
    })
    .await;
}

/// With the default, half the timeout is invisible; without tolerance it is one revocation and one grant, and
/// nothing that was sent in the first term lands in the second.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b12_stopped_for_half_the_timeout() {
    unstalled_case(async || {
        let timeout = scaled(TICK * 28);
        let mut ensemble = ensemble(TICK, 60).await;
        let tolerant = session_options(&ensemble.connect_string(), timeout, TICK);
        let strict = SessionOptions {
            tolerate_suspended_connections: false,
            ..tolerant.clone()
        };
        let (tolerant, strict) = futures::join!(Group::start(3, &tolerant), Group::start(3, &strict));
        pause(timeout / 3).await;
        let (tolerant_before, strict_before) = (tolerant.before().await, strict.before().await);
        let leader = &strict.processes[0];
        let term = leader.term().await.unwrap();
        let fence = leader.fence.current().unwrap().unwrap();
        let client = leader.session.client().await.unwrap();

        stop_all(&mut ensemble);
        let late = format!("{}/late", strict.paths.cluster());
        let write = client.multi(vec![
            fence.check(),
            Operation::Create {
                path: late.clone(),
                data: "".into(),
                mode: CreateMode::Persistent,
            },
        ]);
        let (written, ()) = futures::join!(write, async {
            pause(timeout / 2).await;
            assert!(
                !leader.service.has_leadership(term).await,
                "half a timeout is no short flap"
            );
            continue_all(&mut ensemble);
        });

        strict.reconnected(&strict_before).await;
        let next = leader.contender.wait_for_grants(2).await;
        tolerant.answered().await;
        pause(timeout / 4).await;
        tolerant.expect_untouched(&tolerant_before).await;
        assert_ne!(next, term);
        assert_eq!(leader.term().await, Some(next));
        let disconnections = usize::try_from(strict.connects()[0] - strict_before.connects()[0]).unwrap();
        let (grants, revocations) = grants_and_revocations(leader);
        assert_eq!((grants, revocations), (1 + disconnections, disconnections));
        assert_eq!(
            strict.grants_and_revocations(),
            (grants, revocations),
            "only the leader is called"
        );
        expect_not_in(&strict, leader, &late, written).await;
        for group in [tolerant, strict] {
            group.close().await;
        }
    })
    .await;
}

/// What was written under the fence of an earlier term is not there, or older than the present term.
async fn expect_not_in<T: std::fmt::Debug>(
    group: &Group,
    leader: &Process,
    path: &str,
    written: Result<T, MultiError>,
) {
    let client = leader.session.client().await.unwrap();
    client.sync(path).await.unwrap();
    let claim = client.exists(&leader.latch()).await.unwrap().unwrap();
    let found = client.exists(path).await.unwrap();
    eprintln!(
        "the write of the first term came to {written:?}; it was applied: {:?}; the second term's claim is {:#x}",
        found.as_ref().map(|stat| stat.czxid),
        claim.mzxid
    );
    assert!(
        found.is_none_or(|stat| stat.czxid < claim.mzxid),
        "{path} was written in the next term of {}",
        group.paths.cluster()
    );
}

/// For twice the timeout: revoked by the clock alone, before any server could have expired the session (without
/// tolerance even sooner); then one leader, with one revocation and one grant over all processes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b12_stopped_for_twice_the_timeout() {
    unstalled_case(async || {
        const TICK: Duration = Duration::from_millis(500);
        let timeout = scaled(TICK * 16);
        let mut ensemble = ensemble(TICK, 60).await;
        let tolerant = session_options(&ensemble.connect_string(), timeout, TICK);
        let strict = SessionOptions {
            tolerate_suspended_connections: false,
            ..tolerant.clone()
        };
        let (tolerant, strict) = futures::join!(Group::start(3, &tolerant), Group::start(3, &strict));
        let groups = [tolerant, strict];
        pause(timeout / 2).await;
        let frozen = now();
        stop_all(&mut ensemble);
        for group in &groups {
            let leader = &group.processes[0];
            let revoked = |_: &[_]| (grants_and_revocations(leader) == (1, 1)).then_some(());
            leader.contender.wait_for("the revocation", revoked).await;
        }
        pause((timeout * 2).saturating_sub(now().saturating_since(frozen))).await;
        let thawed = now();
        continue_all(&mut ensemble);
        for group in &groups {
            group.one_leads(timeout * 4).await;
        }
        // Nothing follows that somebody would have to be revoked for.
        pause(timeout / 2).await;
        let bound = timeout + TICK * 2 + Duration::from_secs(1);
        for group in groups {
            group.one_leads(SOON).await;
            assert_eq!(group.grants_and_revocations(), (2, 1));
            let terms = group.close().await;
            let (first, second) = (&terms[0], &terms[1]);
            assert!(second.begin.latest > thawed, "{second}: without a server");
            let lasted = first.held_until.saturating_since(frozen);
            let took = second.begin.latest.saturating_since(thawed);
            eprintln!(
                "frozen for twice {timeout:?}: the lease lasted {lasted:?}; one leads {took:?} after the thaw, the bound is {bound:?}"
            );
            // No server ends a session before that.
            assert!(lasted < timeout, "the lease lasted {lasted:?} of {timeout:?}");
            // Beside other tests the machine may be slower than the protocol.
            assert!(!full_form() || took <= scaled(bound), "one leads after {took:?}");
        }
    })
    .await;
}
