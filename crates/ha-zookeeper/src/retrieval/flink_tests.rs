//! The leader of a Flink cluster, followed on the server in memory.

use std::sync::Arc;

use bytes::Bytes;
use ha_core::election::LeaderInformation;
use ha_core::ids::{ClusterId, ComponentId, JobId};
use ha_core::retrieval::DefaultLeaderRetrievalService;
use ha_testkit::fakes::{RecordingListener, TestEnvironment};
use tokio::sync::watch;

use super::{FlinkGeneration, LeaderWatches, ZooKeeperLeaderRetrievalDriverFactory};
use crate::client::memory::{MemoryClient, MemoryServer};
use crate::client::{CreateMode, ZooKeeperClient as _};
use crate::paths::ClusterPaths;
use crate::session::memory_session::MemorySession;

/// As Flink 2.3.0 wrote it (`recordings/2.3.0-running.json` of ha-flink), with the port and the last byte of the session
/// id to be chosen.
fn written(port: u16, session: u8) -> Bytes {
    let address = format!("http://127.0.0.1:{port:05}");
    let mut data = b"\xac\xed\x00\x05\x77\x18\x00\x16".to_vec();
    data.extend(address.bytes());
    data.extend(b"\x73\x72\x00\x0ejava.util.UUID\xbc\x99\x03\xf7\x98\x6d\x85\x2f\x02\x00\x02");
    data.extend(b"\x4a\x00\x0cleastSigBits\x4a\x00\x0bmostSigBits\x78\x70");
    data.extend(b"\xa2\xd1\x4a\x70\x16\x03\x8e");
    data.push(session);
    data.extend(b"\x62\x93\x01\x20\xfc\xac\x4e\x31");
    data.into()
}

/// Waits until `leader` is so.
async fn wait_for(
    receiver: &mut watch::Receiver<Option<LeaderInformation>>,
    is_so: impl FnMut(&Option<LeaderInformation>) -> bool,
) -> Option<LeaderInformation> {
    receiver.wait_for(is_so).await.unwrap().clone()
}

#[tokio::test]
async fn leaders_of_flink_are_followed_through_a_failover_in_both_generations() {
    let job = JobId::from_bytes([7; 16]);
    let paths = ClusterPaths::new("", "/flink", &ClusterId::new("c").unwrap()).unwrap();
    let cases = [
        (
            FlinkGeneration::OneLatch,
            ComponentId::rest_server(),
            "leader/rest_server".to_owned(),
        ),
        (
            FlinkGeneration::OneLatch,
            ComponentId::job_manager(job),
            format!("leader/job-{job}"),
        ),
        (
            FlinkGeneration::LatchPerComponent,
            ComponentId::rest_server(),
            "leader/rest_server".to_owned(),
        ),
        (
            FlinkGeneration::LatchPerComponent,
            ComponentId::job_manager(job),
            format!("jobs/{job}/leader"),
        ),
    ];
    for (generation, component, folder) in cases {
        let parents: Vec<_> = folder
            .match_indices('/')
            .map(|(at, _)| format!("/flink/c/{}", &folder[..at]))
            .collect();
        let folder = format!("/flink/c/{folder}");
        let mut nodes = vec!["/flink", "/flink/c"];
        nodes.extend(parents.iter().map(String::as_str));
        nodes.push(&folder);
        let server = MemoryServer::with(&nodes);
        let test = TestEnvironment::real_time(1);
        let memory = MemorySession::new(&server, 1, true, test.environment.clone());
        let environment = test.environment.clone();
        let watches = LeaderWatches::of_flink(
            memory.session.clone(),
            paths.clone(),
            generation,
            environment.clone(),
        );
        let factory = ZooKeeperLeaderRetrievalDriverFactory::new(watches, component);
        let service = DefaultLeaderRetrievalService::new(Arc::new(factory), true, environment);
        let listener = RecordingListener::new();
        listener.listen(&service).await;
        let mut leader = service.subscribe();
        let path = format!("{folder}/connection_info");
        let (old, new): (MemoryClient, MemoryClient) = (server.client(98), server.client(99));

        old.create(&path, written(8081, 1), CreateMode::Ephemeral)
            .await
            .unwrap();
        let first = wait_for(&mut leader, Option::is_some).await.unwrap();
        assert_eq!(first.leader_address, "http://127.0.0.1:08081");
        assert_eq!(
            first.leader_session_id.to_string(),
            "62930120-fcac-4e31-a2d1-4a7016038e01"
        );
        old.delete(&path, None).await.unwrap();
        assert_eq!(wait_for(&mut leader, Option::is_none).await, None);
        new.create(&path, written(8082, 2), CreateMode::Ephemeral)
            .await
            .unwrap();
        let second = wait_for(&mut leader, Option::is_some).await.unwrap();
        assert_eq!(second.leader_address, "http://127.0.0.1:08082");
        assert!(second.epoch > first.epoch, "{first:?} {second:?}");

        // Garbage is nobody, and told; what follows it is followed.
        new.set(&path, Bytes::from_static(b"\xac\xed\x00\x05\x70"), None)
            .await
            .unwrap();
        assert_eq!(wait_for(&mut leader, Option::is_none).await, None);
        new.set(&path, written(8083, 3), None).await.unwrap();
        let third = wait_for(&mut leader, Option::is_some).await.unwrap();
        assert!(third.epoch > second.epoch);
        let error = listener.wait_for_error().await;
        assert_eq!(error.subject(), Some(path.as_str()));
        assert!(error.message().contains("leader information of Flink"), "{error}");
        service.stop().await.unwrap();
    }
}
