use std::fmt::Debug;
use std::sync::Arc;

use tokio::sync::watch;

use crate::condition::limit;

/// A list of what happened, in order, that can be waited on. Clones share one list.
#[derive(Debug)]
pub struct Recorder<E> {
    events: Arc<watch::Sender<Vec<E>>>,
}

impl<E> Clone for Recorder<E> {
    fn clone(&self) -> Self {
        Self {
            events: Arc::clone(&self.events),
        }
    }
}

impl<E> Default for Recorder<E> {
    fn default() -> Self {
        Self {
            events: Arc::new(watch::Sender::new(Vec::new())),
        }
    }
}

impl<E: Clone + Debug> Recorder<E> {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an event.
    pub fn record(&self, event: E) {
        self.events.send_modify(|events| events.push(event));
    }

    /// What was recorded so far.
    pub fn events(&self) -> Vec<E> {
        self.events.borrow().clone()
    }

    /// Waits until `select` finds what it looks for in the list.
    ///
    /// # Panics
    /// When the [`limit`] passes first, with `what` and the list.
    pub async fn wait_for<T>(&self, what: &str, mut select: impl FnMut(&[E]) -> Option<T>) -> T {
        let mut changes = self.events.subscribe();
        let search = async {
            loop {
                if let Some(found) = select(&changes.borrow_and_update()) {
                    return found;
                }
                // The sender lives in `self`, so waiting cannot fail.
                let _ = changes.changed().await;
            }
        };
        match tokio::time::timeout(limit(), search).await {
            Ok(found) => found,
            Err(_) => panic!(
                "after {:?}: never {what}; recorded was {:#?}",
                limit(),
                self.events()
            ),
        }
    }
}
