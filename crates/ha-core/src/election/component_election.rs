use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::{oneshot, watch};

use super::contender_slot::ContenderSlot;
use super::contender_task::{address_of, in_callback};
use super::default_leader_election_service::ElectionHandle;
use super::election_message::ElectionMessage;
use super::{LeaderContender, LeaderElectionService, LeaderInformation};
use crate::error::{Error, Result};
use crate::ids::{ComponentId, LeaderSessionId};

/// The part of one component in the election of a process.
pub(super) struct ComponentElection {
    election: Arc<ElectionHandle>,
    component: ComponentId,
    information: Arc<watch::Sender<Option<LeaderInformation>>>,
    state: Mutex<State>,
}

#[derive(Clone, Default)]
enum State {
    #[default]
    New,
    Started(Arc<ContenderSlot>),
    /// The slot of a contender that had started.
    Stopped(Option<Arc<ContenderSlot>>),
}

impl ComponentElection {
    pub(super) fn new(election: Arc<ElectionHandle>, component: ComponentId) -> Self {
        Self {
            election,
            component,
            information: Arc::new(watch::Sender::new(None)),
            state: Mutex::new(State::New),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is replaced whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin_start(&self, contender: Arc<dyn LeaderContender>) -> Result<Arc<ContenderSlot>> {
        let mut state = self.lock();
        if !matches!(*state, State::New) {
            return Err(Error::invalid("the leader election service was started before")
                .at(self.component.as_str())
                .advise("ask the services for another one"));
        }
        let slot = Arc::new(ContenderSlot::new(
            self.component.clone(),
            contender,
            self.election.messages(),
            Arc::clone(&self.information),
        ));
        *state = State::Started(Arc::clone(&slot));
        Ok(slot)
    }
}

#[async_trait]
impl LeaderElectionService for ComponentElection {
    async fn start(&self, contender: Arc<dyn LeaderContender>) -> Result<()> {
        let slot = self.begin_start(contender)?;
        let (reply, answer) = oneshot::channel();
        let started = match self.election.send(ElectionMessage::Start {
            slot: Arc::clone(&slot),
            reply,
        }) {
            Ok(()) => answer.await.unwrap_or_else(|_| Err(self.election.closed())),
            Err(error) => Err(error),
        };
        if started.is_err() {
            let mut state = self.lock();
            if matches!(&*state, State::Started(current) if Arc::ptr_eq(current, &slot)) {
                *state = State::New;
            }
        }
        started
    }

    async fn stop(&self) -> Result<()> {
        let slot = {
            let mut state = self.lock();
            let slot = match &*state {
                State::New => None,
                State::Started(slot) => Some(Arc::clone(slot)),
                State::Stopped(slot) => slot.clone(),
            };
            *state = State::Stopped(slot.clone());
            slot
        };
        let Some(slot) = slot else { return Ok(()) };
        slot.begin_stop();
        if in_callback(|running| Arc::ptr_eq(running, &slot)) {
            // Leadership is given up once this callback has returned; waiting for that here would be for ever.
            slot.silence();
            let _ = self.election.send(ElectionMessage::Stop { slot, reply: None });
            return Ok(());
        }
        let (reply, answer) = oneshot::channel();
        let reply = Some(reply);
        match self.election.send(ElectionMessage::Stop { slot, reply }) {
            Ok(()) => answer.await.unwrap_or(Ok(())),
            // An election that has ended has nothing left to stop.
            Err(_) => Ok(()),
        }
    }

    async fn confirm_leadership(&self, session: LeaderSessionId, address: Option<&str>) -> Result<bool> {
        let state = self.lock().clone();
        let slot = match state {
            State::New => return Ok(false),
            State::Stopped(_) => {
                return Err(Error::closed("the leader election service").at(self.component.as_str()));
            }
            State::Started(slot) => slot,
        };
        if !slot.has_leadership(session) {
            tracing::debug!(component = %self.component, %session, "stale confirmation ignored");
            return Ok(false);
        }
        let address = match address {
            Some(address) => address.to_owned(),
            None => address_of(&slot)?,
        };
        let (reply, answer) = oneshot::channel();
        self.election.send(ElectionMessage::Confirm {
            slot,
            session,
            address,
            reply,
        })?;
        answer.await.unwrap_or_else(|_| Err(self.election.closed()))
    }

    async fn has_leadership(&self, session: LeaderSessionId) -> bool {
        match &*self.lock() {
            State::Started(slot) => slot.has_leadership(session),
            State::New | State::Stopped(_) => false,
        }
    }

    fn subscribe(&self) -> watch::Receiver<Option<LeaderInformation>> {
        self.information.subscribe()
    }
}
