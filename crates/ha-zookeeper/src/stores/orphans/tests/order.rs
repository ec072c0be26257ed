//! The order of an observation: files, sync, pointers.

use super::*;

/// Does something when the client is asked for the second time: after the listing of the files, before anything of
/// the pointers is read.
struct Interrupted {
    server: MemoryServer,
    asked: AtomicUsize,
    between: Box<dyn Fn() + Send + Sync>,
}

#[async_trait]
impl ClientSource for Interrupted {
    async fn client(&self) -> Result<Arc<dyn ZooKeeperClient>> {
        if self.asked.fetch_add(1, Ordering::SeqCst) == 1 {
            (self.between)();
        }
        Ok(Arc::new(self.server.client(1)))
    }
}

#[tokio::test]
async fn files_are_listed_first_then_comes_a_sync_and_then_the_pointers() {
    let cluster = Cluster::new().await;
    let late = cluster.put(StateKind::Checkpoint, 1, 2).await;
    let path = cluster.paths.checkpoint(job(1), CheckpointId::new(2).unwrap());
    cluster.node(&cluster.paths.checkpoints(job(1)), "").await;
    let data = Cluster::pointer(&late).encode(&path).unwrap();
    let after = cluster.folder().join(late.path.replace("0002-", "0003-"));
    let (server, copied_from, copied_to) = (
        cluster.server.clone(),
        cluster.folder().join(&late.path),
        after.clone(),
    );
    let between = move || {
        server
            .client(1)
            .apply(&[Operation::Create {
                path: path.clone(),
                data: data.clone(),
                mode: CreateMode::Persistent,
            }])
            .unwrap();
        std::fs::copy(&copied_from, &copied_to).unwrap();
        let file = std::fs::File::options().write(true).open(&copied_to).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        server.take_requests();
    };
    let clients = Arc::new(Interrupted {
        server: cluster.server.clone(),
        asked: AtomicUsize::new(0),
        between: Box::new(between),
    });
    let first = cluster.detection_with(clients).observe().await.unwrap();
    let requests = cluster.server.take_requests();
    assert_eq!(requests.first().map(String::as_str), Some("sync"), "{requests:?}");
    assert!(after.exists());
    // The pointer that was published after the listing is seen, and the file that came after it is not.
    let client = cluster.server.client(1);
    let published = cluster.paths.checkpoint(job(1), CheckpointId::new(2).unwrap());
    client.delete(&published, None).await.unwrap();
    cluster.clock.sleep(HOUR).await;
    let second = cluster.detection().observe().await.unwrap();
    let report = ha_storage::decide_orphans(&rules(), &first, &second);
    assert_eq!(report, OrphanReport::default());
}
