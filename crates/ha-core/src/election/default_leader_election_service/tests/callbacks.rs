//! Order, isolation and deadlines of callbacks (I4).

use super::*;

#[tokio::test]
async fn the_flag_is_false_before_revoke_and_revoke_comes_before_the_next_grant() {
    let world = World::new();
    let contender = world.dispatcher().await;
    for term in 1..=3 {
        world.driver.grant(term);
        contender
            .calls
            .until_has(Call::Granted(session(term), true))
            .await;
        world.driver.revoke(term);
        let told = usize::try_from(term).unwrap();
        world
            .driver
            .calls
            .until(|calls| calls.iter().filter(|call| *call == "revoked").count() == told)
            .await;
    }
    let expected: Vec<_> = (1..=3)
        .flat_map(|term| [Call::Granted(session(term), true), Call::Revoked(false)])
        .collect();
    assert_eq!(contender.calls.all(), expected);
}

#[tokio::test]
async fn a_blocked_contender_delays_neither_the_flag_nor_the_others() {
    let world = World::new();
    let blocked = world
        .start(ComponentId::dispatcher(), |script| {
            script.block_in = Some("grant")
        })
        .await;
    let other = world.start(ComponentId::rest_server(), |_| ()).await;
    world.driver.grant(1);
    blocked.calls.until_has(Call::Granted(session(1), true)).await;
    other.calls.until_has(Call::Granted(session(1), true)).await;
    let mut own = blocked.service.subscribe();
    assert!(own.borrow().is_some());
    world.driver.revoke(1);
    other.calls.until_has(Call::Revoked(false)).await;
    within_bounds(own.wait_for(Option::is_none)).await.unwrap();
    assert!(!blocked.service.has_leadership(session(1)).await);
    assert!(
        !world.driver.calls.all().contains(&"revoked".to_owned()),
        "not all are revoked yet"
    );
    blocked.gate.add_permits(1);
    world.driver.calls.until_has("revoked".to_owned()).await;
    assert_eq!(blocked.calls.all().last(), Some(&Call::Revoked(false)));
}

/// Before, this stood still for ever: the election waited for the follower.
#[tokio::test]
async fn a_follower_that_does_not_let_go_of_what_it_borrowed_delays_only_the_contender_that_it_follows() {
    let world = World::new();
    let followed = world.dispatcher().await;
    let other = world.start(ComponentId::rest_server(), |_| ()).await;
    world.driver.grant(1);
    for contender in [&followed, &other] {
        contender.calls.until_has(Call::Granted(session(1), true)).await;
    }
    let mut follower = followed.service.subscribe();
    within_bounds(follower.wait_for(Option::is_some)).await.unwrap();
    let borrowed = follower.borrow();
    world.driver.revoke(1);
    other.calls.until_has(Call::Revoked(false)).await;
    assert!(!followed.service.has_leadership(session(1)).await);
    assert_eq!(followed.calls.all(), [Call::Granted(session(1), true)]);
    let entering = world.start(ComponentId::resource_manager(), |_| ()).await;
    within_bounds(entering.service.stop()).await.unwrap();
    assert!(borrowed.is_some());
    drop(borrowed);
    within_bounds(follower.wait_for(Option::is_none)).await.unwrap();
    world.driver.calls.until_has("revoked".to_owned()).await;
    assert_eq!(followed.calls.all().last(), Some(&Call::Revoked(false)));
}

#[tokio::test]
async fn a_revocation_that_does_not_return_is_fatal_and_the_driver_is_told_anyway() {
    let world = World::new();
    let blocked = world
        .start(ComponentId::dispatcher(), |script| {
            script.block_in = Some("revoke")
        })
        .await;
    world.driver.grant(1);
    blocked.calls.until_has(Call::Granted(session(1), true)).await;
    let before = world.clock.now();
    world.driver.revoke(1);
    blocked.calls.until_has(Call::Revoked(false)).await;
    world
        .advance_until(|| world.driver.calls.all().contains(&"revoked".to_owned()))
        .await;
    assert!(world.clock.now().saturating_since(before) >= REVOKE_TIMEOUT);
    let fatal = world.fatal.0.all();
    assert_eq!(fatal.len(), 1, "{fatal:?}");
    assert!(
        fatal[0].starts_with("dispatcher ") && fatal[0].contains("30s"),
        "{fatal:?}"
    );

    // The next term begins for it once it has returned from the last one.
    world.driver.grant(2);
    let late = world.start(ComponentId::rest_server(), |_| ()).await;
    late.calls.until_has(Call::Granted(session(2), true)).await;
    assert!(!blocked.service.has_leadership(session(2)).await);
    assert_eq!(blocked.calls.all().len(), 2);
    blocked.gate.add_permits(1);
    blocked.calls.until_has(Call::Granted(session(2), true)).await;
}

