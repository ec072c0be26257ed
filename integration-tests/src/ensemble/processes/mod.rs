//! Servers as processes of this machine.

mod installation;
mod process_server;

use std::path::Path;

use anyhow::Result;

pub use installation::Installation;
pub(super) use installation::JVM_FLAGS;
use process_server::ProcessServer;

use super::{EnsembleOptions, OwnEnsemble, PeerLinks, ReservedPort, Server};

/// Starts the servers, without waiting for them.
///
/// # Errors
/// No server is installed and none can be installed.
pub(super) async fn start(options: &EnsembleOptions) -> Result<OwnEnsemble> {
    let installation = Installation::find_or_install()?;
    let folder = tempfile::Builder::new().prefix("ha-test-zookeeper-").tempdir()?;
    let count = options.servers.max(1);
    let peers = if count > 1 { count * 2 } else { 0 };
    let peer_ports = (0..peers)
        .map(|_| ReservedPort::reserve())
        .collect::<Result<Vec<_>>>()?;
    let links = match options.peer_links {
        true => Some(PeerLinks::start(&peer_ports).await?),
        false => None,
    };
    let mut servers = Vec::with_capacity(count);
    for index in 0..count {
        let server_folder = folder.path().join(format!("server-{}", index + 1));
        let port = ReservedPort::reserve()?;
        let peers = peer_addresses(index, &peer_ports, links.as_ref());
        write_configuration(&server_folder, index, &port, options, &peers)?;
        let process = ProcessServer::new(installation.clone(), server_folder, options);
        servers.push(Server::new(port, Box::new(process)));
    }
    for server in &mut servers {
        server.start()?;
    }
    Ok(OwnEnsemble {
        servers,
        kind: "process",
        origin: installation.origin().to_owned(),
        links,
        _resources: Box::new((peer_ports, folder)),
    })
}

/// The lines `server.N` of the configuration of the server `own`: it is itself at its true ports, and finds the others
/// behind the links.
fn peer_addresses(own: usize, ports: &[ReservedPort], links: Option<&PeerLinks>) -> Vec<String> {
    let pairs = ports.chunks_exact(2).enumerate();
    pairs
        .filter_map(|(index, pair)| {
            let [quorum, election] = pair else { return None };
            let link = links.and_then(|links| links.address(own, index));
            let quorum = link.unwrap_or_else(|| quorum.address());
            Some(format!("server.{}={quorum}:{}", index + 1, election.port()))
        })
        .collect()
}

fn write_configuration(
    folder: &Path,
    index: usize,
    port: &ReservedPort,
    options: &EnsembleOptions,
    peers: &[String],
) -> Result<()> {
    let data = folder.join(process_server::DATA);
    std::fs::create_dir_all(&data)?;
    std::fs::write(data.join("myid"), format!("{}\n", index + 1))?;
    let text = configuration(&data, port.port(), options, peers);
    std::fs::write(folder.join("zoo.cfg"), text)?;
    Ok(())
}

fn configuration(data: &Path, port: u16, options: &EnsembleOptions, peers: &[String]) -> String {
    let mut text = format!(
        "dataDir={}\nclientPort={port}\nclientPortAddress=127.0.0.1\ntickTime={}\ninitLimit={}\nsyncLimit={}\n\
         maxSessionTimeout={}\nmaxClientCnxns=0\n4lw.commands.whitelist=*\nadmin.enableServer=false\n",
        data.display(),
        options.tick_time.as_millis(),
        EnsembleOptions::INIT_LIMIT,
        options.sync_limit,
        options.max_session_timeout.as_millis(),
    );
    for peer in peers {
        text.push_str(peer);
        text.push('\n');
    }
    text
}
