use std::sync::{Arc, OnceLock, Weak};

use async_trait::async_trait;
use ha_core::election::LeaderInformation;
use ha_core::error::Error;
use ha_core::retrieval::{LeaderRetrievalListener, LeaderRetrievalService};

use super::{Gate, Recorder};

/// What a retrieval listener was told.
#[derive(Clone, Debug)]
pub enum ListenerEvent {
    /// The leader, or that nobody is known to lead.
    Leader(Option<LeaderInformation>),
    /// An error.
    Error(Error),
}

/// What a [`RecordingListener`] does when it is told of a leader, after recording it.
#[derive(Clone, Debug, Default)]
pub enum ListenerBehaviour {
    /// Nothing.
    #[default]
    Record,
    /// It waits until the gate is open.
    Block(Gate),
    /// It panics.
    Panic,
    /// It stops the service that calls it.
    Stop,
}

/// A listener that records what it is told.
pub struct RecordingListener {
    events: Recorder<ListenerEvent>,
    behaviour: ListenerBehaviour,
    service: OnceLock<Weak<dyn LeaderRetrievalService>>,
}

impl RecordingListener {
    /// A listener that only records.
    pub fn new() -> Arc<Self> {
        Self::with(ListenerBehaviour::Record)
    }

    /// A listener with a behaviour.
    pub fn with(behaviour: ListenerBehaviour) -> Arc<Self> {
        Arc::new(Self {
            events: Recorder::new(),
            behaviour,
            service: OnceLock::new(),
        })
    }

    /// Starts `service` with this listener.
    pub async fn listen(self: &Arc<Self>, service: &Arc<dyn LeaderRetrievalService>) {
        // Weak, so that listener and service do not keep each other alive.
        let weak = Arc::downgrade(service);
        assert!(
            self.service.set(weak).is_ok(),
            "a listener listens to one service"
        );
        service
            .start(Arc::clone(self) as Arc<dyn LeaderRetrievalListener>)
            .await
            .expect("the retrieval service starts");
    }

    /// What it was told, in order.
    pub fn events(&self) -> Vec<ListenerEvent> {
        self.events.events()
    }

    /// The leaders that it was told, in order, without errors.
    pub fn leaders(&self) -> Vec<Option<LeaderInformation>> {
        leaders(&self.events())
    }

    /// Waits until the newest leader it was told satisfies `condition`.
    pub async fn wait_for_latest(
        &self,
        what: &str,
        condition: impl Fn(&Option<LeaderInformation>) -> bool,
    ) -> Option<LeaderInformation> {
        self.events
            .wait_for(what, |events| leaders(events).pop().filter(&condition))
            .await
    }

    /// Waits until the newest leader it was told has this address.
    pub async fn wait_for_address(&self, address: &str) -> LeaderInformation {
        self.wait_for_latest(&format!("told the leader {address}"), |leader| {
            leader
                .as_ref()
                .is_some_and(|leader| leader.leader_address == address)
        })
        .await
        .expect("checked above")
    }

    /// Waits until the newest it was told is that nobody leads.
    pub async fn wait_for_none(&self) {
        self.wait_for_latest("told that nobody leads", Option::is_none)
            .await;
    }

    /// Waits until it was told an error.
    pub async fn wait_for_error(&self) -> Error {
        self.events
            .wait_for("told an error", |events| {
                events.iter().find_map(|event| match event {
                    ListenerEvent::Error(error) => Some(error.clone()),
                    ListenerEvent::Leader(_) => None,
                })
            })
            .await
    }
}

fn leaders(events: &[ListenerEvent]) -> Vec<Option<LeaderInformation>> {
    events
        .iter()
        .filter_map(|event| match event {
            ListenerEvent::Leader(leader) => Some(leader.clone()),
            ListenerEvent::Error(_) => None,
        })
        .collect()
}

#[async_trait]
impl LeaderRetrievalListener for RecordingListener {
    async fn notify_leader(&self, leader: Option<LeaderInformation>) {
        self.events.record(ListenerEvent::Leader(leader));
        match &self.behaviour {
            ListenerBehaviour::Record => {}
            ListenerBehaviour::Block(gate) => gate.pass().await,
            ListenerBehaviour::Panic => panic!("the listener panics, as the test asks for"),
            ListenerBehaviour::Stop => {
                if let Some(service) = self.service.get().and_then(Weak::upgrade) {
                    service.stop().await.expect("stopping inside a callback succeeds");
                }
            }
        }
    }

    async fn handle_error(&self, error: Error) {
        self.events.record(ListenerEvent::Error(error));
    }
}
