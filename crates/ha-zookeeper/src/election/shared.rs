use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use ha_core::election::{LeaderElectionEvent, LeaderElectionEvents};
use ha_core::environment::{Clock, Environment};
use ha_core::ids::{ComponentId, LeaderSessionId};
use ha_core::{Error, Result};
use tokio::sync::{mpsc, watch};

use crate::fence::LeadershipFence;
use crate::paths::ClusterPaths;
use crate::session::ZooKeeperSession;

/// What the driver's task is told.
#[derive(Clone, Debug)]
pub(super) enum Command {
    /// All contenders were revoked after the end of this term.
    Revoked(LeaderSessionId),
    /// Leader information of this component was written: watch it.
    Published(ComponentId),
}

/// What the driver and its task share.
pub(super) struct Shared {
    pub(super) session: ZooKeeperSession,
    pub(super) paths: ClusterPaths,
    pub(super) fence: LeadershipFence,
    pub(super) environment: Environment,
    pub(super) events: LeaderElectionEvents,
    pub(super) commands: mpsc::UnboundedSender<Command>,
    /// How leaving the election ended, once it has.
    pub(super) left: watch::Sender<Option<Result<()>>>,
    /// The service ended leadership because it stops: it is told of no end.
    pub(super) stopping: AtomicBool,
    /// The components whose information this driver ever wrote.
    published: Mutex<BTreeSet<ComponentId>>,
    /// The latch of the newest grant.
    latch: Mutex<Option<String>>,
}

impl Shared {
    pub(super) fn new(
        session: ZooKeeperSession,
        paths: ClusterPaths,
        fence: LeadershipFence,
        environment: Environment,
        events: LeaderElectionEvents,
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<Command>) {
        let (commands, receiver) = mpsc::unbounded_channel();
        let shared = Self {
            session,
            paths,
            fence,
            environment,
            events,
            commands,
            left: watch::Sender::new(None),
            stopping: AtomicBool::new(false),
            published: Mutex::default(),
            latch: Mutex::default(),
        };
        (Arc::new(shared), receiver)
    }

    pub(super) fn clock(&self) -> &Arc<dyn Clock> {
        &self.environment.clock
    }

    /// Tells the service; one that is gone needs to know nothing.
    pub(super) fn tell(&self, event: LeaderElectionEvent) {
        let _ = self.events.send(event);
    }

    /// Tells the service of something that the driver goes on after.
    pub(super) fn report(&self, error: Error) {
        tracing::warn!(%error, "election");
        self.tell(LeaderElectionEvent::Error(error));
    }

    /// Tells the task; one that has ended needs to know nothing.
    pub(super) fn command(&self, command: Command) {
        let _ = self.commands.send(command);
    }

    /// Notes the latch of a grant.
    pub(super) fn note_latch(&self, path: &str) {
        *self.latch.lock().unwrap_or_else(PoisonError::into_inner) = Some(path.to_owned());
    }

    /// The latch of the newest grant.
    pub(super) fn latch(&self) -> Option<String> {
        self.latch.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes that information of `component` may stand there.
    pub(super) fn note_published(&self, component: &ComponentId) {
        self.published
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(component.clone());
    }

    /// Where information of this driver may stand.
    pub(super) fn published_paths(&self) -> Vec<String> {
        self.published
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .map(|component| self.paths.connection_info(component))
            .collect()
    }
}
