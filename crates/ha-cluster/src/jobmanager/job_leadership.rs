use async_trait::async_trait;
use ha_services::ids::LeaderSessionId;
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

use crate::component::Component;

/// Whether this process leads a job, and the guard that a revocation waits for.
pub(super) struct JobLeadership {
    session: watch::Sender<Option<LeaderSessionId>>,
    active: TaskTracker,
}

impl JobLeadership {
    pub(super) fn new() -> Self {
        Self {
            session: watch::Sender::new(None),
            active: TaskTracker::new(),
        }
    }

    /// What an execution holds while it acts.
    pub(super) fn active(&self) -> &TaskTracker {
        &self.active
    }

    /// Waits for a grant.
    pub(super) async fn granted_session(&self) -> LeaderSessionId {
        let mut session = self.session.subscribe();
        loop {
            if let Some(session) = *session.borrow_and_update() {
                return session;
            }
            // The sender is part of `self`, so this wakes up by a change only.
            let _ = session.changed().await;
        }
    }

    /// Completes when the term `of` is over.
    pub(super) async fn over(&self, of: LeaderSessionId) {
        let mut session = self.session.subscribe();
        let _ = session.wait_for(|session| *session != Some(of)).await;
    }
}

#[async_trait]
impl Component for JobLeadership {
    async fn granted(&self, session: LeaderSessionId) {
        self.active.reopen();
        self.session.send_replace(Some(session));
    }

    async fn revoked(&self) {
        self.session.send_replace(None);
        self.active.close();
        self.active.wait().await;
    }
}
