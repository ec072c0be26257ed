//! What the leader of a component published, spoilt: who follows it is told nobody and why, who follows another
//! component is told nothing, and the leader leads on.

use ha_core::ids::ComponentId;
use ha_core::services::HighAvailabilityServices as _;
use ha_testkit::condition::eventually;
use ha_testkit::fakes::RecordingListener;

use super::damage::noise;
use crate::rig::Cluster;

#[tokio::test(flavor = "multi_thread")]
async fn spoilt_leader_information() {
    let cluster = Cluster::new().await;
    let leader = cluster.leader("a").await;
    let follower = cluster.member("follower").await;
    let of_leader = RecordingListener::new();
    let dispatcher = follower.services.dispatcher_leader_retriever();
    of_leader.listen(&dispatcher).await;
    of_leader.wait_for_address("http://a:1").await;
    let info = cluster.paths.connection_info(&ComponentId::dispatcher());
    let written = cluster.admin.text(&info).await.unwrap().unwrap();
    // The leader does not contend for this one, so nobody corrects it.
    let spoilt = cluster.paths.connection_info(&ComponentId::resource_manager());
    cluster.admin.create(&spoilt, b"").await.unwrap();
    let damages = [
        noise(300),
        written.as_bytes()[..written.len() / 2].to_vec(),
        written.replacen("\"format\":1", "\"format\":2", 1).into_bytes(),
        written.replacen('{', "[", 1).into_bytes(),
        b"{\"format\":1,\"kind\":\"jobGraph\"}".to_vec(),
        b"17".to_vec(),
    ];
    for (number, damage) in damages.iter().enumerate() {
        cluster.admin.set(&spoilt, damage).await.unwrap();
        let listener = RecordingListener::new();
        let retriever = follower.services.resource_manager_leader_retriever();
        listener.listen(&retriever).await;
        let error = listener.wait_for_error().await;
        assert_eq!(error.subject(), Some(spoilt.as_str()), "{number}: {error}");
        assert!(!error.message().is_empty());
        // Mended, it is followed: the watch was armed.
        cluster.admin.set(&spoilt, written.as_bytes()).await.unwrap();
        listener.wait_for_address("http://a:1").await;
        retriever.stop().await.unwrap();
    }
    assert!(leader.leads().await);
    let told = of_leader.leaders();
    assert_eq!(told.iter().flatten().count(), 1, "{told:?}");
    // It is left, empty too, by the leader and by those who follow.
    cluster.admin.set(&spoilt, b"").await.unwrap();
    let listener = RecordingListener::new();
    let retriever = follower.services.resource_manager_leader_retriever();
    listener.listen(&retriever).await;
    eventually("nobody is followed", async || {
        listener.leaders().iter().flatten().next().is_none().then_some(())
    })
    .await;
    assert_eq!(cluster.admin.get(&spoilt).await.unwrap().unwrap(), b"");
    retriever.stop().await.unwrap();
    for services in [&leader.services, &follower.services] {
        services.close().await.unwrap();
    }
}
