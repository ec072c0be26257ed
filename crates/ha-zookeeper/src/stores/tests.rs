//! Stores on the server in memory. Here: a pointer is published for a young file only.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use ha_core::checkpoints::CompletedCheckpointStore as _;
use ha_core::health::{ConnectionState, HealthMonitor};
use ha_core::ids::ClusterId;
use ha_core::jobs::JobGraphStore as _;
use ha_core::{ErrorKind, Result};
use ha_storage::{HaStorage, StateKind};
use ha_testkit::contract::{checkpoint, graph, job};
use ha_testkit::fakes::{ManualClock, RecordingJobGraphListener, TestEnvironment};
use tokio::sync::watch;

use super::*;
use crate::client::memory::MemoryServer;
use crate::client::{ClientSource, SessionId, ZooKeeperClient};
use crate::fence::{FencedWriter, LeadershipFence};
use crate::identity::LeadershipPrecondition;
use crate::paths::ClusterPaths;
use crate::session::SessionStatus;

mod left_over;
mod many_jobs;
mod odd_pointers;

const ORPHAN_AGE: Duration = Duration::from_secs(600);
/// From here on a file could be taken for an orphan before its pointer is there.
const TOO_LONG: Duration = Duration::from_secs(300);

tokio::task_local! {
    /// How long each of the next clients takes that this task asks for; a listener's task is not meant.
    static WAITS: Mutex<VecDeque<Duration>>;
}

/// Gives a client after a while.
struct Slow {
    server: MemoryServer,
    clock: ManualClock,
}

#[async_trait]
impl ClientSource for Slow {
    async fn client(&self) -> Result<Arc<dyn ZooKeeperClient>> {
        let wait = WAITS.try_with(|waits| waits.lock().unwrap().pop_front());
        self.clock.advance(wait.ok().flatten().unwrap_or_default());
        Ok(Arc::new(self.server.client(1)))
    }
}

struct Anybody;

#[async_trait]
impl LeadershipPrecondition for Anybody {
    async fn ensure(&self) -> Result<()> {
        Ok(())
    }
}

/// Services that contend for nothing, so a write asks for a client twice: for the latches, and to publish.
fn context() -> (StoreContext, MemoryServer) {
    let test = TestEnvironment::manual(1);
    let server = MemoryServer::with(&["/c"]);
    let id = ClusterId::new("c").unwrap();
    let clients: Arc<dyn ClientSource> = Arc::new(Slow {
        server: server.clone(),
        clock: test.clock.clone(),
    });
    let (_, status) = watch::channel(SessionStatus {
        state: ConnectionState::Connected,
        session: Some(SessionId(1)),
        connects: 1,
        closed: false,
    });
    let context = StoreContext {
        writer: FencedWriter::new(
            clients,
            LeadershipFence::new(),
            ClusterPaths::new("", "/", &id).unwrap(),
            Arc::new(Anybody),
        ),
        storage: HaStorage::in_memory(&id, &test.environment),
        health: HealthMonitor::default(),
        environment: test.environment.clone(),
        status: ha_core::Follower::new(status),
        orphan_age: ORPHAN_AGE,
        job_graph_changes: JobGraphChanges::default(),
        job_locks: JobLocks::default(),
        checkpoint_reads: CheckpointReads::default(),
    };
    (context, server)
}

/// Does it while the clients take as long as this says.
async fn slowly<T>(waits: &[Duration], work: impl Future<Output = T>) -> T {
    WAITS
        .scope(Mutex::new(waits.iter().copied().collect()), work)
        .await
}

async fn files(context: &StoreContext, kind: StateKind) -> usize {
    let files = context.storage.list_states(kind, Some(job(1))).await.unwrap();
    files.len()
}

#[tokio::test]
async fn a_checkpoint_whose_file_grew_old_is_published_with_a_new_one_or_not_at_all() {
    let (context, server) = context();
    let store = ZooKeeperCompletedCheckpointStore::recover(context.clone(), job(1), 3)
        .await
        .unwrap();
    let once = [Duration::ZERO, TOO_LONG];
    slowly(&once, store.add_and_subsume(checkpoint(job(1), 1)))
        .await
        .unwrap();
    assert_eq!(store.latest().await.unwrap(), Some(checkpoint(job(1), 1)));
    assert_eq!(
        files(&context, StateKind::Checkpoint).await,
        1,
        "the old one is gone"
    );

    let always = [Duration::ZERO, TOO_LONG, TOO_LONG, TOO_LONG];
    let before = server.zxid();
    let error = slowly(&always, store.add_and_subsume(checkpoint(job(1), 2)))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.is_safe_to_repeat());
    assert_eq!(server.zxid(), before, "nothing was sent");
    assert_eq!(files(&context, StateKind::Checkpoint).await, 1);
    store.add_and_subsume(checkpoint(job(1), 2)).await.unwrap();
    assert_eq!(store.all().await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_job_graph_whose_file_grew_old_is_published_with_a_new_one_or_not_at_all() {
    let (context, server) = context();
    let store = ZooKeeperJobGraphStore::new(context.clone());
    store
        .start(Arc::new(RecordingJobGraphListener::new()))
        .await
        .unwrap();
    let once = [Duration::ZERO, TOO_LONG];
    slowly(&once, store.put_job_graph(&graph(job(1), "a")))
        .await
        .unwrap();
    assert_eq!(
        files(&context, StateKind::JobGraph).await,
        1,
        "the old one is gone"
    );

    // Without an election a replacement reads what it replaces first, each time.
    let always: Vec<_> = std::iter::once(Duration::ZERO).chain([TOO_LONG; 6]).collect();
    let before = server.zxid();
    let error = slowly(&always, store.put_job_graph(&graph(job(1), "b")))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.is_safe_to_repeat());
    assert_eq!(server.zxid(), before, "nothing was sent");
    let found = store.recover_job_graph(job(1)).await.unwrap();
    assert_eq!(found, Some(graph(job(1), "a")));
    assert_eq!(files(&context, StateKind::JobGraph).await, 1);
    store.stop().await.unwrap();
}
