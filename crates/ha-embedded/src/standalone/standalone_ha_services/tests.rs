use std::collections::BTreeMap;

use ha_core::error::ErrorKind;
use ha_core::ids::LeaderSessionId;
use ha_testkit::fakes::{ContenderCall, RecordingContender, RecordingListener};

use super::*;

fn services() -> Arc<StandaloneHaServices> {
    let addresses = StandaloneAddresses {
        resource_manager: "rm:1".to_owned(),
        dispatcher: "dispatcher:1".to_owned(),
        rest_server: "http://rest:1".to_owned(),
        custom: BTreeMap::from([(
            ComponentId::custom("scheduler").unwrap(),
            "scheduler:1".to_owned(),
        )]),
    };
    StandaloneHaServices::new(addresses, Environment::system()).unwrap()
}

async fn leader_of(retrieval: Arc<dyn LeaderRetrievalService>) -> (String, LeaderSessionId) {
    let listener = RecordingListener::new();
    listener.listen(&retrieval).await;
    let leader = listener.wait_for_latest("told", Option::is_some).await.unwrap();
    (leader.leader_address, leader.leader_session_id)
}

#[tokio::test]
async fn addresses_are_fixed_and_the_term_is_the_default() {
    let services = services();
    let job = JobId::from_bytes([1; 16]);
    for (retrieval, address) in [
        (services.resource_manager_leader_retriever(), "rm:1"),
        (services.dispatcher_leader_retriever(), "dispatcher:1"),
        (services.cluster_rest_endpoint_leader_retriever(), "http://rest:1"),
        (services.web_monitor_leader_retriever(), "http://rest:1"),
        (services.job_manager_leader_retriever(job), "UNKNOWN"),
        (
            services.leader_retriever(ComponentId::custom("scheduler").unwrap()),
            "scheduler:1",
        ),
        (services.job_manager_leader_retriever_or(job, "jm:1"), "jm:1"),
    ] {
        let expected = (address.to_owned(), LeaderSessionId::DEFAULT);
        assert_eq!(leader_of(retrieval).await, expected);
    }
}

#[tokio::test]
async fn whoever_starts_leads_at_once_until_it_stops() {
    let services = services();
    let election = services.dispatcher_leader_election();
    assert!(!election.has_leadership(LeaderSessionId::DEFAULT).await);
    let contender = RecordingContender::confirming("a:1");
    contender.contend(&election).await;
    assert_eq!(contender.wait_for_grant().await, LeaderSessionId::DEFAULT);
    contender
        .wait_for_call("confirmed", |call| *call == ContenderCall::Confirmed(Some(true)))
        .await;
    assert!(!election.has_leadership(LeaderSessionId::from_bits(0, 1)).await);
    election.stop().await.unwrap();
    assert!(!election.has_leadership(LeaderSessionId::DEFAULT).await);
    assert!(contender.calls().contains(&ContenderCall::RevokeReturned));
}

#[tokio::test]
async fn closed_services_refuse() {
    let services = services();
    services.close().await.unwrap();
    let contender = RecordingContender::new("a:1");
    let error = services
        .dispatcher_leader_election()
        .start(contender)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    let listener = RecordingListener::new();
    let error = services
        .dispatcher_leader_retriever()
        .start(listener)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert_eq!(
        services.create_blob_store().await.err().unwrap().kind(),
        ErrorKind::Closed
    );
}

#[tokio::test]
async fn no_blob_is_kept() {
    let blobs = services().create_blob_store().await.unwrap();
    let job = JobId::from_bytes([1; 16]);
    let local = tempfile::NamedTempFile::new().unwrap();
    assert_eq!(
        blobs.create_key(local.path()).await.unwrap_err().kind(),
        ErrorKind::Invalid
    );
    assert!(blobs.keys(job).await.unwrap().is_empty());
    assert!(!blobs.delete_all(job).await.unwrap());
}
