use std::any::Any;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::{Choice, EnsembleOptions, PeerLinks, Server, ServerRole, containers, processes};
use crate::waiting::eventually;

const LEADER_TIMEOUT: Duration = Duration::from_secs(60);

/// ZooKeeper servers that this process started, as processes or in containers; killed when it is dropped.
#[derive(Debug)]
pub struct OwnEnsemble {
    // Dropped first: the servers end before their folders go.
    pub(super) servers: Vec<Server>,
    /// What they run as and what they are, for people.
    pub(super) kind: &'static str,
    pub(super) origin: String,
    pub(super) links: Option<PeerLinks>,
    /// What must live as long as the servers: folders, ports.
    pub(super) _resources: Box<dyn Any + Send + Sync>,
}

impl OwnEnsemble {
    /// Starts the servers and waits until all serve.
    ///
    /// # Errors
    /// The choice is an address; or what the servers run on is not there, or one does not come up.
    pub async fn start(choice: &Choice, options: &EnsembleOptions) -> Result<Self> {
        let ensemble = match choice {
            Choice::Process => processes::start(options).await?,
            // The links are of this machine, and a test of them is never left out.
            Choice::Container(_) if options.peer_links => processes::start(options).await?,
            Choice::Container(image) => containers::start(image, options).await?,
            Choice::Given(address) => bail!("the servers at {address} are not started by tests"),
        };
        ensemble.wait_until_serving().await?;
        Ok(ensemble)
    }

    /// `host:port[,host:port…]` of all servers.
    pub fn connect_string(&self) -> String {
        let addresses: Vec<_> = self
            .servers
            .iter()
            .map(|server| server.address().to_string())
            .collect();
        addresses.join(",")
    }

    /// For people.
    pub fn description(&self) -> String {
        format!(
            "{}, {} server(s) of {} at {}",
            self.kind,
            self.servers.len(),
            self.origin,
            self.connect_string()
        )
    }

    /// The servers.
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }

    /// The servers, to be killed and started.
    pub fn servers_mut(&mut self) -> &mut [Server] {
        &mut self.servers
    }

    /// The links between the servers.
    ///
    /// # Errors
    /// It was started without.
    pub fn links(&self) -> Result<&PeerLinks> {
        self.links
            .as_ref()
            .context("start this ensemble with `EnsembleOptions::with_peer_links`")
    }

    /// Waits until every server that runs serves.
    ///
    /// # Errors
    /// One does not within a minute.
    pub async fn wait_until_serving(&self) -> Result<()> {
        for server in self.servers.iter().filter(|server| server.pid().is_some()) {
            server.wait_until_serving().await?;
        }
        Ok(())
    }

    /// The index of the server that leads, or stands alone.
    ///
    /// # Errors
    /// None does within a minute.
    pub async fn leader(&self) -> Result<usize> {
        eventually("a ZooKeeper server leads", LEADER_TIMEOUT, async || {
            self.servers
                .iter()
                .position(|server| {
                    server.pid().is_some()
                        && matches!(server.role(), Ok(ServerRole::Leader | ServerRole::Standalone))
                })
                .context("none leads")
        })
        .await
    }
}
