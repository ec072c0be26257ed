use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use ha_services::ids::LeaderSessionId;
use tokio::sync::watch;

use crate::component::{Component, Contending};

/// Whether this process's REST endpoint leads.
pub struct RestLeadership {
    session: watch::Sender<Option<LeaderSessionId>>,
    contending: OnceLock<Arc<Contending>>,
}

impl RestLeadership {
    /// It does not lead yet.
    pub fn new() -> Self {
        Self {
            session: watch::Sender::new(None),
            contending: OnceLock::new(),
        }
    }

    /// Sets the election that it stands in. The first one stays.
    pub fn set_contending(&self, contending: Arc<Contending>) {
        let _ = self.contending.set(contending);
    }

    /// Whether it leads at this instant. A process that was stopped and goes on after its lease ran out says no,
    /// before anybody has told it.
    pub async fn leads(&self) -> bool {
        let session = *self.session.borrow();
        match (session, self.contending.get()) {
            (Some(session), Some(contending)) => contending.has_leadership(session).await,
            _ => false,
        }
    }
}

impl Default for RestLeadership {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Component for RestLeadership {
    async fn granted(&self, session: LeaderSessionId) {
        self.session.send_replace(Some(session));
    }

    async fn revoked(&self) {
        self.session.send_replace(None);
    }
}
