use tokio::sync::watch;

/// Follows a value that a task of the services changes: always the latest, intermediate ones maybe.
///
/// It hands out copies and nothing borrowed. Whoever borrows from a watch channel keeps its sender waiting, and here
/// the sender is a task that has a session to keep: no follower can delay it, however slow it is.
#[derive(Clone, Debug)]
pub struct Follower<T> {
    value: watch::Receiver<T>,
}

impl<T: Clone> Follower<T> {
    /// Follows what is sent to the channel of `value`.
    pub const fn new(value: watch::Receiver<T>) -> Self {
        Self { value }
    }

    /// The present value, which counts as seen now.
    pub fn latest(&mut self) -> T {
        self.value.borrow_and_update().clone()
    }

    /// Waits for a value that was not seen yet; `None` once there will be no other. Cancel-safe.
    pub async fn next(&mut self) -> Option<T> {
        self.value.changed().await.ok()?;
        Some(self.latest())
    }

    /// Waits until the value is as asked, which it may be already; `None` once there will be no other value and the last
    /// one is not. Cancel-safe.
    pub async fn wait_for(&mut self, mut as_asked: impl FnMut(&T) -> bool) -> Option<T> {
        let mut value = self.latest();
        // The question is put to a copy, for it may be slow, too.
        while !as_asked(&value) {
            value = self.next().await?;
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_latest_value_is_seen_once() {
        let sender = watch::Sender::new(1);
        let mut follower = Follower::new(sender.subscribe());
        assert_eq!(follower.latest(), 1);
        let nothing = tokio::time::timeout(Duration::from_secs(1), follower.next()).await;
        assert!(nothing.is_err(), "{nothing:?}");
        sender.send_replace(2);
        sender.send_replace(3);
        assert_eq!(follower.next().await, Some(3));
        drop(sender);
        assert_eq!(follower.next().await, None);
        assert_eq!(follower.latest(), 3);
    }

    #[tokio::test]
    async fn waits_for_a_value_that_may_be_there_already() {
        let sender = watch::Sender::new(1);
        let mut follower = Follower::new(sender.subscribe());
        assert_eq!(follower.wait_for(|value| *value == 1).await, Some(1));
        let (reached, ()) = tokio::join!(follower.wait_for(|value| *value == 3), async {
            sender.send_replace(2);
            tokio::task::yield_now().await;
            sender.send_replace(3);
        });
        assert_eq!(reached, Some(3));
        drop(sender);
        assert_eq!(follower.wait_for(|value| *value == 4).await, None);
    }

    #[test]
    fn a_slow_question_keeps_no_sender_waiting() {
        let sender = watch::Sender::new(1);
        let mut follower = Follower::new(sender.subscribe());
        let asked = follower.wait_for(|value| {
            // With the value borrowed, this would wait for itself.
            sender.send_replace(value + 1);
            *value == 2
        });
        assert_eq!(futures::executor::block_on(asked), Some(2));
    }
}
