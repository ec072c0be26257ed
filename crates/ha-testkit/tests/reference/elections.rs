use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use async_trait::async_trait;
use ha_core::election::{LeaderContender, LeaderElectionService, LeaderInformation};
use ha_core::ids::{ComponentId, LeaderSessionId};
use ha_core::{Error, Result};
use tokio::sync::watch;

use super::Fault;
use super::process::Process;

/// The id of every term of an implementation that has no other.
const ONLY_TERM: LeaderSessionId = LeaderSessionId::DEFAULT;

/// An election of one process, with faults around a sound one.
pub(super) struct Election {
    inner: Arc<dyn LeaderElectionService>,
    process: Arc<Process>,
    component: ComponentId,
    contender: OnceLock<Arc<Contender>>,
    stood: AtomicBool,
}

impl Election {
    pub(super) fn new(
        inner: Arc<dyn LeaderElectionService>,
        process: Arc<Process>,
        component: ComponentId,
    ) -> Self {
        Self {
            inner,
            process,
            component,
            contender: OnceLock::new(),
            stood: AtomicBool::new(false),
        }
    }

    fn fault(&self) -> Fault {
        self.process.fault
    }

    fn present(&self) -> Option<LeaderSessionId> {
        let term = self.inner.subscribe().borrow().clone();
        term.map(|term| term.leader_session_id)
    }

    /// The term as the sound election knows it.
    fn known(&self, session: LeaderSessionId) -> LeaderSessionId {
        match self.fault() {
            Fault::TermRepeats if session == ONLY_TERM => self.present().unwrap_or(session),
            Fault::StaleConfirmAccepted => self.present().unwrap_or(session),
            _ => session,
        }
    }
}

#[async_trait]
impl LeaderElectionService for Election {
    async fn start(&self, contender: Arc<dyn LeaderContender>) -> Result<()> {
        if self.stood.load(Ordering::SeqCst) {
            return Err(Error::invalid("started before"));
        }
        self.process.stand(self.component.clone(), &self.inner)?;
        self.stood.store(true, Ordering::SeqCst);
        let contender = Arc::new(Contender {
            inner: contender,
            election: Arc::clone(&self.inner),
            process: Arc::clone(&self.process),
            session: Mutex::new(None),
            call: tokio::sync::Mutex::new(()),
        });
        assert!(self.contender.set(Arc::clone(&contender)).is_ok());
        self.inner.start(contender).await
    }

    async fn stop(&self) -> Result<()> {
        self.stood.store(true, Ordering::SeqCst);
        if let Some(contender) = self.contender.get() {
            if self.fault() == Fault::StoppedContenderWoken && self.present().is_none() {
                return Ok(());
            }
            if self.fault() == Fault::StopWaitsForItsCallback {
                drop(contender.call.lock().await);
            }
            let stopped = self.inner.stop().await;
            self.process.leave(&self.component);
            return stopped;
        }
        self.inner.stop().await
    }

    async fn confirm_leadership(&self, session: LeaderSessionId, address: Option<&str>) -> Result<bool> {
        self.inner.confirm_leadership(self.known(session), address).await
    }

    async fn has_leadership(&self, session: LeaderSessionId) -> bool {
        if self.fault() == Fault::LeadsWhileRevoked
            && let Some(contender) = self.contender.get()
        {
            return *contender.session.lock().unwrap() == Some(session);
        }
        match self.fault() {
            Fault::StaleConfirmAccepted => self.inner.has_leadership(session).await,
            _ => self.inner.has_leadership(self.known(session)).await,
        }
    }

    fn subscribe(&self) -> watch::Receiver<Option<LeaderInformation>> {
        self.inner.subscribe()
    }
}

/// What stands between a contender and its election.
struct Contender {
    inner: Arc<dyn LeaderContender>,
    election: Arc<dyn LeaderElectionService>,
    process: Arc<Process>,
    /// The term that was granted and whose revocation has not returned.
    session: Mutex<Option<LeaderSessionId>>,
    /// Held during a callback.
    call: tokio::sync::Mutex<()>,
}

#[async_trait]
impl LeaderContender for Contender {
    async fn grant_leadership(&self, session: LeaderSessionId) {
        let _call = self.call.lock().await;
        *self.session.lock().unwrap() = Some(session);
        match self.process.fault {
            Fault::PublishedWithoutConfirmation => {
                self.election.confirm_leadership(session, None).await.unwrap();
            }
            Fault::GrantedTwice => self.inner.grant_leadership(session).await,
            Fault::TermRepeats => return self.inner.grant_leadership(ONLY_TERM).await,
            _ => {}
        }
        self.inner.grant_leadership(session).await;
        let late = std::mem::take(&mut *self.process.disk.late_revocations.lock().unwrap());
        for contender in late {
            contender.revoke_leadership().await;
        }
    }

    async fn revoke_leadership(&self) {
        let _call = self.call.lock().await;
        if self.process.fault == Fault::NotRevoked {
            return;
        }
        if self.process.fault == Fault::RevokedLate {
            let late = Arc::clone(&self.inner);
            self.process.disk.late_revocations.lock().unwrap().push(late);
            return;
        }
        self.inner.revoke_leadership().await;
        *self.session.lock().unwrap() = None;
    }

    fn address(&self) -> String {
        self.inner.address()
    }

    fn description(&self) -> String {
        self.inner.description()
    }

    async fn handle_error(&self, error: Error) {
        self.inner.handle_error(error).await;
    }
}
