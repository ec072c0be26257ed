use std::sync::{Arc, Weak};

use async_trait::async_trait;
use ha_services::ids::JobId;
use ha_services::jobs::JobGraphListener;

use super::Dispatcher;
use super::term::Term;

/// Hears of job graphs that others, an operator's tool for instance, added or removed during a term.
pub(super) struct GraphListener {
    dispatcher: Weak<Dispatcher>,
    term: Weak<Term>,
}

impl GraphListener {
    pub(super) fn new(dispatcher: Weak<Dispatcher>, term: Weak<Term>) -> Self {
        Self { dispatcher, term }
    }

    fn upgrade(&self) -> Option<(Arc<Dispatcher>, Arc<Term>)> {
        Some((self.dispatcher.upgrade()?, self.term.upgrade()?))
    }
}

#[async_trait]
impl JobGraphListener for GraphListener {
    async fn on_added_job_graph(&self, job_id: JobId) {
        let Some((dispatcher, term)) = self.upgrade() else {
            return;
        };
        let Some(store) = term.store.get() else {
            // Recovery is about to read it.
            return;
        };
        let _acting = term.active.token();
        let taking_up = async {
            match store.recover_job_graph(job_id).await {
                Ok(Some(graph)) => dispatcher.take_up_one(&term, &graph),
                Ok(None) => Ok(()),
                Err(error) => Err(error),
            }
        };
        tokio::select! {
            biased;
            () = term.revoked.cancelled() => {}
            outcome = taking_up => if let Err(error) = outcome {
                tracing::error!(jobId = %job_id, %error, "a job that was added cannot be taken up");
            }
        }
    }

    async fn on_removed_job_graph(&self, job_id: JobId) {
        let Some(term) = self.term.upgrade() else {
            return;
        };
        let running = term.jobs().get(&job_id).cloned();
        if let Some(running) = running
            && !running.handle.overview().status.is_globally_terminal()
        {
            tracing::warn!(jobId = %job_id, "the job graph was removed by others; the job stops");
            running.stop.cancel();
        }
    }
}
