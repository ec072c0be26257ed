//! What a process that has just started is served of a place.

use ha_core::blobs::BlobStore as _;
use ha_core::checkpoints::CheckpointRecoveryFactory as _;
use ha_core::health::BrokenEntry;
use ha_core::ids::JobId;
use ha_core::jobs::{JobGraphStore as _, JobResultStore as _, RunningJobsRegistry as _};
use ha_core::{Error, Result};
use ha_testkit::contract::{graph, job};
use ha_zookeeper::identity::LeadershipPrecondition as _;
use ha_zookeeper::stores::{ZooKeeperCheckpointRecoveryFactory, ZooKeeperRunningJobsRegistry};

use super::entries::View;
use super::place::{JOBS, Place};

impl Place {
    /// What a process that starts now is served.
    pub(super) async fn view(&self) -> View {
        let stores = self.stores().await;
        let mut view = View::default();
        view.note("identity", stores.guard.ensure().await);
        let graphs = stores.graphs().await;
        let recovered = graphs.recover_job_graphs().await.unwrap();
        for graph in recovered.entries {
            view.serve(format!("graph {}", number_of(graph.job_id)), &graph.payload);
        }
        view.broken(recovered.broken);
        graphs.stop().await.unwrap();
        let factory = ZooKeeperCheckpointRecoveryFactory::new(stores.context.clone());
        let blobs = stores.blobs();
        for number in JOBS {
            let all = async {
                let store = factory
                    .create_recovered_completed_checkpoint_store(job(number), 3)
                    .await?;
                assert_eq!(store.latest().await?, store.all().await?.pop());
                store.all().await
            };
            match all.await {
                Ok(all) => all.iter().for_each(|one| {
                    view.serve(format!("checkpoint {number} {}", one.checkpoint_id), &one.payload);
                }),
                Err(error) => view.failed(&error),
            }
            let counter = factory.create_checkpoint_id_counter(job(number)).await.unwrap();
            let next = async {
                counter.start().await?;
                counter.get().await
            };
            view.note(&format!("counter {number}"), next.await);
            let target = self.local.path().join("read");
            let read = blobs.get(job(number), &self.blob, &target).await;
            let read = read.map(|there| there.then(|| std::fs::read(&target).unwrap()));
            view.note(&format!("blob {number}"), read);
        }
        let registry = ZooKeeperRunningJobsRegistry::new(stores.context.clone());
        for job_id in registry.running_job_ids().await.unwrap() {
            view.serve(format!("status {}", number_of(job_id)), "RUNNING");
        }
        let dirty = stores.results.dirty_results().await.unwrap();
        let clean = stores.results.clean_results().await.unwrap();
        for end in dirty.entries.into_iter().chain(clean.entries) {
            view.serve(format!("result {}", number_of(end.job_id())), &end);
        }
        view.broken(dirty.broken.into_iter().chain(clean.broken));
        // An end that cannot be read is an end.
        for number in [6, 7, 8] {
            assert!(stores.results.has_job_result_entry(job(number)).await.unwrap());
        }
        view.broken(stores.context.health.snapshot().broken.into_values());
        view
    }

    /// A process that met what is spoilt writes and reads all the same.
    pub(super) async fn goes_on(&self) {
        let stores = self.stores().await;
        let graphs = stores.graphs().await;
        let new = graph(job(9), "new");
        graphs.put_job_graph(&new).await.unwrap();
        assert_eq!(graphs.recover_job_graph(job(9)).await.unwrap(), Some(new));
        graphs.remove_job_graph(job(9)).await.unwrap();
        graphs.stop().await.unwrap();
    }
}

/// `5` of the id of `job(5)`.
fn number_of(job_id: JobId) -> String {
    let name = job_id.to_string();
    u8::from_str_radix(&name[..2], 16).unwrap().to_string()
}

impl View {
    fn serve(&mut self, key: String, value: impl std::fmt::Debug) {
        self.served.insert(key, format!("{value:?}"));
    }

    fn note<T: std::fmt::Debug>(&mut self, key: &str, outcome: Result<T>) {
        match outcome {
            Ok(value) => self.serve(key.to_owned(), value),
            Err(error) => self.failed(&error),
        }
    }

    fn failed(&mut self, error: &Error) {
        let path = error.subject().unwrap_or_default().to_owned();
        self.reports.push((path, error.message().to_owned()));
    }

    fn broken(&mut self, entries: impl IntoIterator<Item = BrokenEntry>) {
        let entries = entries.into_iter();
        self.reports
            .extend(entries.map(|entry| (entry.path, entry.reason)));
    }
}
