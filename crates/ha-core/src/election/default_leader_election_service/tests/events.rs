//! What the driver says at moments when it is not expected, or is no longer of use.

use super::*;

fn changed(component: ComponentId) -> LeaderElectionEvent {
    LeaderElectionEvent::InformationChanged {
        component,
        information: None,
    }
}

fn publishes(world: &World, component: &ComponentId) -> usize {
    let published = format!("publish {component} ");
    let calls = world.driver.calls.all();
    calls.iter().filter(|call| call.starts_with(&published)).count()
}

async fn until_published(world: &World, component: &ComponentId, count: usize) {
    world.advance_until(|| publishes(world, component) == count).await;
}

/// Time in which everything that is due is done.
async fn pass(world: &World) {
    for _ in 0..100 {
        world.clock.advance(Duration::from_secs(1));
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn all_components_share_the_term_and_a_revocation_writes_nothing() {
    let world = World::new();
    let dispatcher = world.dispatcher().await;
    let rest = world.start(ComponentId::rest_server(), |_| ()).await;
    world.driver.grant(1);
    for contender in [&dispatcher, &rest] {
        contender.calls.until_has(Call::Granted(session(1), true)).await;
    }
    until_published(&world, &ComponentId::dispatcher(), 1).await;
    until_published(&world, &ComponentId::rest_server(), 1).await;
    let before = world.driver.calls.all();
    world.driver.revoke(1);
    world.driver.calls.until_has("revoked".to_owned()).await;
    for contender in [&dispatcher, &rest] {
        assert_eq!(
            contender.calls.all(),
            [Call::Granted(session(1), true), Call::Revoked(false)]
        );
        assert_eq!(*contender.service.subscribe().borrow(), None);
    }
    pass(&world).await;
    let calls = world.driver.calls.all();
    assert_eq!(calls[before.len()..], ["revoked"], "written after leadership");
}

#[tokio::test]
async fn a_grant_from_before_the_driver_was_made_is_told() {
    let world = World::new();
    world.driver.grant_in_create.store(1, Ordering::SeqCst);
    let contender = world.dispatcher().await;
    contender.calls.until_has(Call::Granted(session(1), true)).await;
}

#[tokio::test]
async fn a_grant_that_is_not_told_yet_is_no_leadership() {
    let world = World::new();
    let contender = world.dispatcher().await;
    world.driver.grant(1);
    assert!(world.driver.has_leadership(session(1)));
    assert!(!contender.service.has_leadership(session(1)).await);
    contender.calls.until_has(Call::Granted(session(1), true)).await;
    assert!(contender.service.has_leadership(session(1)).await);
    assert!(!contender.service.has_leadership(session(2)).await);
}

#[tokio::test]
async fn a_grant_that_was_not_told_before_stop_is_never_told() {
    let world = World::new();
    let contender = world.dispatcher().await;
    world.driver.grant(1);
    within_bounds(contender.service.stop()).await.unwrap();
    pass(&world).await;
    assert_eq!(contender.calls.all(), []);
}

#[tokio::test]
async fn a_revocation_that_was_not_told_before_stop_is_told_once() {
    let world = World::new();
    let contender = world.dispatcher().await;
    world.driver.grant(1);
    contender.calls.until_has(Call::Granted(session(1), true)).await;
    world.driver.revoke(1);
    within_bounds(contender.service.stop()).await.unwrap();
    pass(&world).await;
    assert_eq!(
        contender.calls.all(),
        [Call::Granted(session(1), true), Call::Revoked(false)]
    );
}

#[tokio::test]
async fn only_what_was_changed_and_is_still_led_is_written_again() {
    let world = World::new();
    let (first, second) = (ComponentId::dispatcher(), ComponentId::rest_server());
    world.dispatcher().await;
    let rest = world.start(second.clone(), |_| ()).await;
    world.driver.grant(1);
    until_published(&world, &first, 1).await;
    until_published(&world, &second, 1).await;
    world.driver.send(changed(second.clone()));
    until_published(&world, &second, 2).await;
    world.driver.send(changed(ComponentId::resource_manager()));
    pass(&world).await;
    assert_eq!(publishes(&world, &first), 1, "it was not changed");
    assert_eq!(publishes(&world, &ComponentId::resource_manager()), 0);

    within_bounds(rest.service.stop()).await.unwrap();
    world.driver.send(changed(second.clone()));
    world.driver.send(changed(first.clone()));
    until_published(&world, &first, 2).await;
    pass(&world).await;
    assert_eq!(publishes(&world, &second), 2, "nobody stands for it any more");
}

#[tokio::test]
async fn information_is_left_alone_before_confirmation_and_without_leadership() {
    let world = World::new();
    let component = ComponentId::dispatcher();
    let contender = world
        .start(component.clone(), |script| script.confirm = false)
        .await;
    world.driver.send(changed(component.clone()));
    world.driver.grant(1);
    contender.calls.until_has(Call::Granted(session(1), true)).await;
    world.driver.send(changed(component.clone()));
    pass(&world).await;
    assert_eq!(publishes(&world, &component), 0, "written before confirmation");
    let confirmed = contender.service.confirm_leadership(session(1), None);
    assert!(within_bounds(confirmed).await.unwrap());
    world.driver.revoke(1);
    world.driver.send(changed(component.clone()));
    world.driver.calls.until_has("revoked".to_owned()).await;
    pass(&world).await;
    assert_eq!(publishes(&world, &component), 1, "written after leadership");
}

#[tokio::test]
async fn a_closed_driver_is_not_heard() {
    let world = World::new();
    let first = world.dispatcher().await;
    let closed = world.driver.events.lock().unwrap().clone().unwrap();
    within_bounds(first.service.stop()).await.unwrap();
    let second = world.dispatcher().await;
    for event in [
        LeaderElectionEvent::Granted(grant(1)),
        changed(ComponentId::dispatcher()),
    ] {
        // Nobody may listen.
        let _ = closed.send(event);
    }
    world.driver.grant(2);
    second.calls.until_has(Call::Granted(session(2), true)).await;
    pass(&world).await;
    assert_eq!(first.calls.all(), []);
    assert_eq!(second.calls.all(), [Call::Granted(session(2), true)]);
}

#[tokio::test]
async fn an_error_of_the_driver_is_told_to_every_contender() {
    let world = World::new();
    let dispatcher = world.dispatcher().await;
    let rest = world.start(ComponentId::rest_server(), |_| ()).await;
    let gone = world.start(ComponentId::resource_manager(), |_| ()).await;
    within_bounds(gone.service.stop()).await.unwrap();
    let error = Error::new(ErrorKind::Corrupt, "the test says so");
    world.driver.send(LeaderElectionEvent::Error(error));
    for contender in [&dispatcher, &rest] {
        contender.calls.until_has(Call::Error(ErrorKind::Corrupt)).await;
    }
    assert_eq!(gone.calls.all(), []);
    // The election goes on.
    world.driver.grant(1);
    dispatcher.calls.until_has(Call::Granted(session(1), true)).await;
}
