use std::sync::Arc;

use ha_core::election::{
    LeaderElectionDriverFactory as _, LeaderElectionEvent, LeaderGrant, LeaderInformation,
};
use ha_core::environment::RandomIdSource;
use ha_core::error::ErrorKind;
use ha_core::ids::ComponentId;
use ha_core::retrieval::{LeaderRetrievalDriverFactory as _, LeaderRetrievalEvent};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::*;

fn component() -> ComponentId {
    ComponentId::dispatcher()
}

fn registry() -> Arc<ElectionRegistry> {
    ElectionRegistry::new(Arc::new(RandomIdSource))
}

type Driver = Arc<dyn ha_core::election::LeaderElectionDriver>;

async fn enter(registry: &Arc<ElectionRegistry>) -> (Driver, UnboundedReceiver<LeaderElectionEvent>) {
    let (events, receiver) = unbounded_channel();
    let factory = EmbeddedElectionDriverFactory {
        registry: Arc::clone(registry),
        component: component(),
    };
    (factory.create(events).await.unwrap(), receiver)
}

fn granted(events: &mut UnboundedReceiver<LeaderElectionEvent>) -> Option<LeaderGrant> {
    match events.try_recv() {
        Ok(LeaderElectionEvent::Granted(grant)) => Some(grant),
        _ => None,
    }
}

fn information(grant: LeaderGrant) -> LeaderInformation {
    LeaderInformation {
        leader_address: "a".to_owned(),
        leader_session_id: grant.session,
        epoch: grant.epoch,
    }
}

#[tokio::test]
async fn contenders_lead_in_the_order_in_which_they_came() {
    let registry = registry();
    let (first, mut first_events) = enter(&registry).await;
    let (second, mut second_events) = enter(&registry).await;
    let (third, mut third_events) = enter(&registry).await;
    let one = granted(&mut first_events).unwrap();
    assert!(first.has_leadership(one.session) && !second.has_leadership(one.session));
    assert_eq!(granted(&mut second_events), None);
    second.close().await.unwrap();
    first.close().await.unwrap();
    first.close().await.unwrap();
    assert!(!first.has_leadership(one.session));
    assert_eq!(granted(&mut second_events), None, "it has left");
    let two = granted(&mut third_events).unwrap();
    assert!(two.epoch > one.epoch && two.session != one.session);
    drop((third, third_events));
    let (fourth, mut fourth_events) = enter(&registry).await;
    assert!(
        granted(&mut fourth_events).is_some(),
        "dropping the driver leaves"
    );
    drop(fourth);
}

#[tokio::test]
async fn only_the_present_term_publishes_and_what_it_published_ends_with_it() {
    let registry = registry();
    let (events, mut seen) = unbounded_channel();
    let follower = EmbeddedRetrievalDriverFactory {
        registry: Arc::clone(&registry),
        component: component(),
    };
    let follower = follower.create(events).await.unwrap();
    let mut next = || match seen.try_recv() {
        Ok(LeaderRetrievalEvent::Observed(observation)) => observation.leader,
        other => panic!("{other:?}"),
    };
    assert_eq!(next(), None);
    let (first, mut first_events) = enter(&registry).await;
    let (second, mut second_events) = enter(&registry).await;
    let one = granted(&mut first_events).unwrap();
    let stolen = second.publish(&component(), &information(one)).await.unwrap_err();
    assert_eq!(stolen.kind(), ErrorKind::NotLeader);
    second.withdraw(&component()).await.unwrap();
    first.publish(&component(), &information(one)).await.unwrap();
    assert_eq!(next(), Some(information(one)));
    assert_eq!(follower.verify().await.unwrap().leader, Some(information(one)));
    first.end_leadership();
    assert!(!first.has_leadership(one.session));
    let late = first.publish(&component(), &information(one)).await.unwrap_err();
    assert_eq!(late.kind(), ErrorKind::NotLeader);
    first.close().await.unwrap();
    assert_eq!(next(), None);
    assert!(granted(&mut second_events).is_some());
}

#[tokio::test]
async fn a_closed_registry_elects_and_admits_nobody() {
    let registry = registry();
    let (first, mut first_events) = enter(&registry).await;
    let (_second, mut second_events) = enter(&registry).await;
    assert!(granted(&mut first_events).is_some());
    registry.close();
    first.close().await.unwrap();
    assert_eq!(granted(&mut second_events), None);
    let factory = EmbeddedElectionDriverFactory {
        registry,
        component: component(),
    };
    let refused = factory.create(unbounded_channel().0).await.err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::Closed);
}
