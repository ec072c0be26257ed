use async_trait::async_trait;
use ha_core::ids::ClusterId;

use super::*;
use crate::client::SessionId;
use crate::client::memory::MemoryServer;
use crate::fence::Fence;

struct Fixed(Arc<dyn ZooKeeperClient>);

#[async_trait]
impl ClientSource for Fixed {
    async fn client(&self) -> Result<Arc<dyn ZooKeeperClient>> {
        Ok(Arc::clone(&self.0))
    }
}

struct Always;

#[async_trait]
impl LeadershipPrecondition for Always {
    async fn ensure(&self) -> Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_check_alone_by_a_session_that_is_over_changed_nothing_and_there_is_no_use_in_repeating_it() {
    let server = MemoryServer::with(&["/flink", "/flink/c", "/flink/c/leader", "/flink/c/leader/latch"]);
    let client = server.client(1);
    let paths = ClusterPaths::new("", "/flink", &ClusterId::new("c").unwrap()).unwrap();
    let latch_path = paths.latch("mine");
    client
        .create(&latch_path, Bytes::new(), CreateMode::Ephemeral)
        .await
        .unwrap();
    let fence = LeadershipFence::new();
    fence.election_started();
    fence.granted(Fence {
        latch_path,
        version: 0,
        session: LeaderSessionId::from_bits(0, 1),
        zookeeper_session: SessionId(1),
    });
    let writer = FencedWriter::new(Arc::new(Fixed(Arc::new(client))), fence, paths, Arc::new(Always));
    let term = writer.begin().await.unwrap();
    writer.prove(&term).await.unwrap();
    server.expire(1);
    let error = writer.prove(&term).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.effect()),
        (ErrorKind::NotLeader, Effect::NotApplied)
    );
}
