//! Names of the seeds that nothing else uses.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;

use ha_services::ids::{JobId, LeaderSessionId};
use ha_services::jobs::{JobGraph, JobGraphListener, StoredJobGraph};
use ha_services::*;

struct Contender;

#[async_trait]
impl LeaderContender for Contender {
    async fn grant_leadership(&self, _session: LeaderSessionId) {}

    async fn revoke_leadership(&self) {}

    fn address(&self) -> String {
        "http://a:1".to_owned()
    }

    async fn handle_error(&self, _error: Error) {}
}

#[async_trait]
impl JobGraphListener for Contender {
    async fn on_added_job_graph(&self, _job_id: JobId) {}

    async fn on_removed_job_graph(&self, _job_id: JobId) {}
}

#[test]
fn the_description_of_a_contender_is_its_address() {
    assert_eq!(Contender.description(), "http://a:1");
}

#[tokio::test]
async fn a_stored_job_graph_is_a_job_graph() {
    let services = create_available_or_embedded_services(&Configuration::new(), Environment::system())
        .await
        .unwrap();
    let store = services.job_graph_store();
    store.start(Arc::new(Contender)).await.unwrap();
    let graph = JobGraph {
        job_id: JobId::from_bytes([1; 16]),
        name: "wordcount".to_owned(),
        payload: "payload".into(),
    };
    store.put_job_graph(&graph).await.unwrap();
    let stored: Option<StoredJobGraph> = store.recover_job_graph(graph.job_id).await.unwrap();
    assert_eq!(stored, Some(graph));
    store.stop().await.unwrap();
    services.close().await.unwrap();
}
