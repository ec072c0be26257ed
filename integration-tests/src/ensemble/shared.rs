//! One ZooKeeper for all test processes.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Result;

use super::{Choice, EnsembleOptions, OwnEnsemble, ServerRole};
use crate::sharing::{Share, Supervision};

/// A share in the server of all test processes. The server lives at least as long as this value.
#[derive(Debug)]
pub struct SharedServer {
    share: Share,
    kind: &'static str,
}

impl SharedServer {
    /// Finds the server, or starts it. Blocks the thread for as long as another process starts it.
    ///
    /// # Errors
    /// It does not come up; the error holds the supervisor's log.
    pub async fn acquire(choice: &Choice) -> Result<Self> {
        let is_live = |address: &str| ServerRole::ask(address.parse::<SocketAddr>()?).map(drop);
        Ok(Self {
            share: Share::acquire(&folder_of(choice), "supervise", is_live).await?,
            kind: match choice {
                Choice::Container(_) => "container",
                Choice::Process | Choice::Given(_) => "process",
            },
        })
    }

    /// `host:port` where clients connect.
    pub fn address(&self) -> &str {
        self.share.address()
    }

    /// What it runs as, for people.
    pub fn kind(&self) -> &'static str {
        self.kind
    }
}

/// The supervisor: starts the server, publishes its address in `folder`, and ends both when nobody uses it.
///
/// # Errors
/// The server does not come up, or the folder cannot be written.
pub async fn supervise(folder: PathBuf) -> Result<()> {
    let supervision = Supervision::begin(&folder)?;
    // The choice of the test process that started this one.
    let choice = Choice::from_environment()?;
    let mut ensemble = OwnEnsemble::start(&choice, &EnsembleOptions::standalone()).await?;
    let address = ensemble.connect_string();
    let runs = || ensemble.servers_mut().iter_mut().all(super::Server::is_alive);
    supervision.watch(&address, runs).await
}

/// A folder for each choice: a server of another image is another one.
fn folder_of(choice: &Choice) -> String {
    match choice {
        Choice::Container(image) => {
            let image = image.to_string();
            format!(
                "shared-zookeeper-{}",
                image.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
            )
        }
        Choice::Process | Choice::Given(_) => "shared-zookeeper".to_owned(),
    }
}
