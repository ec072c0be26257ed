//! Who takes part, and what starting, stopping and closing do.

use super::*;

#[tokio::test]
async fn the_driver_is_made_at_the_first_start_and_closed_after_the_last_stop() {
    let world = World::new();
    let unstarted = world.service.election(ComponentId::dispatcher());
    assert_eq!(unstarted.stop().await.map_err(|e| e.kind()), Ok(()));
    assert!(world.driver.calls.all().is_empty());

    let first = world.dispatcher().await;
    let second = world.start(ComponentId::rest_server(), |_| ()).await;
    assert_eq!(world.driver.calls.all(), ["create"]);
    within_bounds(first.service.stop()).await.unwrap();
    assert_eq!(world.driver.calls.all(), ["create"]);
    within_bounds(second.service.stop()).await.unwrap();
    assert_eq!(world.driver.calls.all(), ["create", "end_leadership", "close"]);

    world.dispatcher().await;
    assert_eq!(world.driver.calls.all().last().unwrap(), "create", "entered anew");
}

#[tokio::test]
async fn stopping_the_leader_revokes_first_and_gives_up_leadership_then() {
    let world = World::new();
    let contender = world.dispatcher().await;
    world.driver.grant(1);
    world
        .driver
        .calls
        .until_has("publish dispatcher http://contender".to_owned())
        .await;
    within_bounds(contender.service.stop()).await.unwrap();
    assert_eq!(
        contender.calls.all(),
        [Call::Granted(session(1), true), Call::Revoked(false)]
    );
    assert_eq!(world.driver.calls.all()[2..], ["end_leadership", "close"]);
    assert!(!contender.service.has_leadership(session(1)).await);
    let error = contender
        .service
        .confirm_leadership(session(1), None)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    within_bounds(contender.service.stop()).await.unwrap();
    assert_eq!(contender.calls.all().len(), 2, "stopping again calls nothing");
}

#[tokio::test]
async fn stopping_one_component_of_several_withdraws_only_its_own_information() {
    let world = World::new();
    let dispatcher = world.dispatcher().await;
    let rest = world.start(ComponentId::rest_server(), |_| ()).await;
    world.driver.grant(1);
    world
        .driver
        .calls
        .until_has("publish dispatcher http://contender".to_owned())
        .await;
    within_bounds(dispatcher.service.stop()).await.unwrap();
    assert_eq!(world.driver.calls.all().last().unwrap(), "withdraw dispatcher");
    assert!(rest.service.has_leadership(session(1)).await);
    assert!(!rest.calls.all().contains(&Call::Revoked(false)));
}

#[tokio::test]
async fn a_component_that_joins_late_is_granted_the_present_term() {
    let world = World::new();
    world.dispatcher().await;
    world.driver.grant(1);
    let late = world
        .start(
            ComponentId::job_manager(crate::ids::JobId::from_bytes([1; 16])),
            |_| (),
        )
        .await;
    late.calls.until_has(Call::Granted(session(1), true)).await;
}

#[tokio::test]
async fn a_second_contender_of_a_component_and_a_second_start_are_refused() {
    let world = World::new();
    let first = world.dispatcher().await;
    let again = first.service.start(Arc::clone(&first) as _).await.unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Invalid);

    let other = world.service.election(ComponentId::dispatcher());
    let contender = Arc::new(Recorder::new(&other));
    let error = other.start(Arc::clone(&contender) as _).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(error.subject(), Some("dispatcher"));

    first.service.stop().await.unwrap();
    let stopped = first.service.start(Arc::clone(&first) as _).await.unwrap_err();
    assert_eq!(stopped.kind(), ErrorKind::Invalid, "also after stop");
    other.start(contender).await.unwrap();
}

