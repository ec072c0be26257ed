use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ha_core::retrieval::{LeaderRetrievalEvent, LeaderRetrievalEvents};

/// The retrievers of one component. Each is told everything in order; one that comes later is first told what
/// holds by then.
#[derive(Default)]
pub(super) struct Subscribers {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next: u64,
    senders: BTreeMap<u64, LeaderRetrievalEvents>,
    /// What was read last.
    reading: Option<LeaderRetrievalEvent>,
    /// That the connection is down or lost, since then.
    interruption: Option<LeaderRetrievalEvent>,
}

impl Subscribers {
    /// Adds one; the number is for [`Subscribers::remove`].
    pub(super) fn add(&self, events: LeaderRetrievalEvents) -> u64 {
        let mut state = self.lock();
        for event in state.reading.iter().chain(&state.interruption) {
            let _ = events.send(event.clone());
        }
        let number = state.next;
        state.next += 1;
        state.senders.insert(number, events);
        number
    }

    /// Removes one; it is told nothing from here on.
    pub(super) fn remove(&self, number: u64) {
        self.lock().senders.remove(&number);
    }

    /// Tells all.
    pub(super) fn tell(&self, event: &LeaderRetrievalEvent) {
        let mut state = self.lock();
        match event {
            LeaderRetrievalEvent::Observed(_) | LeaderRetrievalEvent::Unreadable(_) => {
                state.reading = Some(event.clone());
                state.interruption = None;
            }
            LeaderRetrievalEvent::Suspended => state.interruption = Some(event.clone()),
            LeaderRetrievalEvent::Lost => {
                state.reading = None;
                state.interruption = Some(event.clone());
            }
            // Says nothing of who leads.
            LeaderRetrievalEvent::Error(_) => {}
        }
        // A receiver that is gone needs to know nothing.
        state
            .senders
            .retain(|_, sender| sender.send(event.clone()).is_ok());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that runs under the lock panics half-way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use ha_core::retrieval::LeaderObservation;
    use tokio::sync::mpsc;

    use super::*;

    fn nobody() -> LeaderRetrievalEvent {
        LeaderRetrievalEvent::Observed(LeaderObservation {
            leader: None,
            history: None,
        })
    }

    #[test]
    fn one_that_comes_late_is_told_what_holds() {
        let subscribers = Subscribers::default();
        subscribers.tell(&nobody());
        subscribers.tell(&LeaderRetrievalEvent::Suspended);
        let (sender, mut events) = mpsc::unbounded_channel();
        subscribers.add(sender);
        assert!(matches!(events.try_recv(), Ok(LeaderRetrievalEvent::Observed(_))));
        assert!(matches!(events.try_recv(), Ok(LeaderRetrievalEvent::Suspended)));
        assert!(events.try_recv().is_err());
    }

    #[test]
    fn after_a_loss_an_old_reading_is_told_to_nobody() {
        let subscribers = Subscribers::default();
        subscribers.tell(&nobody());
        subscribers.tell(&LeaderRetrievalEvent::Lost);
        let (sender, mut events) = mpsc::unbounded_channel();
        subscribers.add(sender);
        assert!(matches!(events.try_recv(), Ok(LeaderRetrievalEvent::Lost)));
        assert!(events.try_recv().is_err());
    }

    #[test]
    fn one_that_left_is_told_nothing() {
        let subscribers = Subscribers::default();
        let (sender, mut events) = mpsc::unbounded_channel();
        let number = subscribers.add(sender);
        subscribers.remove(number);
        subscribers.tell(&nobody());
        assert!(events.try_recv().is_err());
    }
}
