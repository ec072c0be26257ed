use std::collections::HashMap;
use std::net::SocketAddr;

use anyhow::Result;

use super::peer_link::PeerLink;
use super::{LinkState, ReservedPort};

/// The links between the servers of an ensemble, one for each that connects and each that it connects to.
#[derive(Debug)]
pub struct PeerLinks {
    links: HashMap<(usize, usize), PeerLink>,
}

impl PeerLinks {
    /// Links to the quorum ports: the first of each pair of ports.
    pub(super) async fn start(ports: &[ReservedPort]) -> Result<Self> {
        let mut links = HashMap::new();
        let servers = ports.len() / 2;
        for (to, pair) in ports.chunks_exact(2).enumerate() {
            for from in (0..servers).filter(|from| *from != to) {
                links.insert((from, to), PeerLink::start(pair[0].address()).await?);
            }
        }
        Ok(Self { links })
    }

    pub(super) fn address(&self, from: usize, to: usize) -> Option<SocketAddr> {
        self.links.get(&(from, to)).map(PeerLink::address)
    }

    /// Both ways between one server and all others.
    pub fn around(&self, server: usize, state: LinkState) {
        for ((from, to), link) in &self.links {
            if *from == server || *to == server {
                link.set(state);
            }
        }
    }

    /// All of them.
    pub fn all(&self, state: LinkState) {
        self.links.values().for_each(|link| link.set(state));
    }
}
