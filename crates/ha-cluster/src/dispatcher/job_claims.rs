use std::collections::BTreeSet;
use std::sync::Arc;

use ha_services::ids::JobId;
use tokio::sync::watch;

/// Which jobs this process stands in an election for. A job that is taken up again (in a later term, or after
/// it was removed and submitted anew) waits until its earlier contender has left.
#[derive(Clone, Debug)]
pub(super) struct JobClaims {
    claimed: Arc<watch::Sender<BTreeSet<JobId>>>,
}

impl JobClaims {
    pub(super) fn new() -> Self {
        Self {
            claimed: Arc::new(watch::Sender::new(BTreeSet::new())),
        }
    }

    /// Waits until nobody else has the job.
    pub(super) async fn claim(&self, job_id: JobId) -> JobClaim {
        let mut claimed = self.claimed.subscribe();
        loop {
            let mine = self.claimed.send_if_modified(|claimed| claimed.insert(job_id));
            if mine {
                return JobClaim {
                    claims: self.clone(),
                    job_id,
                };
            }
            // The sender is part of `self`, so this ends by a change only.
            let _ = claimed.wait_for(|claimed| !claimed.contains(&job_id)).await;
        }
    }
}

/// A claimed job; dropping it gives it back.
#[derive(Debug)]
pub(super) struct JobClaim {
    claims: JobClaims,
    job_id: JobId,
}

impl Drop for JobClaim {
    fn drop(&mut self) {
        self.claims
            .claimed
            .send_if_modified(|claimed| claimed.remove(&self.job_id));
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn one_at_a_time_has_a_job() {
        let claims = JobClaims::new();
        let job = JobId::from_bytes([1; 16]);
        let first = claims.claim(job).await;
        assert!(claims.claim(job).now_or_never().is_none());
        assert!(claims.claim(JobId::from_bytes([2; 16])).now_or_never().is_some());
        drop(first);
        assert!(claims.claim(job).now_or_never().is_some());
    }
}
