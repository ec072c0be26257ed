//! Cases about the getters, and about closing.

use std::sync::Arc;

use ha_core::ErrorKind;
use ha_core::election::{LeaderContender, LeaderElectionService};
use ha_core::retrieval::{LeaderRetrievalListener, LeaderRetrievalService};

use super::super::{Fixture, job};
use super::{Kept, Subject, write_job};
use crate::fakes::{ContenderCall, RecordingContender, RecordingListener};

/// Every getter works in the same mode: whom one elects the other finds, and every store stores.
pub async fn every_getter_works<F: Fixture<Subject = Subject>>(fixture: F) {
    let services = fixture.open().await;
    let key = write_job(&services, job(1)).await;
    assert_eq!(Kept::read(&services, job(1)).await, Kept::all(key));
    let pairs: [(Arc<dyn LeaderElectionService>, Arc<dyn LeaderRetrievalService>); 4] = [
        (
            services.resource_manager_leader_election(),
            services.resource_manager_leader_retriever(),
        ),
        (
            services.dispatcher_leader_election(),
            services.dispatcher_leader_retriever(),
        ),
        (
            services.rest_endpoint_leader_election(),
            services.cluster_rest_endpoint_leader_retriever(),
        ),
        (
            services.job_manager_leader_election(job(1)),
            services.job_manager_leader_retriever_or(job(1), "default:0"),
        ),
    ];
    for (number, (election, retrieval)) in pairs.iter().enumerate() {
        let address = format!("host-{number}:1");
        let contender = RecordingContender::confirming(&address);
        contender.contend(election).await;
        let session = contender.wait_for_grant().await;
        let listener = RecordingListener::new();
        listener.listen(retrieval).await;
        assert_eq!(
            listener.wait_for_address(&address).await.leader_session_id,
            session
        );
    }
}

/// Each call of a getter gives a fresh service that is not started: two can be used side by side.
pub async fn getters_give_fresh_services<F: Fixture<Subject = Subject>>(fixture: F) {
    let services = fixture.open().await;
    let (first, second) = (
        services.dispatcher_leader_retriever(),
        services.dispatcher_leader_retriever(),
    );
    let (one, other) = (RecordingListener::new(), RecordingListener::new());
    one.listen(&first).await;
    other.listen(&second).await;
    first.stop().await.unwrap();
    let election = services.dispatcher_leader_election();
    RecordingContender::confirming("a:1").contend(&election).await;
    other.wait_for_address("a:1").await;
    election.stop().await.unwrap();
    let election = services.dispatcher_leader_election();
    RecordingContender::confirming("a:2").contend(&election).await;
    other.wait_for_address("a:2").await;
    assert!(one.leaders().iter().all(Option::is_none));
}

/// The web monitor's names mean the REST endpoint.
pub async fn older_names_are_the_same_component<F: Fixture<Subject = Subject>>(fixture: F) {
    let services = fixture.open().await;
    let contender = RecordingContender::confirming("a:1");
    let election = services.web_monitor_leader_election();
    contender.contend(&election).await;
    for retrieval in [
        services.cluster_rest_endpoint_leader_retriever(),
        services.web_monitor_leader_retriever(),
    ] {
        let listener = RecordingListener::new();
        listener.listen(&retrieval).await;
        listener.wait_for_address("a:1").await;
    }
}

/// Each job has a leader of its own.
pub async fn job_managers_of_two_jobs_are_apart<F: Fixture<Subject = Subject>>(fixture: F) {
    let services = fixture.open().await;
    let mut elections = Vec::new();
    for number in 1..=2 {
        let election = services.job_manager_leader_election(job(number));
        RecordingContender::confirming(&format!("host-{number}:1"))
            .contend(&election)
            .await;
        elections.push(election);
    }
    for number in 1..=2 {
        let listener = RecordingListener::new();
        let retrieval = services.job_manager_leader_retriever(job(number));
        listener.listen(&retrieval).await;
        listener.wait_for_address(&format!("host-{number}:1")).await;
    }
}

/// Services that were just made have nothing to complain of.
pub async fn new_services_are_not_degraded<F: Fixture<Subject = Subject>>(fixture: F) {
    let services = fixture.open().await;
    let health = services.health().snapshot();
    assert!(!health.is_degraded(), "{health:?}");
}

/// What is made of closed services refuses its use with `Closed`.
pub async fn closed_services_refuse<F: Fixture<Subject = Subject>>(fixture: F) {
    let services = fixture.open().await;
    services.close().await.unwrap();
    let contender = RecordingContender::new("a:1");
    let error = services
        .dispatcher_leader_election()
        .start(Arc::clone(&contender) as Arc<dyn LeaderContender>)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    let listener = RecordingListener::new();
    let error = services
        .dispatcher_leader_retriever()
        .start(Arc::clone(&listener) as Arc<dyn LeaderRetrievalListener>)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert!(contender.calls().is_empty());
    assert!(listener.events().is_empty());
}

/// Closing is idempotent, several times and at the same time.
pub async fn close_is_idempotent<F: Fixture<Subject = Subject>>(fixture: F) {
    let services = fixture.open().await;
    let contender = RecordingContender::confirming("a:1");
    let election = services.dispatcher_leader_election();
    contender.contend(&election).await;
    contender.wait_for_grant().await;
    let closed = tokio::join!(services.close(), services.close());
    assert!(closed.0.is_ok() && closed.1.is_ok(), "{closed:?}");
    services.close().await.unwrap();
}

/// Closing revokes the leader before it returns, and its election is over.
pub async fn close_gives_up_leadership<F: Fixture<Subject = Subject>>(fixture: F) {
    let services = fixture.open().await;
    let contender = RecordingContender::confirming("a:1");
    let election = services.dispatcher_leader_election();
    contender.contend(&election).await;
    let session = contender.wait_for_grant().await;
    services.close().await.unwrap();
    assert!(!election.has_leadership(session).await);
    let calls = contender.calls();
    assert!(calls.contains(&ContenderCall::RevokeReturned), "{calls:?}");
    assert_eq!(*election.subscribe().borrow(), None);
}
