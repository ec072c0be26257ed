use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

/// A value that users follow by a watch channel, written so that a follower who does not let go of what it borrowed
/// keeps no task from running.
///
/// Whoever borrows from a receiver locks the value, and whoever sends waits for that: in the midst of a task it would
/// hold up everything else that runs there. So it is sent from a thread that may wait, as soon as anybody may follow.
pub(crate) struct Followed<T> {
    value: watch::Sender<T>,
    /// Whether anybody ever followed. Held, while nobody has, during a write that can wait for nobody.
    anybody: Mutex<bool>,
}

impl<T: Send + Sync + 'static> Followed<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            value: watch::Sender::new(value),
            anybody: Mutex::new(false),
        }
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<T> {
        *self.anybody.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.value.subscribe()
    }

    /// Completes when followers can see the value. To be called again only then, so that the order is kept.
    pub(crate) async fn show(self: &Arc<Self>, value: T) {
        {
            let anybody = self.anybody.lock().unwrap_or_else(PoisonError::into_inner);
            if !*anybody {
                self.value.send_replace(value);
                return;
            }
        }
        let this = Arc::clone(self);
        // It fails only when the runtime is being shut down; nobody waits for the value then.
        let _ = tokio::task::spawn_blocking(move || drop(this.value.send_replace(value))).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_follower_that_holds_on_to_what_it_borrowed_blocks_no_task() {
        let followed = Arc::new(Followed::new(0));
        followed.show(1).await;
        let follower = followed.subscribe();
        let mut waiting = followed.subscribe();
        let borrowed = follower.borrow();
        let mut showing = Box::pin(followed.show(2));
        // Sent here, it would never get beyond this.
        assert!(futures::poll!(&mut showing).is_pending());
        assert_eq!(*borrowed, 1);
        drop(borrowed);
        showing.await;
        assert_eq!(*waiting.borrow_and_update(), 2);
    }
}
