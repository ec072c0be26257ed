use std::sync::{Arc, OnceLock, Weak};

use async_trait::async_trait;
use ha_core::election::{LeaderContender, LeaderElectionService};
use ha_core::error::{Error, ErrorKind};
use ha_core::ids::LeaderSessionId;

use super::{Gate, Recorder};

/// One call of a contender, or what a call of its own came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContenderCall {
    /// `grant_leadership` began.
    Granted {
        /// The term.
        session: LeaderSessionId,
        /// What `has_leadership` answered inside the callback.
        has_leadership: bool,
    },
    /// `confirm_leadership`, called inside the grant, returned: `Ok(true)` is `Some(true)`, an error `None`.
    Confirmed(Option<bool>),
    /// `grant_leadership` is about to return.
    GrantReturned,
    /// `revoke_leadership` began.
    Revoked {
        /// What `has_leadership` answered inside the callback for the last term.
        has_leadership: bool,
    },
    /// `revoke_leadership` is about to return.
    RevokeReturned,
    /// `handle_error` with an error of this kind.
    Error(ErrorKind),
}

/// A call, and whose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContenderEvent {
    /// The contender's address.
    pub contender: String,
    /// The call.
    pub call: ContenderCall,
}

/// What a [`RecordingContender`] does in a callback, after recording it.
#[derive(Clone, Debug, Default)]
pub enum Behaviour {
    /// Nothing.
    #[default]
    Record,
    /// It confirms the leadership with its own address (in a grant; else nothing).
    Confirm,
    /// It waits until the gate is open.
    Block(Gate),
    /// It panics.
    Panic,
    /// It stops the service that calls it.
    Stop,
}

/// A contender that records its calls in order, and does what the test asks for in them.
pub struct RecordingContender {
    address: String,
    log: Recorder<ContenderEvent>,
    on_grant: Behaviour,
    on_revoke: Behaviour,
    service: OnceLock<Weak<dyn LeaderElectionService>>,
    last_session: std::sync::Mutex<Option<LeaderSessionId>>,
}

impl RecordingContender {
    /// A contender that only records, in its own log.
    pub fn new(address: &str) -> Arc<Self> {
        Self::with(address, &Recorder::new(), Behaviour::Record, Behaviour::Record)
    }

    /// A contender that confirms inside each grant.
    pub fn confirming(address: &str) -> Arc<Self> {
        Self::with(address, &Recorder::new(), Behaviour::Confirm, Behaviour::Record)
    }

    /// A contender with a behaviour, and with a log that several may share, to see the order of their calls.
    pub fn with(
        address: &str,
        log: &Recorder<ContenderEvent>,
        on_grant: Behaviour,
        on_revoke: Behaviour,
    ) -> Arc<Self> {
        Arc::new(Self {
            address: address.to_owned(),
            log: log.clone(),
            on_grant,
            on_revoke,
            service: OnceLock::new(),
            last_session: std::sync::Mutex::new(None),
        })
    }

    /// Starts `service` with this contender.
    pub async fn contend(self: &Arc<Self>, service: &Arc<dyn LeaderElectionService>) {
        self.try_contend(service)
            .await
            .expect("the election service starts");
    }

    /// Starts `service` with this contender; the caller looks at the outcome.
    pub async fn try_contend(
        self: &Arc<Self>,
        service: &Arc<dyn LeaderElectionService>,
    ) -> ha_core::Result<()> {
        // Weak, so that contender and service do not keep each other alive.
        let weak = Arc::downgrade(service);
        assert!(
            self.service.set(weak).is_ok(),
            "a contender stands in one election"
        );
        service.start(Arc::clone(self) as Arc<dyn LeaderContender>).await
    }

    /// This contender's calls, in order.
    pub fn calls(&self) -> Vec<ContenderCall> {
        self.own(&self.log.events())
    }

    /// The terms that were granted, in order.
    pub fn sessions(&self) -> Vec<LeaderSessionId> {
        sessions(&self.calls())
    }

    /// Waits for the first grant, and gives its term.
    pub async fn wait_for_grant(&self) -> LeaderSessionId {
        self.wait_for_grants(1).await
    }

    /// Waits until `count` grants began, and gives the term of the last of them.
    pub async fn wait_for_grants(&self, count: usize) -> LeaderSessionId {
        self.wait_for(&format!("{} granted {count} times", self.address), |calls| {
            sessions(calls).get(count - 1).copied()
        })
        .await
    }

    /// Waits until this contender made a call that satisfies `condition`.
    pub async fn wait_for_call(&self, what: &str, condition: impl Fn(&ContenderCall) -> bool) {
        self.wait_for(what, |calls| calls.iter().any(&condition).then_some(()))
            .await;
    }

    /// Waits until `select` finds what it looks for in this contender's calls.
    pub async fn wait_for<T>(&self, what: &str, select: impl Fn(&[ContenderCall]) -> Option<T>) -> T {
        self.log.wait_for(what, |events| select(&self.own(events))).await
    }

    fn own(&self, events: &[ContenderEvent]) -> Vec<ContenderCall> {
        events
            .iter()
            .filter(|event| event.contender == self.address)
            .map(|event| event.call.clone())
            .collect()
    }

    fn record(&self, call: ContenderCall) {
        self.log.record(ContenderEvent {
            contender: self.address.clone(),
            call,
        });
    }

    fn service(&self) -> Option<Arc<dyn LeaderElectionService>> {
        self.service.get().and_then(Weak::upgrade)
    }

    async fn has_leadership(&self, session: Option<LeaderSessionId>) -> bool {
        match (self.service(), session) {
            (Some(service), Some(session)) => service.has_leadership(session).await,
            _ => false,
        }
    }

    async fn behave(&self, behaviour: &Behaviour, session: Option<LeaderSessionId>) {
        match (behaviour, self.service()) {
            (Behaviour::Confirm, Some(service)) => {
                if let Some(session) = session {
                    let outcome = service.confirm_leadership(session, None).await.ok();
                    self.record(ContenderCall::Confirmed(outcome));
                }
            }
            (Behaviour::Block(gate), _) => gate.pass().await,
            (Behaviour::Panic, _) => panic!("the contender panics, as the test asks for"),
            (Behaviour::Stop, Some(service)) => {
                service.stop().await.expect("stopping inside a callback succeeds");
            }
            (Behaviour::Record | Behaviour::Confirm | Behaviour::Stop, _) => {}
        }
    }
}

fn sessions(calls: &[ContenderCall]) -> Vec<LeaderSessionId> {
    calls
        .iter()
        .filter_map(|call| match call {
            ContenderCall::Granted { session, .. } => Some(*session),
            _ => None,
        })
        .collect()
}

#[async_trait]
impl LeaderContender for RecordingContender {
    async fn grant_leadership(&self, session: LeaderSessionId) {
        *self.last_session.lock().expect("no holder panics") = Some(session);
        let has_leadership = self.has_leadership(Some(session)).await;
        self.record(ContenderCall::Granted {
            session,
            has_leadership,
        });
        self.behave(&self.on_grant, Some(session)).await;
        self.record(ContenderCall::GrantReturned);
    }

    async fn revoke_leadership(&self) {
        let session = *self.last_session.lock().expect("no holder panics");
        let has_leadership = self.has_leadership(session).await;
        self.record(ContenderCall::Revoked { has_leadership });
        self.behave(&self.on_revoke, None).await;
        self.record(ContenderCall::RevokeReturned);
    }

    fn address(&self) -> String {
        self.address.clone()
    }

    async fn handle_error(&self, error: Error) {
        self.record(ContenderCall::Error(error.kind()));
    }
}
