//! The session: one task that owns the client, replaces it after an expiry, and feeds the lease (design §3).

mod activity;
mod client_states;
mod connection;
mod connections;
mod heartbeat;
mod keeper;
#[cfg(test)]
pub(crate) mod memory_session;
mod observed_client;
mod served;
mod session_check;
mod session_options;
mod session_status;
mod shared;
mod zookeeper_session;

pub(crate) use heartbeat::LeaseProof;
pub use session_options::SessionOptions;
pub use session_status::SessionStatus;
pub(crate) use shared::SessionClient;
pub use zookeeper_session::ZooKeeperSession;

#[cfg(test)]
mod tests;
