//! A server in memory with one history, for tests of what is built on
//! [`ZooKeeperClient`](super::ZooKeeperClient): fast, and deterministic where the caller is.
//!
//! It answers as a real one does: data, versions, owners, sequence numbers, zxids, Stats, one-shot watches (also over
//! a reconnect), multis, error codes, the expiry of sessions. That it does is proved by cases that run against it and
//! against a real server alike; what it does beyond is what tests ask for: it loses requests and replies, cuts
//! connections, expires sessions on demand or by an injected clock, and tells what was asked.
//!
//! What it has not: several servers (nothing lags, `sync` has nothing to wait for), access control, quotas, and the
//! node `/zookeeper`.

mod loss;
mod memory_client;
mod node;
mod path;
mod server;
mod sessions;
mod state;
mod tree;
mod watches;

pub use loss::Lost;
pub use memory_client::MemoryClient;
pub use server::MemoryServer;
