use tokio::sync::watch;

/// A door that a callback waits at until the test opens it. Clones share one door.
#[derive(Clone, Debug)]
pub struct Gate {
    open: watch::Sender<bool>,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            open: watch::Sender::new(false),
        }
    }
}

impl Gate {
    /// A closed door.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets everybody through, from now on.
    pub fn open(&self) {
        self.open.send_replace(true);
    }

    /// Waits until the door is open.
    pub async fn pass(&self) {
        let mut open = self.open.subscribe();
        // The sender lives in `self`, so waiting cannot fail.
        let _ = open.wait_for(|open| *open).await;
    }
}
