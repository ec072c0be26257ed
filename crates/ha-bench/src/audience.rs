use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ha_services::environment::{BootInstant, Clock};
use ha_services::{Error, ErrorKind, LeaderInformation, LeaderRetrievalListener, Result, async_trait};
use tokio::sync::Notify;

use crate::candidate::PATIENCE;

/// Listeners that shall all be told of the same leader.
pub(crate) struct Audience {
    clock: Arc<dyn Clock>,
    size: usize,
    state: Mutex<State>,
    all_told: Notify,
}

#[derive(Default)]
struct State {
    awaited: String,
    told: Vec<BootInstant>,
}

impl Audience {
    pub(crate) fn new(clock: Arc<dyn Clock>, size: usize) -> Arc<Self> {
        Arc::new(Self {
            clock,
            size,
            state: Mutex::default(),
            all_told: Notify::new(),
        })
    }

    /// From now on each listener is waited for until it is told of the leader at `address`.
    pub(crate) fn expect(&self, address: &str) {
        let mut state = self.lock();
        address.clone_into(&mut state.awaited);
        state.told = Vec::with_capacity(self.size);
    }

    /// When each was told, the last one at the end, once all are.
    pub(crate) async fn told(&self) -> Result<Vec<BootInstant>> {
        tokio::select! {
            () = self.all_told.notified() => Ok(std::mem::take(&mut self.lock().told)),
            () = self.clock.sleep(PATIENCE) => Err(Error::new(
                ErrorKind::Unavailable,
                format!("{} of {} listeners were told of the leader in time", self.lock().told.len(), self.size),
            )),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that runs under the lock panics half-way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One of them.
pub(crate) struct Listener(pub(crate) Arc<Audience>);

#[async_trait]
impl LeaderRetrievalListener for Listener {
    async fn notify_leader(&self, leader: Option<LeaderInformation>) {
        let audience = &self.0;
        let mut state = audience.lock();
        if leader.is_some_and(|leader| leader.leader_address == state.awaited) {
            state.told.push(audience.clock.now());
            if state.told.len() == audience.size {
                audience.all_told.notify_one();
            }
        }
    }

    async fn handle_error(&self, _: Error) {}
}
