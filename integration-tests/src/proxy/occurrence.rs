use std::time::Duration;

use anyhow::{Result, bail};
use tokio::sync::watch;

use crate::waiting::scaled;

/// How long a request is waited for.
const LIMIT: Duration = Duration::from_secs(60);

/// What is to happen once at a proxy: a reply (or a request) is lost, a request arrives. It stays to happen when this
/// handle is dropped.
#[derive(Clone, Debug)]
pub struct Occurrence {
    what: String,
    happened: watch::Receiver<bool>,
}

impl Occurrence {
    pub(super) fn new(what: String) -> (Self, watch::Sender<bool>) {
        let (sender, happened) = watch::channel(false);
        (Self { what, happened }, sender)
    }

    /// Waits until it has happened. For a lost reply: the server has carried the request out, and the client does not
    /// know.
    ///
    /// # Errors
    /// It did not within a minute (times the factor of all waiting times); what was waited for.
    pub async fn happened(&self) -> Result<()> {
        let mut happened = self.happened.clone();
        match tokio::time::timeout(scaled(LIMIT), happened.wait_for(|happened| *happened)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => bail!("{}: the proxy has ended", self.what),
            Err(_) => bail!("{}: no such request within {:?}", self.what, scaled(LIMIT)),
        }
    }

    /// Whether it has happened.
    pub fn has_happened(&self) -> bool {
        *self.happened.borrow()
    }
}
