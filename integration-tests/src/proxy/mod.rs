//! A TCP proxy between ZooKeeper clients and a server that understands the frames of both directions.
//!
//! It passes whole frames on. It can cut connections, refuse new ones, hold back or delay one direction, hand a
//! client another session than the one it asks for, lose exactly one reply (or one request), and lose watch events:
//!
//! ```no_run
//! # async fn example() -> anyhow::Result<()> {
//! use integration_tests::proxy::{Direction, FaultProxy, RequestFilter, RequestKind};
//!
//! let proxy = FaultProxy::start("127.0.0.1:2181").await?;
//! // Clients connect to proxy.address() …
//! proxy.hold(Direction::ToClient, true);
//! let lost = proxy.swallow_reply_and_cut(RequestKind::Multi, 1);
//! let publish = RequestFilter::matching(|request| {
//!     request.operations.iter().any(|operation| operation.path.ends_with("/connection_info"))
//! });
//! let second = proxy.swallow_reply(publish, 2);
//! lost.happened().await?;
//! # Ok(()) }
//! ```
//!
//! # What a lost reply is
//! TCP delivers in order or not at all: when the segment with a reply is lost for good, nothing behind it arrives
//! either, until one side gives the connection up. So a swallowed reply takes everything behind it along, the
//! answers to pings and the end of the connection too, while requests still reach the server, which keeps the
//! session. The client crate gives the connection up after 2/5 of its timeout, and comes back on a new one, which
//! is not disturbed. [`FaultProxy::swallow_reply_and_cut`] spares that time. (Later replies could be let through:
//! the client crate finds the request of a reply by its xid in a map, stays connected, and the request whose reply
//! is missing hangs for ever. No network does that, so the proxy does not either.)
//!
//! # What travels in a direction
//! Its frames in order, and the end of the stream behind them: what is held back or delayed holds back the end of
//! the connection too. So a request that was held while its client gave up is still delivered when it is let go, as
//! a network does with a segment that it sent again.

mod accepted;
mod connection;
mod conversation;
mod fault_proxy;
mod faults;
mod frame_buffer;
mod link;
mod losses;
mod occurrence;
mod record_reader;
mod request_filter;
mod request_kind;
mod request_view;
mod rules;

pub use fault_proxy::FaultProxy;
pub use faults::Direction;
pub use link::Link;
pub use losses::Losses;
pub use occurrence::Occurrence;
pub use request_filter::RequestFilter;
pub use request_kind::RequestKind;
pub use request_view::{OperationView, RequestView};
