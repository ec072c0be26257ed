use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use tempfile::TempDir;

use super::{EnsembleOptions, Installation, ReservedPort, Server, ServerRole};
use crate::waiting::eventually;

const LEADER_TIMEOUT: Duration = Duration::from_secs(60);

/// ZooKeeper servers as processes of this machine, killed when it is dropped.
#[derive(Debug)]
pub struct ProcessEnsemble {
    // Dropped first: the servers end before their folders go.
    servers: Vec<Server>,
    origin: String,
    _peer_ports: Vec<ReservedPort>,
    _folder: TempDir,
}

impl ProcessEnsemble {
    /// Starts the servers and waits until all serve.
    ///
    /// # Errors
    /// No server is installed and none can be installed, or one does not come up.
    pub async fn start(options: EnsembleOptions) -> Result<Self> {
        let installation = Installation::find_or_install()?;
        let folder = tempfile::Builder::new().prefix("ha-test-zookeeper-").tempdir()?;
        let count = options.servers.max(1);
        let peers = if count > 1 { count * 2 } else { 0 };
        let peer_ports = (0..peers)
            .map(|_| ReservedPort::reserve())
            .collect::<Result<Vec<_>>>()?;
        let mut servers = Vec::with_capacity(count);
        for index in 0..count {
            let server = Server {
                installation: installation.clone(),
                folder: folder.path().join(format!("server-{}", index + 1)),
                port: ReservedPort::reserve()?,
                force_sync: options.force_sync,
                process: None,
            };
            write_configuration(&server, index, &options, &peer_ports)?;
            servers.push(server);
        }
        let mut ensemble = Self {
            servers,
            origin: installation.origin().to_owned(),
            _peer_ports: peer_ports,
            _folder: folder,
        };
        for server in &mut ensemble.servers {
            server.start()?;
        }
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
            "process, {} server(s) of {} at {}",
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

fn write_configuration(
    server: &Server,
    index: usize,
    options: &EnsembleOptions,
    peer_ports: &[ReservedPort],
) -> Result<()> {
    let data = server.folder.join("data");
    std::fs::create_dir_all(&data)?;
    std::fs::write(data.join("myid"), format!("{}\n", index + 1))?;
    let text = configuration(&data, server.port.port(), options, peer_ports);
    std::fs::write(server.folder.join("zoo.cfg"), text)?;
    Ok(())
}

fn configuration(data: &Path, port: u16, options: &EnsembleOptions, peer_ports: &[ReservedPort]) -> String {
    let mut text = format!(
        "dataDir={}\nclientPort={port}\nclientPortAddress=127.0.0.1\ntickTime={}\ninitLimit=20\nsyncLimit={}\n\
         maxSessionTimeout={}\nmaxClientCnxns=0\n4lw.commands.whitelist=*\nadmin.enableServer=false\n",
        data.display(),
        options.tick_time.as_millis(),
        options.sync_limit,
        options.max_session_timeout.as_millis(),
    );
    for (index, pair) in peer_ports.chunks_exact(2).enumerate() {
        if let [quorum, election] = pair {
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "server.{}=127.0.0.1:{}:{}",
                index + 1,
                quorum.port(),
                election.port()
            );
        }
    }
    text
}
