use std::net::SocketAddr;

use anyhow::Result;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What happens on the way from one server to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkState {
    /// Everything passes.
    #[default]
    Open,
    /// Nothing passes, and nobody is told: packets are dropped. What was sent arrives when the link is open again.
    Held,
    /// The server that connects is told at once: its connections are reset, new ones too. The other one is told
    /// nothing: its side of the connections stays open and silent until the link is open again.
    Severed,
}

/// The way from one server to the quorum port of another, through this process.
///
/// A follower connects to its leader, so this is all that a follower hears of that leader. The election port is not
/// behind it: a server learns the true election address of another from its first message.
#[derive(Debug)]
pub(super) struct PeerLink {
    address: SocketAddr,
    state: watch::Sender<LinkState>,
    _task: JoinSet<()>,
}

impl PeerLink {
    /// A link to the port of a server on this machine.
    pub(super) async fn start(target: SocketAddr) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let state = watch::Sender::new(LinkState::Open);
        let mut task = JoinSet::new();
        task.spawn(serve(listener, target, state.subscribe()));
        Ok(Self {
            address,
            state,
            _task: task,
        })
    }

    /// Where the server that connects is told that the other one is.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on.
    pub(super) fn set(&self, state: LinkState) {
        self.state.send_replace(state);
    }
}

async fn serve(listener: TcpListener, target: SocketAddr, state: watch::Receiver<LinkState>) {
    let mut connections = JoinSet::new();
    while let Ok((dialer, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        let now = *state.borrow();
        if now != LinkState::Severed {
            connections.spawn(connection(dialer, target, state.clone()));
        }
    }
}

async fn connection(dialer: TcpStream, target: SocketAddr, mut state: watch::Receiver<LinkState>) {
    if state.wait_for(|state| *state != LinkState::Held).await.is_err() {
        return;
    }
    let Ok(server) = TcpStream::connect(target).await else {
        return;
    };
    // Small messages at once, as the servers send them.
    let _ = (dialer.set_nodelay(true), server.set_nodelay(true));
    let (mut from_dialer, mut to_dialer) = dialer.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let mut changes = state.clone();
    let is_severed = tokio::select! {
        () = pump(&mut from_dialer, &mut to_server, state.clone()) => false,
        () = pump(&mut from_server, &mut to_dialer, state.clone()) => false,
        severed = changes.wait_for(|state| *state == LinkState::Severed) => severed.is_ok(),
    };
    drop((from_dialer, to_dialer));
    if is_severed {
        // Until then the server's side stays as it is. An error means that the link is gone.
        let _ = state.wait_for(|state| *state != LinkState::Severed).await;
    }
}

/// Passes bytes on while the link is open; ends with either side.
async fn pump(from: &mut OwnedReadHalf, to: &mut OwnedWriteHalf, mut state: watch::Receiver<LinkState>) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        if state.wait_for(|state| *state == LinkState::Open).await.is_err() {
            return;
        }
        let Some(bytes) = buffer.get(..length) else { return };
        if to.write_all(bytes).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    async fn connected() -> (PeerLink, TcpStream, TcpStream, TcpListener) {
        let target = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let link = PeerLink::start(target.local_addr().unwrap()).await.unwrap();
        let dialer = TcpStream::connect(link.address()).await.unwrap();
        let (server, _) = target.accept().await.unwrap();
        (link, dialer, server, target)
    }

    async fn receives(stream: &mut TcpStream, byte: u8) {
        assert_eq!(stream.read_u8().await.unwrap(), byte);
    }

    async fn is_silent(stream: &mut TcpStream) {
        let silence = tokio::time::timeout(Duration::from_millis(100), stream.read_u8());
        assert!(silence.await.is_err());
    }

    #[tokio::test]
    async fn what_is_held_arrives_later_and_nobody_is_told() {
        let (link, mut dialer, mut server, _target) = connected().await;
        dialer.write_u8(1).await.unwrap();
        receives(&mut server, 1).await;
        link.set(LinkState::Held);
        dialer.write_u8(2).await.unwrap();
        server.write_u8(3).await.unwrap();
        is_silent(&mut server).await;
        is_silent(&mut dialer).await;
        link.set(LinkState::Open);
        receives(&mut server, 2).await;
        receives(&mut dialer, 3).await;
    }

    #[tokio::test]
    async fn a_severed_link_tells_the_one_that_connects_and_not_the_other() {
        let (link, mut dialer, mut server, target) = connected().await;
        link.set(LinkState::Severed);
        assert!(dialer.read_u8().await.is_err());
        is_silent(&mut server).await;
        server.write_u8(1).await.unwrap();
        let mut again = TcpStream::connect(link.address()).await.unwrap();
        assert!(again.read_u8().await.is_err());
        link.set(LinkState::Open);
        assert!(server.read_u8().await.is_err());
        let mut healed = TcpStream::connect(link.address()).await.unwrap();
        let (mut server, _) = target.accept().await.unwrap();
        healed.write_u8(2).await.unwrap();
        receives(&mut server, 2).await;
    }
}
