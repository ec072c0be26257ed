use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::{oneshot, watch};

use super::contender_slot::ContenderSlot;
use super::contender_task::in_callback;
use super::election_message::ElectionMessage;
use super::{DefaultLeaderElectionService, LeaderContender, LeaderElectionService, LeaderInformation};
use crate::error::{Error, Result};
use crate::followed::Followed;
use crate::ids::{ComponentId, LeaderSessionId};
use crate::lifecycle::Lifecycle;

/// The longest address in bytes; with what surrounds it, leader information is at most 8 KiB (design §6).
const MAX_ADDRESS: usize = 7 * 1024;

/// The part of one component in the election of a process.
pub(super) struct ComponentElection {
    election: Arc<DefaultLeaderElectionService>,
    component: ComponentId,
    followers: Arc<Followed<Option<LeaderInformation>>>,
    lifecycle: Lifecycle<ContenderSlot>,
}

impl ComponentElection {
    pub(super) fn new(election: Arc<DefaultLeaderElectionService>, component: ComponentId) -> Self {
        Self {
            election,
            component,
            followers: Arc::new(Followed::new(None)),
            lifecycle: Lifecycle::new("the leader election service"),
        }
    }
}

#[async_trait]
impl LeaderElectionService for ComponentElection {
    async fn start(&self, contender: Arc<dyn LeaderContender>) -> Result<()> {
        let slot = ContenderSlot::new(
            self.component.clone(),
            Arc::downgrade(&contender),
            self.election.messages(),
            Arc::clone(&self.followers),
        );
        let slot = self
            .lifecycle
            .start(slot)
            .map_err(|error| error.at(self.component.as_str()))?;
        let (reply, answer) = oneshot::channel();
        let begun = BegunStart(self);
        let started = match self.election.send(ElectionMessage::Start {
            slot: Arc::clone(&slot),
            contender,
            reply,
        }) {
            Ok(()) => answer.await.unwrap_or_else(|_| Err(self.election.closed())),
            Err(error) => Err(error),
        };
        std::mem::forget(begun);
        if started.is_err() {
            self.lifecycle.start_failed(&slot);
        }
        started
    }

    async fn stop(&self) -> Result<()> {
        let Some(slot) = self.lifecycle.stop() else {
            return Ok(());
        };
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
        let running = self
            .lifecycle
            .running()
            .map_err(|error| error.at(self.component.as_str()))?;
        let Some(slot) = running else { return Ok(false) };
        if !slot.has_leadership(session) {
            tracing::debug!(component = %self.component, %session, "stale confirmation ignored");
            return Ok(false);
        }
        let address = match address {
            Some(address) => address.to_owned(),
            None => slot.address()?,
        };
        if address.len() > MAX_ADDRESS {
            return Err(too_long(&self.component));
        }
        let (reply, answer) = oneshot::channel();
        self.election.send(ElectionMessage::Confirm {
            slot: Arc::clone(&slot),
            session,
            address,
            reply,
        })?;
        let confirmed = answer.await.unwrap_or_else(|_| Err(self.election.closed()));
        if matches!(confirmed, Ok(true)) {
            slot.seen().await;
        }
        confirmed
    }

    async fn has_leadership(&self, session: LeaderSessionId) -> bool {
        let running = self.lifecycle.running().ok().flatten();
        running.is_some_and(|slot| slot.has_leadership(session))
    }

    fn subscribe(&self) -> watch::Receiver<Option<LeaderInformation>> {
        self.followers.subscribe()
    }
}

/// A start that has not returned yet. Dropped with it, it gives up what was begun: nobody may know of it.
struct BegunStart<'a>(&'a ComponentElection);

impl Drop for BegunStart<'_> {
    fn drop(&mut self) {
        if let Some(slot) = self.0.lifecycle.stop() {
            slot.begin_stop();
            // An election that has ended has nothing left to stop.
            let _ = self.0.election.send(ElectionMessage::Stop { slot, reply: None });
        }
    }
}

fn too_long(component: &ComponentId) -> Error {
    Error::invalid(format!("the leader address is longer than {MAX_ADDRESS} bytes")).at(component.as_str())
}