#[tokio::test]
async fn stop_gives_up_on_a_blocked_contender_at_the_deadline_and_calls_it_no_more() {
    let world = World::new();
    let blocked = world
        .start(ComponentId::dispatcher(), |script| {
            script.block_in = Some("grant")
        })
        .await;
    world.driver.grant(1);
    blocked.calls.until_has(Call::Granted(session(1), true)).await;
    let stop = blocked.service.stop();
    let drive = world.advance_until(|| world.driver.calls.all().contains(&"close".to_owned()));
    let (stopped, ()) = within_bounds(async { tokio::join!(stop, drive) }).await;
    stopped.unwrap();
    assert_eq!(world.fatal.0.all().len(), 1);
    blocked.gate.add_permits(1);
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(blocked.calls.all(), [Call::Granted(session(1), true)]);
}

#[tokio::test]
async fn a_panic_is_fatal_and_touches_no_other_contender() {
    let world = World::new();
    let broken = world
        .start(ComponentId::dispatcher(), |script| {
            script.panic_in = Some("grant")
        })
        .await;
    let other = world.start(ComponentId::rest_server(), |_| ()).await;
    world.driver.grant(1);
    other.calls.until_has(Call::Granted(session(1), true)).await;
    world.fatal.0.until(|reports| reports.len() == 1).await;
    assert!(world.fatal.0.all()[0].contains("grant_leadership"));
    world.driver.revoke(1);
    broken.calls.until_has(Call::Revoked(false)).await;
    other.calls.until_has(Call::Revoked(false)).await;
    world.driver.calls.until_has("revoked".to_owned()).await;
}

#[tokio::test]
async fn stop_inside_a_callback_does_not_deadlock_and_is_the_last_callback() {
    for callback in ["grant", "revoke", "error"] {
        let world = World::new();
        let contender = world
            .start(ComponentId::dispatcher(), |script| {
                script.stop_in = Some(callback)
            })
            .await;
        world.driver.grant(1);
        if callback != "grant" {
            contender.calls.until_has(Call::Granted(session(1), true)).await;
        }
        match callback {
            "revoke" => world.driver.revoke(1),
            "error" => world
                .driver
                .send(LeaderElectionEvent::Error(Error::new(ErrorKind::Corrupt, "odd"))),
            _ => {}
        }
        contender.stopped.until_has(Ok(())).await;
        let calls = contender.calls.all();
        world.driver.calls.until_has("close".to_owned()).await;
        // From outside it waits for the callback.
        within_bounds(contender.service.stop()).await.unwrap();
        assert_eq!(contender.calls.all(), calls, "{callback}");
        assert!(!contender.service.has_leadership(session(1)).await);
        assert!(world.fatal.0.all().is_empty());
    }
}

#[tokio::test]
async fn close_inside_a_callback_does_not_deadlock() {
    struct Closer(Arc<DefaultLeaderElectionService>, Log<()>);
    #[async_trait]
    impl LeaderContender for Closer {
        async fn grant_leadership(&self, _session: LeaderSessionId) {
            self.0.close().await.unwrap();
            self.1.push(());
        }
        async fn revoke_leadership(&self) {
            unreachable!("no callback after a close inside one");
        }
        fn address(&self) -> String {
            String::new()
        }
        async fn handle_error(&self, _error: Error) {}
    }
    let world = World::new();
    let other = world.start(ComponentId::rest_server(), |_| ()).await;
    let closer = Arc::new(Closer(Arc::clone(&world.service), Log::new()));
    let service = world.service.election(ComponentId::dispatcher());
    service.start(Arc::clone(&closer) as _).await.unwrap();
    world.driver.grant(1);
    closer.1.until(|closed| !closed.is_empty()).await;
    world.driver.calls.until_has("close".to_owned()).await;
    within_bounds(world.service.close()).await.unwrap();
    assert!(!other.service.has_leadership(session(1)).await);
    assert!(world.fatal.0.all().is_empty());
}

/// Stop against grant and revoke at every possible moment: it always returns, and nothing is called after it.
#[tokio::test]
async fn stop_races_with_grants_and_revocations() {
    for round in 0..200u64 {
        let world = World::new();
        let contender = world
            .start(ComponentId::dispatcher(), |script| {
                script.stop_in = (round % 3 == 0).then_some("grant");
            })
            .await;
        let service = Arc::clone(&contender.service);
        let stop = async move {
            for _ in 0..round % 17 {
                tokio::task::yield_now().await;
            }
            service.stop().await.unwrap();
        };
        let change = async {
            for term in 1..6 {
                world.driver.grant(term);
                for _ in 0..round % 5 {
                    tokio::task::yield_now().await;
                }
                world.driver.revoke(term);
            }
        };
        within_bounds(async { tokio::join!(change, stop) }).await;
        let calls = contender.calls.all();
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        assert_eq!(contender.calls.all(), calls, "round {round}");
        let mut granted = false;
        for call in calls {
            match call {
                Call::Granted(..) => {
                    assert!(!granted, "round {round}: two grants in a row");
                    granted = true;
                }
                Call::Revoked(leads) => {
                    assert!(granted && !leads, "round {round}");
                    granted = false;
                }
                Call::Error(_) => {}
            }
        }
    }
}
