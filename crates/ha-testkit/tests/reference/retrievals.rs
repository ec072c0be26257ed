use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use ha_core::election::LeaderInformation;
use ha_core::retrieval::{LeaderRetrievalListener, LeaderRetrievalService};
use ha_core::{Error, Result};
use tokio::sync::watch;

use super::Fault;
use super::process::Process;

/// A retrieval of one process, with faults around a sound one.
pub(super) struct Retrieval {
    pub(super) inner: Arc<dyn LeaderRetrievalService>,
    pub(super) process: Arc<Process>,
}

#[async_trait]
impl LeaderRetrievalService for Retrieval {
    async fn start(&self, listener: Arc<dyn LeaderRetrievalListener>) -> Result<()> {
        self.process.check_open()?;
        let listener = Arc::new(Listener {
            inner: listener,
            fault: self.process.fault,
            before: Mutex::new(None),
        });
        self.inner.start(listener).await
    }

    async fn stop(&self) -> Result<()> {
        match self.process.fault {
            Fault::ToldAfterStop => Ok(()),
            _ => self.inner.stop().await,
        }
    }

    fn subscribe(&self) -> watch::Receiver<Option<LeaderInformation>> {
        self.inner.subscribe()
    }
}

/// What stands between a listener and its retrieval.
struct Listener {
    inner: Arc<dyn LeaderRetrievalListener>,
    fault: Fault,
    /// What was told before, told or not.
    before: Mutex<Option<Option<LeaderInformation>>>,
}

#[async_trait]
impl LeaderRetrievalListener for Listener {
    async fn notify_leader(&self, leader: Option<LeaderInformation>) {
        let before = self.before.lock().unwrap().replace(leader.clone());
        let told = match self.fault {
            Fault::LeaderKeptAfterLoss if leader.is_none() => None,
            Fault::FirstLeaderNotTold if before.is_none() => None,
            Fault::ToldOneLate => before,
            _ => Some(leader),
        };
        let Some(told) = told else { return };
        if self.fault == Fault::NotificationRepeated {
            self.inner.notify_leader(told.clone()).await;
        }
        self.inner.notify_leader(told).await;
    }

    async fn handle_error(&self, error: Error) {
        self.inner.handle_error(error).await;
    }
}