#[tokio::test]
async fn a_start_that_is_dropped_half_way_is_given_up() {
    let world = World::new();
    let service = world.service.election(ComponentId::dispatcher());
    let contender = Arc::new(Recorder::new(&service));
    {
        let mut start = std::pin::pin!(service.start(Arc::clone(&contender) as _));
        assert!(futures::poll!(&mut start).is_pending());
    }
    world.driver.calls.until_has("close".to_owned()).await;
    within_bounds(service.stop()).await.unwrap();
    let again = service.start(Arc::clone(&contender) as _).await.unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Invalid, "it was stopped");
    // Nobody keeps the contender.
    within_bounds(async {
        while Arc::strong_count(&contender) > 1 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    world.dispatcher().await;
}

#[tokio::test]
async fn an_election_that_cannot_be_entered_now_is_entered_later() {
    let world = World::new();
    *world.driver.create_results.lock().unwrap() = vec![Err(Error::new(ErrorKind::Unavailable, "down"))];
    let contender = world.dispatcher().await;
    contender
        .calls
        .until_has(Call::Error(ErrorKind::Unavailable))
        .await;
    world.advance_until(|| world.driver.calls.all().len() == 2).await;
    world
        .driver
        .calls
        .until(|_| world.driver.events.lock().unwrap().is_some())
        .await;
    world.driver.grant(1);
    contender.calls.until_has(Call::Granted(session(1), true)).await;
}

#[tokio::test]
async fn an_election_that_refuses_this_process_fails_the_start() {
    let world = World::new();
    *world.driver.create_results.lock().unwrap() = vec![Err(Error::new(ErrorKind::Denied, "no"))];
    let service = world.service.election(ComponentId::dispatcher());
    let contender = Arc::new(Recorder::new(&service));
    let error = within_bounds(service.start(Arc::clone(&contender) as _))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    within_bounds(service.stop()).await.unwrap();
    assert!(contender.calls.all().is_empty());
}

#[tokio::test]
async fn what_could_not_be_given_up_is_reported_and_the_service_is_stopped_all_the_same() {
    let world = World::new();
    let contender = world.dispatcher().await;
    *world.driver.close_result.lock().unwrap() = Err(Error::new(ErrorKind::Unavailable, "down"));
    let error = within_bounds(contender.service.stop()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    within_bounds(contender.service.stop()).await.unwrap();
}

#[tokio::test]
async fn close_stops_everybody_and_refuses_what_comes_after() {
    let world = World::new();
    let dispatcher = world.dispatcher().await;
    let rest = world.start(ComponentId::rest_server(), |_| ()).await;
    world.driver.grant(1);
    rest.calls.until_has(Call::Granted(session(1), true)).await;
    dispatcher.calls.until_has(Call::Granted(session(1), true)).await;
    within_bounds(world.service.close()).await.unwrap();
    for contender in [&dispatcher, &rest] {
        assert_eq!(contender.calls.all().last(), Some(&Call::Revoked(false)));
        assert!(!contender.service.has_leadership(session(1)).await);
    }
    assert_eq!(world.driver.calls.all().last().unwrap(), "close");
    within_bounds(world.service.close()).await.unwrap();
    let late = world.service.election(ComponentId::resource_manager());
    let error = late.start(Arc::new(Recorder::new(&late))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
}

#[tokio::test]
async fn closing_an_election_that_nobody_entered_closes_it() {
    let world = World::new();
    within_bounds(world.service.close()).await.unwrap();
    let late = world.service.election(ComponentId::dispatcher());
    let error = late.start(Arc::new(Recorder::new(&late))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert!(world.driver.calls.all().is_empty());
}

#[tokio::test]
async fn a_cancelled_stop_goes_on() {
    let world = World::new();
    let contender = world
        .start(ComponentId::dispatcher(), |script| {
            script.block_in = Some("revoke")
        })
        .await;
    world.driver.grant(1);
    contender.calls.until_has(Call::Granted(session(1), true)).await;
    let stopping = contender.service.stop();
    tokio::select! {
        biased;
        _ = stopping => unreachable!("the contender blocks"),
        () = contender.calls.until_has(Call::Revoked(false)) => {}
    }
    contender.gate.add_permits(1);
    world.driver.calls.until_has("close".to_owned()).await;
}

#[tokio::test]
async fn dropping_everything_ends_leadership() {
    let world = World::new();
    let service = world.service.election(ComponentId::dispatcher());
    /// Holds nothing of the election.
    struct Bystander;
    #[async_trait]
    impl LeaderContender for Bystander {
        async fn grant_leadership(&self, _session: LeaderSessionId) {}
        async fn revoke_leadership(&self) {}
        fn address(&self) -> String {
            String::new()
        }
        async fn handle_error(&self, _error: Error) {}
    }
    service.start(Arc::new(Bystander)).await.unwrap();
    world.driver.grant(1);
    let driver = Arc::clone(&world.driver);
    drop((service, world));
    driver.calls.until_has("end_leadership".to_owned()).await;
}

#[tokio::test]
async fn a_stopped_contender_is_let_go_although_it_keeps_its_service() {
    let world = World::new();
    let contender = world.dispatcher().await;
    let service = Arc::clone(&contender.service);
    within_bounds(service.stop()).await.unwrap();
    let weak = Arc::downgrade(&contender);
    drop(contender);
    within_bounds(async {
        while weak.strong_count() > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}
