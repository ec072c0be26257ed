use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use ha_core::ErrorKind;
use ha_core::environment::Environment;
use ha_core::health::HealthMonitor;
use ha_core::ids::{ClusterId, LeaderSessionId};
use ha_storage::{HaStorage, StateKind};
use tokio::sync::watch;

use super::*;
use crate::client::memory::MemoryServer;
use crate::client::{CreateMode, SessionId, ZooKeeperClient};
use crate::services::describe_this_process;
use crate::session::SessionStatus;
use crate::stores::{CheckpointReads, JobGraphChanges, JobLocks};

const JOB: JobId = JobId::from_bytes([1; 16]);

struct Clients(MemoryServer);

#[async_trait]
impl ClientSource for Clients {
    async fn client(&self) -> Result<Arc<dyn ZooKeeperClient>> {
        Ok(Arc::new(self.0.client(1)))
    }
}

/// A cluster with a job graph file, and a clean-up of it.
async fn cluster() -> (MemoryServer, ClusterCleanup, LeaderLatch) {
    let server = MemoryServer::default();
    let environment = Environment::system();
    let id = ClusterId::new("c").unwrap();
    let paths = ClusterPaths::new("", "/", &id).unwrap();
    let storage = HaStorage::in_memory(&id, &environment);
    let health = HealthMonitor::default();
    let clients: Arc<dyn ClientSource> = Arc::new(Clients(server.clone()));
    let identity = Arc::new(IdentityGuard::new(
        Arc::clone(&clients),
        paths.clone(),
        Arc::clone(&storage),
        health.clone(),
        &environment,
    ));
    identity.establish().await.unwrap();
    put(&storage).await;
    let (_, status) = watch::channel(SessionStatus {
        state: ha_core::health::ConnectionState::Connected,
        session: Some(SessionId(1)),
        connects: 1,
        closed: false,
    });
    let latch = LeaderLatch::new(
        paths.clone(),
        describe_this_process(None),
        Arc::clone(&environment.ids),
    );
    let cleanup = ClusterCleanup {
        context: StoreContext {
            writer: FencedWriter::new(
                Arc::clone(&clients),
                LeadershipFence::new(),
                paths,
                Arc::clone(&identity) as _,
            ),
            storage: Arc::clone(&storage),
            health: health.clone(),
            environment,
            status: ha_core::Follower::new(status),
            orphan_age: Duration::from_secs(600),
            job_graph_changes: JobGraphChanges::default(),
            job_locks: JobLocks::default(),
            checkpoint_reads: CheckpointReads::default(),
        },
        clients,
        identity,
        results: FileSystemJobResultStore::in_storage(storage, false, health),
    };
    (server, cleanup, latch)
}

async fn put(storage: &HaStorage) {
    let (kind, name) = (StateKind::JobGraph, JOB.to_string());
    storage
        .put_state(kind, JOB, &name, Default::default(), Bytes::from_static(b"x"))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_process_that_starts_between_znodes_and_files_keeps_its_files() {
    let (server, cleanup, mut latch) = cluster().await;
    let doomed = cleanup.remove_tree(&mut latch).await.unwrap();
    assert!(server.paths().is_empty());
    // The life before cannot be gone on with.
    let storage = &cleanup.context.storage;
    assert_eq!(storage.read_identity().await.unwrap(), None);
    cleanup.identity.establish().await.unwrap();
    put(storage).await;
    cleanup.delete_files(doomed).await.unwrap();
    let left = storage.list_states(StateKind::JobGraph, None).await.unwrap();
    assert_eq!(left.len(), 1, "the file of the new life");
    cleanup.identity.establish().await.unwrap();
}

#[tokio::test]
async fn the_latch_that_a_failed_attempt_left_does_not_stand_in_the_way() {
    let (server, cleanup, mut latch) = cluster().await;
    let client = server.client(1);
    let node = latch.enter(&client).await.unwrap();
    let term = LeaderSessionId::random(&*cleanup.context.environment.ids);
    latch.claim(&client, &node, term).await.unwrap().unwrap();
    cleanup.run(&mut latch).await.unwrap();
    assert!(server.paths().is_empty());
}

#[tokio::test]
async fn a_contender_that_came_meanwhile_can_lead_with_what_is_there() {
    let (server, cleanup, mut latch) = cluster().await;
    let uuid = cleanup.context.environment.ids.uuid();
    let other = format!("{}{:010}", cleanup.paths().latch_prefix(uuid), 7);
    let create = |path: &str| Operation::Create {
        path: path.to_owned(),
        data: Bytes::new(),
        mode: CreateMode::Persistent,
    };
    // The first multi is the check alone, in front of the last one.
    server.before_next_multi(vec![create(&other)]);
    let error = cleanup.run(&mut latch).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotLeader, "{error}");
    cleanup.identity.establish().await.unwrap();
    assert_eq!(
        server.paths(),
        ["/c", "/c/identity", "/c/leader", "/c/leader/latch", &other]
    );
}
