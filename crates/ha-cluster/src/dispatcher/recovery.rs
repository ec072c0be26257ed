use std::sync::Arc;

use ha_services::health::{BrokenEntry, Recovered};
use ha_services::ids::JobId;
use ha_services::jobs::{JobGraph, JobGraphStore};
use ha_services::{Error, ErrorKind, Result};

use super::Dispatcher;
use super::graph_listener::GraphListener;
use super::job_runner::JobOrigin;
use super::term::Term;
use crate::job::JobFile;
use crate::jobmanager::JobHandle;
use crate::retry;

impl Dispatcher {
    /// What a term does from its grant to its end.
    pub(super) async fn lead(self: Arc<Self>, term: Arc<Term>) {
        let acting = term.active.token();
        let recovered = tokio::select! {
            biased;
            () = term.revoked.cancelled() => None,
            () = self.suspend.cancelled() => None,
            broken = self.recover(&term) => Some(broken),
        };
        drop(acting);
        if let Some(broken) = recovered {
            term.recovered.send_replace(true);
            tokio::select! {
                biased;
                () = term.revoked.cancelled() => {}
                () = self.suspend.cancelled() => {}
                () = self.retry_broken(&term, broken) => {}
            }
        }
        term.revoked.cancelled().await;
        if let Some(store) = term.store.get()
            && let Err(error) = store.stop().await
        {
            tracing::debug!(%error, "the job graph store did not stop well");
        }
    }

    /// Takes up what earlier leaders left: ended jobs are cleaned up, the others run. Gives the ids of job graphs
    /// that could not be read.
    async fn recover(&self, term: &Arc<Term>) -> Vec<JobId> {
        let environment = &self.options.environment;
        let failed =
            |error: &Error| tracing::warn!(%error, "recovering the cluster's jobs failed, trying again");
        let store = retry::until_done(environment, failed, || self.start_store(term)).await;
        let store = term.store.get_or_init(|| store);

        let results = self.options.services.job_result_store();
        let dirty = retry::until_done(environment, failed, || results.dirty_results()).await;
        for entry in dirty.entries {
            tracing::info!(jobId = %entry.job_id(), "the job has ended; going on with its clean-up");
            self.spawn_clean_up(term, entry.job_id());
        }
        let graphs = retry::until_done(environment, failed, || store.recover_job_graphs()).await;
        self.take_up(term, graphs)
    }

    /// A store belongs to one term: with it every right to replace or remove a graph ends.
    async fn start_store(&self, term: &Arc<Term>) -> Result<Arc<dyn JobGraphStore>> {
        let store = self.options.services.job_graph_store();
        let listener = GraphListener::new(self.this.clone(), Arc::downgrade(term));
        store.start(Arc::new(listener)).await?;
        Ok(store)
    }

    fn take_up(&self, term: &Arc<Term>, graphs: Recovered<JobGraph>) -> Vec<JobId> {
        for graph in graphs.entries {
            if let Err(error) = self.take_up_one(term, &graph) {
                tracing::error!(jobId = %graph.job_id, %error, "the job cannot be taken up; it was left as it is");
            }
        }
        graphs
            .broken
            .iter()
            .filter_map(|entry| JobId::from_name(&entry.name))
            .collect()
    }

    /// Runs a recovered job, unless its end is recorded or it runs already. Whether its end is recorded is looked
    /// up in the job's own task: a look-up that takes long, or fails for long, holds up no other job.
    pub(super) fn take_up_one(&self, term: &Arc<Term>, graph: &JobGraph) -> Result<()> {
        let job = self.read_graph(graph)?;
        self.spawn_job(term, Arc::new(job), JobOrigin::Recovered);
        Ok(())
    }

    /// A graph whose payload is no job is reported and left.
    fn read_graph(&self, graph: &JobGraph) -> Result<JobHandle> {
        let path = format!("job graph {}", graph.job_id);
        let health = self.options.services.health();
        match JobFile::parse(&graph.payload, &path, None) {
            Ok(file) => {
                health.clear_broken(&path);
                Ok(JobHandle::new(graph.job_id, file.spec))
            }
            Err(error) => {
                health.report_broken(BrokenEntry::from_error(
                    graph.job_id.to_string(),
                    path.clone(),
                    &error,
                ));
                Err(Error::new(ErrorKind::Corrupt, error.message().to_owned())
                    .at(path)
                    .not_applied())
            }
        }
    }

    /// Looks after unreadable job graphs now and then: what made them unreadable, a storage that was away say,
    /// may pass.
    async fn retry_broken(&self, term: &Arc<Term>, mut broken: Vec<JobId>) {
        let Some(store) = term.store.get() else {
            return;
        };
        let mut backoff = retry::backoff();
        while !broken.is_empty() {
            self.options.environment.clock.sleep(backoff.next_delay()).await;
            let _acting = term.active.token();
            let mut still_broken = Vec::new();
            for job_id in broken {
                match store.recover_job_graph(job_id).await {
                    Ok(Some(graph)) => {
                        if let Err(error) = self.take_up_one(term, &graph) {
                            tracing::error!(jobId = %job_id, %error, "the job cannot be taken up; it was left as it is");
                        }
                    }
                    Ok(None) => {}
                    Err(error) => {
                        tracing::debug!(jobId = %job_id, %error, "the job graph is still unreadable");
                        still_broken.push(job_id);
                    }
                }
            }
            broken = still_broken;
        }
    }
}
