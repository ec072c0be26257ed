use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use ha_core::blobs::BlobStore;
use ha_core::checkpoints::CheckpointRecoveryFactory;
use ha_core::environment::BoxFuture;
use ha_core::jobs::{JobGraphStore, JobResultStore, RunningJobsRegistry};
use ha_core::services::HighAvailabilityServices;

use super::{Entry, Fixture};

type Services = Arc<dyn HighAvailabilityServices>;

/// Makes the fixture of one store out of a fixture of whole services.
pub struct Part<F, S: ?Sized> {
    services: F,
    part: fn(Services) -> BoxFuture<Arc<S>>,
    /// The services of each part that is open: they must live as long, and end with it at a crash.
    open: Mutex<Vec<(Arc<S>, Services)>>,
}

impl<F> Part<F, dyn JobGraphStore> {
    /// The job graph stores.
    pub fn job_graph_store(services: F) -> Self {
        Self::new(services, |services| {
            Box::pin(async move { services.job_graph_store() })
        })
    }
}

impl<F> Part<F, dyn JobResultStore> {
    /// The job result stores.
    pub fn job_result_store(services: F) -> Self {
        Self::new(services, |services| {
            Box::pin(async move { services.job_result_store() })
        })
    }
}

impl<F> Part<F, dyn CheckpointRecoveryFactory> {
    /// The checkpoint stores and counters.
    pub fn checkpoint_recovery_factory(services: F) -> Self {
        Self::new(services, |services| {
            Box::pin(async move { services.checkpoint_recovery_factory() })
        })
    }
}

impl<F> Part<F, dyn RunningJobsRegistry> {
    /// The registries.
    pub fn running_jobs_registry(services: F) -> Self {
        Self::new(services, |services| {
            Box::pin(async move { services.running_jobs_registry() })
        })
    }
}

impl<F> Part<F, dyn BlobStore> {
    /// The blob stores.
    pub fn blob_store(services: F) -> Self {
        Self::new(services, |services| {
            Box::pin(async move { services.create_blob_store().await.expect("the blob store opens") })
        })
    }
}

impl<F, S: ?Sized> Part<F, S> {
    fn new(services: F, part: fn(Services) -> BoxFuture<Arc<S>>) -> Self {
        Self {
            services,
            part,
            open: Mutex::new(Vec::new()),
        }
    }

    async fn part_of(&self, services: Services) -> Arc<S> {
        let part = (self.part)(Arc::clone(&services)).await;
        self.open
            .lock()
            .expect("no holder panics")
            .push((Arc::clone(&part), services));
        part
    }

    fn forget(&self, part: &Arc<S>) -> Services {
        let mut open = self.open.lock().expect("no holder panics");
        let index = open
            .iter()
            .position(|(known, _)| Arc::ptr_eq(known, part))
            .expect("the part was opened here");
        open.remove(index).1
    }
}

#[async_trait]
impl<F, S> Fixture for Part<F, S>
where
    F: Fixture<Subject = Services>,
    S: Send + Sync + ?Sized + 'static,
{
    type Subject = Arc<S>;

    async fn open(&self) -> Arc<S> {
        let services = self.services.open().await;
        self.part_of(services).await
    }

    async fn reopen_after_crash(&self, subject: Arc<S>) -> Arc<S> {
        let services = self.forget(&subject);
        drop(subject);
        let services = self.services.reopen_after_crash(services).await;
        self.part_of(services).await
    }

    async fn open_neighbour(&self) -> Arc<S> {
        let services = self.services.open_neighbour().await;
        self.part_of(services).await
    }

    async fn break_entry(&self, entry: Entry) {
        self.services.break_entry(entry).await;
    }
}
