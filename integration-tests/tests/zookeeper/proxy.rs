//! A TCP proxy between one client and a server, whose directions can be stopped and whose connections be cut.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What the proxy lets through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Faults {
    /// Bytes to the server are held back.
    hold_requests: bool,
    /// Bytes to the client are held back.
    hold_replies: bool,
    /// Raised to cut all connections that stand.
    cuts: u64,
}

/// The proxy; dropping it ends it.
pub(crate) struct Proxy {
    address: SocketAddr,
    faults: Arc<watch::Sender<Faults>>,
    _task: JoinSet<()>,
}

impl Proxy {
    /// A proxy to `server` that lets everything through.
    pub(crate) async fn start(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let faults = Arc::new(watch::Sender::new(Faults::default()));
        let mut task = JoinSet::new();
        task.spawn(serve(listener, server.to_owned(), Arc::clone(&faults)));
        Self {
            address,
            faults,
            _task: task,
        }
    }

    /// Where clients connect to.
    pub(crate) fn address(&self) -> String {
        self.address.to_string()
    }

    /// Holds back what goes in each direction, or lets it through again.
    pub(crate) fn hold(&self, requests: bool, replies: bool) {
        self.faults.send_modify(|faults| {
            faults.hold_requests = requests;
            faults.hold_replies = replies;
        });
    }

    /// Cuts the connections that stand.
    pub(crate) fn cut(&self) {
        self.faults.send_modify(|faults| faults.cuts += 1);
    }
}

async fn serve(listener: TcpListener, server: String, faults: Arc<watch::Sender<Faults>>) {
    let mut connections = JoinSet::new();
    loop {
        let (client, _) = listener.accept().await.unwrap();
        let Ok(server) = TcpStream::connect(&server).await else {
            continue;
        };
        let cuts = faults.borrow().cuts;
        let mut cut = faults.subscribe();
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = server.into_split();
        let requests = pump(from_client, to_server, faults.subscribe(), |faults| {
            faults.hold_requests
        });
        let replies = pump(from_server, to_client, faults.subscribe(), |faults| {
            faults.hold_replies
        });
        connections.spawn(async move {
            tokio::select! {
                () = requests => {}
                () = replies => {}
                _ = cut.wait_for(|faults| faults.cuts != cuts) => {}
            }
        });
    }
}

async fn pump(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut faults: watch::Receiver<Faults>,
    held: fn(&Faults) -> bool,
) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        if faults.wait_for(|faults| !held(faults)).await.is_err() {
            return;
        }
        if to.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
}
