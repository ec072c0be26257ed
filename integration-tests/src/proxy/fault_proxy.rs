use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::accepted::Accepted;
use super::connection;
use super::faults::Faults;
use super::link::{Links, lock};
use super::rules::{Loss, Rules};
use super::{Direction, Link, Losses, Occurrence, RequestFilter, RequestKind, RequestView};

/// What the proxy and its connections share.
pub(super) struct Shared {
    pub(super) faults: watch::Sender<Faults>,
    rules: Mutex<Rules>,
    pub(super) links: Links,
    /// Of the connection that was accepted last.
    pub(super) accepted: Mutex<Option<Accepted>>,
}

impl Shared {
    /// Holds back what travels in a direction.
    pub(super) fn hold(&self, direction: Direction) {
        self.faults
            .send_modify(|faults| faults.of_mut(direction).held = true);
    }

    pub(super) fn rules(&self) -> MutexGuard<'_, Rules> {
        lock(&self.rules)
    }
}

/// The proxy, on a port of 127.0.0.1. Dropping it closes its connections and the port. See the
/// [module](super) on what its faults mean.
pub struct FaultProxy {
    address: SocketAddr,
    server: String,
    shared: Arc<Shared>,
    _task: JoinSet<()>,
}

impl FaultProxy {
    /// A proxy to `server` (`host:port`) that lets everything through.
    ///
    /// # Errors
    /// No port is free.
    pub async fn start(server: &str) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .context("no port for a proxy")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            faults: watch::Sender::new(Faults::default()),
            rules: Mutex::default(),
            links: Mutex::default(),
            accepted: Mutex::default(),
        });
        let mut task = JoinSet::new();
        task.spawn(serve(listener, server.to_owned(), Arc::clone(&shared)));
        Ok(Self {
            address,
            server: server.to_owned(),
            shared,
            _task: task,
        })
    }

    /// Where clients connect: `127.0.0.1:port`.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Closes the connections that stand. What was held back or delayed on them is lost.
    pub fn cut(&self) {
        self.change(|faults| faults.cuts += 1);
    }

    /// From now on new connections are closed at once, or are let through again. Standing ones stay.
    pub fn refuse(&self, refuse: bool) {
        self.change(|faults| faults.refuse = refuse);
    }

    /// Holds back what travels in one direction, or lets it go. What was held back then arrives, in order.
    pub fn hold(&self, direction: Direction, hold: bool) {
        self.change(|faults| faults.of_mut(direction).held = hold);
    }

    /// [`FaultProxy::hold`] of both directions.
    pub fn hold_both(&self, hold: bool) {
        self.hold(Direction::ToServer, hold);
        self.hold(Direction::ToClient, hold);
    }

    /// Has each frame that comes from now on arrive later by `delay`. The order stays.
    pub fn delay(&self, direction: Direction, delay: Duration) {
        self.change(|faults| faults.of_mut(direction).delay = delay);
    }

    /// From now on a client that comes back to its session is given another one, which it is not told; or no more.
    pub fn swap_sessions(&self, swap: bool) {
        self.change(|faults| faults.swap_sessions = swap);
    }

    /// From now on watch events are lost, and nothing else, or no more. No network does this; it stands for an event
    /// that was missed anywhere between a server and who waits for it.
    pub fn swallow_events(&self, swallow: bool) {
        self.change(|faults| faults.swallow_events = swallow);
    }

    /// Shows `observer` each request that goes to the server from now on, lost ones included.
    pub fn observe(&self, observer: impl FnMut(&RequestView) + Send + 'static) {
        self.shared.rules().observe(Box::new(observer));
    }

    /// Loses the reply of the `nth` of these requests from now (1 is the next), and everything that the server sends
    /// behind it, until the client gives up the connection or it is cut.
    pub fn swallow_reply(&self, requests: impl Into<RequestFilter>, nth: usize) -> Occurrence {
        self.shared.rules().add(requests.into(), nth, Loss::Reply)
    }

    /// Loses the reply of the `nth` of these requests from now (1 is the next), and cuts its connection.
    pub fn swallow_reply_and_cut(&self, requests: impl Into<RequestFilter>, nth: usize) -> Occurrence {
        self.shared.rules().add(requests.into(), nth, Loss::ReplyAndCut)
    }

    /// Loses the `nth` of these requests from now (1 is the next), and cuts its connection: to the client it looks
    /// like [`FaultProxy::swallow_reply_and_cut`], but the server knows nothing of it.
    pub fn swallow_request_and_cut(&self, requests: impl Into<RequestFilter>, nth: usize) -> Occurrence {
        self.shared.rules().add(requests.into(), nth, Loss::RequestAndCut)
    }

    /// Loses the reply of about one in `one_in` of these requests, each time with the connection, until the handle is
    /// dropped.
    pub fn lose_replies(&self, requests: impl Into<RequestFilter>, one_in: u64, seed: u64) -> Losses {
        self.shared.rules().add_chance(requests.into(), one_in, seed)
    }

    /// Holds back the `nth` of these requests from now (1 is the next), and everything that comes behind it, on every
    /// connection, until [`FaultProxy::hold`] lets the direction go.
    pub fn hold_from(&self, requests: impl Into<RequestFilter>, nth: usize) -> Occurrence {
        self.shared.rules().add(requests.into(), nth, Loss::Held)
    }

    /// The arrival here of the `nth` of these requests from now (1 is the next): it is on its way to the server, be it
    /// held back.
    pub fn arrival(&self, requests: impl Into<RequestFilter>, nth: usize) -> Occurrence {
        self.shared.rules().await_arrival(requests.into(), nth)
    }

    /// Ends the session of the connection that was accepted last, by a connection of the proxy's own to the same server,
    /// of which the client is told nothing.
    ///
    /// # Errors
    /// No connection was accepted yet, or the server does not take it for one of the session.
    pub async fn close_session(&self) -> Result<()> {
        let accepted = lock(&self.shared.accepted).clone();
        let accepted = accepted.context("no session was accepted yet")?;
        accepted.close(&self.server).await
    }

    /// Every connection so far that a server accepted, in their order.
    pub fn links(&self) -> Vec<Link> {
        lock(&self.shared.links).clone()
    }

    /// How many requests of this kind have gone to the server since the start, lost ones included.
    pub fn seen(&self, kind: RequestKind) -> usize {
        self.shared.rules().seen(kind)
    }

    fn change(&self, change: impl FnOnce(&mut Faults)) {
        self.shared.faults.send_modify(change);
    }
}

async fn serve(listener: TcpListener, server: String, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        // An error is a client's that is gone again.
        let Ok((client, _)) = listener.accept().await else {
            continue;
        };
        while connections.try_join_next().is_some() {}
        if shared.faults.borrow().refuse {
            continue;
        }
        let server = server.clone();
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            // A server that does not answer is one that closes the connection at once.
            if let Ok(server) = TcpStream::connect(&server).await {
                connection::serve(client, server, &shared).await;
            }
        });
    }
}
