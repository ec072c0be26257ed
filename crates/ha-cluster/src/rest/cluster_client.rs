use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use ha_services::backoff::Backoff;
use ha_services::environment::Environment;
use ha_services::ids::JobId;
use ha_services::{Error, ErrorKind, Result};
use tokio::sync::watch;

use super::{LeaderWatch, RestClient, Submission};
use crate::job::{JobOverview, JobSpec};

/// How often a job is asked after.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// The waits before a failed request is sent again.
const RETRY_WAITS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// Where the leader's address comes from.
#[derive(Clone)]
pub enum LeaderSource {
    /// Leader retrieval.
    Retrieval(Arc<LeaderWatch>),
    /// A configured address.
    Fixed(String),
}

/// Speaks to the leader of a cluster, through changes of the leader.
#[derive(Clone)]
pub struct ClusterClient {
    client: RestClient,
    leader: LeaderSource,
    environment: Environment,
    trouble: Arc<watch::Sender<Option<Error>>>,
}

impl ClusterClient {
    /// A client of the cluster whose leader `leader` tells.
    ///
    /// # Errors
    /// `Internal` when the HTTP client cannot be made.
    pub fn new(leader: LeaderSource, environment: Environment) -> Result<Self> {
        Ok(Self {
            client: RestClient::new()?,
            leader,
            environment,
            trouble: Arc::new(watch::Sender::new(None)),
        })
    }

    /// What the last request failed with that is sent again: for those who give up waiting.
    pub fn trouble(&self) -> Option<Error> {
        self.trouble.borrow().clone()
    }

    /// Submits a job. Repeated until a leader has answered, so the caller bounds it; the same id and content is
    /// one job however often it is sent.
    ///
    /// # Errors
    /// `Invalid`, `AlreadyExists`: what the leader refused.
    pub async fn submit(&self, id: JobId, spec: &JobSpec) -> Result<Submission> {
        self.until_answered(async |address| self.client.submit(&address, id, spec).await)
            .await
    }

    /// Follows a job to its end, telling `progress` of how it stands. `None`: nothing is known of it any more.
    ///
    /// # Errors
    /// What a leader answered that waiting does not help.
    pub async fn wait_for_end(
        &self,
        id: JobId,
        mut progress: impl FnMut(&JobOverview),
    ) -> Result<Option<JobOverview>> {
        loop {
            let job = self
                .until_answered(async |address| self.client.job(&address, id).await)
                .await?;
            let Some(job) = job else {
                return Ok(None);
            };
            progress(&job);
            if job.status.is_globally_terminal() {
                return Ok(Some(job));
            }
            self.environment.clock.sleep(POLL_INTERVAL).await;
        }
    }

    async fn until_answered<T, F: Future<Output = Result<T>>>(
        &self,
        mut ask: impl FnMut(String) -> F,
    ) -> Result<T> {
        let mut backoff = Backoff::new(RETRY_WAITS.0, RETRY_WAITS.1);
        let mut told = String::new();
        loop {
            let address = self.leader_address().await;
            match ask(address).await {
                Err(error) if is_passing(&error) => {
                    let reason = error.to_string();
                    // A change of the leader passes through this; everything else may last, and is told once.
                    if error.kind() == ErrorKind::NotLeader || reason == told {
                        tracing::debug!(%error, "no leader took the request, asking again");
                    } else {
                        let at = error.subject().unwrap_or_default();
                        tracing::warn!(
                            at,
                            "no leader took the request, asking again: {}",
                            error.message()
                        );
                    }
                    told = reason;
                    self.trouble.send_replace(Some(error));
                }
                other => {
                    self.trouble.send_replace(None);
                    return other;
                }
            }
            self.environment.clock.sleep(backoff.next_delay()).await;
        }
    }

    /// The leader's address, as soon as there is one.
    async fn leader_address(&self) -> String {
        match &self.leader {
            LeaderSource::Fixed(address) => address.clone(),
            LeaderSource::Retrieval(watch) => {
                let mut leader = watch.subscribe();
                let known = leader
                    .wait_for(Option::is_some)
                    .await
                    .ok()
                    .and_then(|leader| leader.clone());
                match known {
                    Some(leader) => leader.leader_address.trim_end_matches('/').to_owned(),
                    // The services were closed: nobody leads any more, as far as this process will know.
                    None => std::future::pending().await,
                }
            }
        }
    }
}

/// Whether the same request may do later: what the leader or its storage lacks now, the next leader may have.
fn is_passing(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Unavailable
            | ErrorKind::NotLeader
            | ErrorKind::Closed
            | ErrorKind::Denied
            | ErrorKind::Internal
    )
}
