//! Confirmation and leader information.

use super::*;

fn published(world: &World) -> Vec<String> {
    let calls = world.driver.calls.all().into_iter();
    calls.filter(|call| call.starts_with("publish")).collect()
}

async fn granted(world: &World) -> Arc<Recorder> {
    let contender = world
        .start(ComponentId::dispatcher(), |script| script.confirm = false)
        .await;
    world.driver.grant(1);
    contender.calls.until_has(Call::Granted(session(1), true)).await;
    contender
}

#[tokio::test]
async fn nothing_is_published_before_confirmation_and_a_stale_one_is_ignored() {
    let world = World::new();
    let contender = granted(&world).await;
    let confirm = |number| {
        contender
            .service
            .confirm_leadership(session(number), Some("http://a"))
    };
    assert!(!confirm(7).await.unwrap());
    assert!(published(&world).is_empty());
    assert!(within_bounds(confirm(1)).await.unwrap());
    assert_eq!(published(&world), ["publish dispatcher http://a"]);
    world.driver.revoke(1);
    assert!(!confirm(1).await.unwrap());
}

#[tokio::test]
async fn a_service_that_was_never_started_confirms_nothing() {
    let world = World::new();
    let service = world.service.election(ComponentId::dispatcher());
    assert!(!service.confirm_leadership(session(1), None).await.unwrap());
    assert!(!service.has_leadership(session(1)).await);
    assert_eq!(*service.subscribe().borrow(), None);
}

#[tokio::test]
async fn the_flag_of_the_driver_counts_at_once() {
    let world = World::new();
    let contender = granted(&world).await;
    assert!(contender.service.has_leadership(session(1)).await);
    *world.driver.leading.lock().unwrap() = None;
    assert!(!contender.service.has_leadership(session(1)).await);
    assert!(
        !contender
            .service
            .confirm_leadership(session(1), None)
            .await
            .unwrap()
    );
}

#[tokio::test]
async fn followers_of_the_service_see_term_and_confirmed_address() {
    let world = World::new();
    let contender = granted(&world).await;
    let mut leader = contender.service.subscribe();
    let first = leader.borrow_and_update().clone().unwrap();
    assert_eq!(first.leader_address, "http://contender");
    assert_eq!(
        (first.leader_session_id, first.epoch),
        (session(1), Epoch::new(1))
    );
    contender
        .service
        .confirm_leadership(session(1), Some("http://other"))
        .await
        .unwrap();
    assert_eq!(
        leader.borrow_and_update().clone().unwrap().leader_address,
        "http://other"
    );
    world.driver.revoke(1);
    within_bounds(leader.wait_for(Option::is_none)).await.unwrap();
}

#[tokio::test]
async fn a_publish_that_fails_is_reported_and_made_later() {
    let world = World::new();
    let contender = granted(&world).await;
    let unavailable = || Err(Error::new(ErrorKind::Unavailable, "down"));
    *world.driver.publish_results.lock().unwrap() = vec![unavailable(), unavailable()];
    let error = contender
        .service
        .confirm_leadership(session(1), None)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    world.advance_until(|| published(&world).len() == 3).await;
    for _ in 0..100 {
        world.clock.advance(Duration::from_secs(1));
        tokio::task::yield_now().await;
    }
    assert_eq!(published(&world).len(), 3, "written once it could be");
}

#[tokio::test]
async fn a_fenced_publish_is_a_stale_confirmation() {
    let world = World::new();
    let contender = granted(&world).await;
    *world.driver.publish_results.lock().unwrap() = vec![Err(Error::not_leader("fenced"))];
    assert!(
        !contender
            .service
            .confirm_leadership(session(1), None)
            .await
            .unwrap()
    );
}

#[tokio::test]
async fn information_changed_by_another_is_written_again_and_a_lasting_fight_reported() {
    let world = World::new();
    let contender = granted(&world).await;
    contender
        .service
        .confirm_leadership(session(1), None)
        .await
        .unwrap();
    for fights in 1..=5 {
        world.driver.send(LeaderElectionEvent::InformationChanged {
            component: ComponentId::dispatcher(),
            information: None,
        });
        world
            .advance_until(|| published(&world).len() == 1 + fights)
            .await;
    }
    contender.calls.until_has(Call::Error(ErrorKind::Conflict)).await;
    world.driver.send(LeaderElectionEvent::InformationChanged {
        component: ComponentId::dispatcher(),
        information: contender.service.subscribe().borrow().clone(),
    });
    for _ in 0..100 {
        world.clock.advance(Duration::from_secs(1));
        tokio::task::yield_now().await;
    }
    assert_eq!(published(&world).len(), 6, "equal information is left alone");
}

#[tokio::test]
async fn an_address_that_is_too_long_is_refused_before_anything_is_written() {
    let world = World::new();
    let contender = granted(&world).await;
    let long = "x".repeat(8 * 1024);
    let error = contender
        .service
        .confirm_leadership(session(1), Some(&long))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(published(&world).is_empty());
}
