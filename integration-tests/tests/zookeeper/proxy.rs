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
    /// New connections ask for a new session, whatever session the client asks for.
    swap_sessions: bool,
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

    /// From now on a client that comes back to its session is given another one, which it is not told.
    pub(crate) fn swap_sessions(&self, swap: bool) {
        self.faults.send_modify(|faults| faults.swap_sessions = swap);
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
        let swap = faults.borrow().swap_sessions;
        let (mut from_client, to_client) = client.into_split();
        let (from_server, mut to_server) = server.into_split();
        if swap
            && ask_for_a_new_session(&mut from_client, &mut to_server)
                .await
                .is_err()
        {
            continue;
        }
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

/// Passes the first request on, without the session that it asks for.
async fn ask_for_a_new_session(from: &mut OwnedReadHalf, to: &mut OwnedWriteHalf) -> std::io::Result<()> {
    /// Where the id of the session and its password stand, behind the length, the version of the protocol, the
    /// last zxid and the timeout.
    const SESSION: std::ops::Range<usize> = 20..28;
    const PASSWORD: std::ops::Range<usize> = 32..48;
    let mut request = vec![0; 4];
    from.read_exact(&mut request).await?;
    let length = u32::from_be_bytes([request[0], request[1], request[2], request[3]]);
    request.resize(4 + length as usize, 0);
    from.read_exact(&mut request[4..]).await?;
    request[SESSION].fill(0);
    request[PASSWORD].fill(0);
    to.write_all(&request).await
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
