//! One connection: in each direction one reader, and one writer that does what the faults say.

use std::sync::Mutex;

use ha_core::environment::BootInstant;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, watch};

use super::accepted::Accepted;
use super::conversation::{Conversation, Reply};
use super::fault_proxy::Shared;
use super::faults::Faults;
use super::frame_buffer::{Frame, FrameBuffer, NoFrame};
use super::link::{LinkRecord, lock};
use super::rules::{Loss, Sentence};
use super::{Direction, RequestView};
use crate::waiting::{now, pause};

/// Where the id of the session and its password stand in a connect request, behind the version of the protocol, the
/// last zxid and the timeout.
const SESSION: std::ops::Range<usize> = 16..24;
const PASSWORD: std::ops::Range<usize> = 28..44;

/// What travels: a frame, or at last the end of the stream.
struct Item {
    /// Not before this it arrives.
    due: BootInstant,
    /// `None` for the end.
    frame: Option<Frame>,
}

/// What becomes of a frame.
enum Verdict {
    Pass,
    /// It alone is lost.
    Drop,
    /// It and everything behind it is lost.
    Lose,
    Cut,
    /// It waits until its direction is let go.
    Hold,
}

/// Serves until one side ends the connection and the other was told, or it is cut.
pub(super) async fn serve(client: TcpStream, server: TcpStream, shared: &Shared) {
    // What is small must not wait for more; an error is a connection's that is gone.
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let faults = *shared.faults.borrow();
    let mut cut = shared.faults.subscribe();
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let conversation: Mutex<Conversation<Option<Sentence>>> = Mutex::default();
    let link = LinkRecord::new(&shared.links);
    let mut is_first = true;
    let mut has_arrived = false;
    let arrived = |frame: &Frame| {
        let request = match std::mem::replace(&mut has_arrived, true) {
            false => Some(RequestView::connect()),
            true => RequestView::parse(frame.body()),
        };
        if let Some(request) = request {
            shared.rules().arrived(&request);
        }
    };
    let to_server = (to_server, &link);
    let requests = travel(
        Direction::ToServer,
        from_client,
        arrived,
        to_server,
        shared,
        |frame| {
            if std::mem::take(&mut is_first) && faults.swap_sessions {
                ask_for_a_new_session(frame);
            }
            let mut verdict = Verdict::Pass;
            lock(&conversation).request(frame.body(), |request| {
                let sentence = shared.rules().judge(request)?;
                match sentence.loss {
                    Loss::RequestAndCut => {
                        sentence.carried_out();
                        verdict = Verdict::Cut;
                    }
                    Loss::Held => {
                        shared.hold(Direction::ToServer);
                        sentence.carried_out();
                        verdict = Verdict::Hold;
                        return None;
                    }
                    Loss::Reply | Loss::ReplyAndCut => {}
                }
                Some(sentence)
            });
            verdict
        },
    );
    let mut is_first_reply = true;
    let to_client = (to_client, &link);
    let replies = travel(
        Direction::ToClient,
        from_server,
        |_: &Frame| {},
        to_client,
        shared,
        |frame| {
            let is_first = std::mem::take(&mut is_first_reply);
            let sentence = match lock(&conversation).reply(frame.body()) {
                Reply::Answer(Some(sentence)) => sentence,
                Reply::Event if shared.faults.borrow().swallow_events => return Verdict::Drop,
                Reply::Answer(None) | Reply::Event | Reply::Unasked => {
                    if is_first && let Some(accepted) = Accepted::read(frame.body()) {
                        link.begin(accepted.session());
                        lock(&shared.accepted).replace(accepted);
                    }
                    return Verdict::Pass;
                }
            };
            sentence.carried_out();
            match sentence.loss {
                Loss::Reply => Verdict::Lose,
                Loss::ReplyAndCut | Loss::RequestAndCut => Verdict::Cut,
                Loss::Held => Verdict::Pass,
            }
        },
    );
    tokio::select! {
        () = requests => {}
        () = replies => {}
        () = async {
            let _ = cut.wait_for(|now| now.cuts != faults.cuts).await;
            link.end();
        } => {}
    }
}

/// Takes what one side sends to the other, until the end has arrived there.
async fn travel(
    direction: Direction,
    from: OwnedReadHalf,
    arrived: impl FnMut(&Frame),
    to: (OwnedWriteHalf, &LinkRecord<'_>),
    shared: &Shared,
    judge: impl FnMut(&mut Frame) -> Verdict,
) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let faults = shared.faults.subscribe();
    let delay = shared.faults.subscribe();
    let reading = async {
        read(from, sender, arrived, || {
            now() + delay.borrow().of(direction).delay
        })
        .await;
        std::future::pending().await
    };
    tokio::select! {
        () = reading => {}
        () = write(direction, receiver, to, faults, judge) => {}
    }
}

async fn read(
    mut from: OwnedReadHalf,
    to: mpsc::UnboundedSender<Item>,
    mut arrived: impl FnMut(&Frame),
    due: impl Fn() -> BootInstant,
) {
    let mut frames = FrameBuffer::default();
    let mut piece = vec![0; 64 * 1024];
    let send = |frame| {
        // Nobody takes it when the connection has ended.
        let _ = to.send(Item { due: due(), frame });
    };
    while let Ok(length @ 1..) = from.read(&mut piece).await {
        frames.push(piece.get(..length).unwrap_or_default());
        loop {
            match frames.next() {
                Ok(Some(frame)) => {
                    arrived(&frame);
                    send(Some(frame));
                }
                Ok(None) => break,
                // It ends the connection, as it does at a server.
                Err(NoFrame) => return send(None),
            }
        }
    }
    send(None);
}

async fn write(
    direction: Direction,
    mut items: mpsc::UnboundedReceiver<Item>,
    (mut to, link): (OwnedWriteHalf, &LinkRecord<'_>),
    mut faults: watch::Receiver<Faults>,
    mut judge: impl FnMut(&mut Frame) -> Verdict,
) {
    let mut all_is_lost = false;
    while let Some(item) = items.recv().await {
        let early = item.due.saturating_since(now());
        if !early.is_zero() {
            pause(early).await;
        }
        if faults
            .wait_for(|faults| !faults.of(direction).held)
            .await
            .is_err()
        {
            return;
        }
        let Some(mut frame) = item.frame else {
            link.end();
            break;
        };
        if all_is_lost {
            continue;
        }
        let verdict = judge(&mut frame);
        if matches!(verdict, Verdict::Hold)
            && faults
                .wait_for(|faults| !faults.of(direction).held)
                .await
                .is_err()
        {
            return;
        }
        match verdict {
            // Where the receiver is gone, its own end comes the other way, and ends the connection when it arrives.
            Verdict::Pass | Verdict::Hold => all_is_lost = to.write_all(frame.bytes()).await.is_err(),
            Verdict::Drop => {}
            Verdict::Lose => all_is_lost = true,
            Verdict::Cut => {
                link.end();
                return;
            }
        }
    }
    if all_is_lost {
        std::future::pending::<()>().await;
    }
}

/// Takes the session that is asked for out of a connect request.
fn ask_for_a_new_session(frame: &mut Frame) {
    for part in [SESSION, PASSWORD] {
        if let Some(bytes) = frame.body_mut().get_mut(part) {
            bytes.fill(0);
        }
    }
}
