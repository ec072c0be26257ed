use ha_core::ids::ClusterId;

use super::*;
use crate::client::memory::MemoryServer;

struct Clients(MemoryServer);

#[async_trait]
impl ClientSource for Clients {
    async fn client(&self) -> Result<Arc<dyn ZooKeeperClient>> {
        Ok(Arc::new(self.0.client(1)))
    }
}

fn guard(server: &MemoryServer, storage: &Arc<HaStorage>) -> IdentityGuard {
    let paths = ClusterPaths::new("", "/", storage.cluster_id()).unwrap();
    IdentityGuard::new(
        Arc::new(Clients(server.clone())),
        paths,
        Arc::clone(storage),
        HealthMonitor::default(),
        &Environment::system(),
    )
}

#[tokio::test]
async fn a_cluster_that_is_being_imported_is_led_by_its_import_only() {
    let server = MemoryServer::default();
    let id = ClusterId::new("c").unwrap();
    let storage = HaStorage::in_memory(&id, &Environment::system());
    storage.begin_import(Some("/c"), "a").await.unwrap();
    let refused = async |guard: IdentityGuard| {
        let error = guard.establish().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
        assert!(error.advice().contains("repeat `hactl import"), "{error}");
    };
    // Before there is a tree, and then.
    refused(guard(&server, &storage)).await;
    assert!(server.client(1).get("/c").await.is_err());
    let uuid = guard(&server, &storage)
        .for_import("a")
        .establish()
        .await
        .unwrap();
    refused(guard(&server, &storage)).await;
    refused(guard(&server, &storage).for_import("b")).await;

    storage.finish_import().await.unwrap();
    assert_eq!(guard(&server, &storage).establish().await.unwrap(), uuid);
}
