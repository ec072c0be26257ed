use ha_core::election::LeaderContender;
use ha_core::error::Error;
use ha_core::ids::LeaderSessionId;
use ha_testkit::condition::{eventually, within_limit};
use ha_testkit::fakes::{RecordingContender, RecordingListener};

use super::*;

fn services() -> Arc<EmbeddedHaServices> {
    EmbeddedHaServices::new(Environment::system()).unwrap()
}

#[tokio::test]
async fn leadership_is_taken_away_and_granted_on_demand() {
    let services = services();
    let control = services.leadership_control();
    let component = ComponentId::dispatcher();
    let first = services.dispatcher_leader_election();
    let first_contender = RecordingContender::confirming("first");
    first_contender.contend(&first).await;
    let old = first_contender.wait_for_grant().await;
    let second = services.dispatcher_leader_election();
    let second_contender = RecordingContender::confirming("second");
    second_contender.contend(&second).await;
    let listener = RecordingListener::new();
    listener.listen(&services.dispatcher_leader_retriever()).await;

    control.revoke_leadership(&component);
    control.revoke_leadership(&component);
    assert!(!first.has_leadership(old).await, "at once");
    eventually("revoked", || async {
        first.subscribe().borrow().is_none().then_some(())
    })
    .await;
    assert!(second_contender.sessions().is_empty(), "nobody leads meanwhile");
    assert!(!first.confirm_leadership(old, None).await.unwrap(), "stale");

    control.grant_leadership(&component);
    let new = second_contender.wait_for_grant().await;
    assert_ne!(new, old);
    assert!(second.has_leadership(new).await);
    second.stop().await.unwrap();
    eventually("granted again", || async {
        (first_contender.sessions().len() == 2).then_some(())
    })
    .await;
}

#[tokio::test]
async fn jobs_and_components_elect_apart() {
    let services = services();
    for (number, election) in [
        services.job_manager_leader_election(JobId::from_bytes([1; 16])),
        services.job_manager_leader_election(JobId::from_bytes([2; 16])),
        services.resource_manager_leader_election(),
    ]
    .iter()
    .enumerate()
    {
        let contender = RecordingContender::confirming(&format!("host-{number}"));
        contender.contend(election).await;
        contender.wait_for_grant().await;
    }
}

#[tokio::test]
async fn close_inside_a_callback_returns() {
    struct Closer(Arc<EmbeddedHaServices>, tokio::sync::watch::Sender<bool>);
    #[async_trait]
    impl LeaderContender for Closer {
        async fn grant_leadership(&self, _session: LeaderSessionId) {
            self.0.close().await.unwrap();
            self.1.send_replace(true);
        }
        async fn revoke_leadership(&self) {}
        fn address(&self) -> String {
            String::new()
        }
        async fn handle_error(&self, _error: Error) {}
    }
    let services = services();
    let closer = Arc::new(Closer(
        Arc::clone(&services),
        tokio::sync::watch::Sender::new(false),
    ));
    let mut closed = closer.1.subscribe();
    let election = services.dispatcher_leader_election();
    election.start(closer).await.unwrap();
    within_limit("closed", closed.wait_for(|closed| *closed))
        .await
        .unwrap();
    within_limit("closed", services.close()).await.unwrap();
}

#[tokio::test]
async fn close_does_not_pass_leadership_on() {
    let services = services();
    let mut kept = Vec::new();
    for number in 0..3 {
        let election = services.dispatcher_leader_election();
        let contender = RecordingContender::confirming(&format!("host-{number}"));
        contender.contend(&election).await;
        kept.push((election, contender));
    }
    kept[0].1.wait_for_grant().await;
    let listener = RecordingListener::new();
    let retrieval = services.dispatcher_leader_retriever();
    listener.listen(&retrieval).await;
    listener.wait_for_address("host-0").await;
    services.close().await.unwrap();
    listener.wait_for_none().await;
    assert!(kept[1].1.sessions().is_empty() && kept[2].1.sessions().is_empty());
}
