//! What is wrong right now, without anybody having to fail: broken entries, and the connection's state.

mod broken_entry;
mod connection_state;
mod health_monitor;
mod recovered;

pub use broken_entry::BrokenEntry;
pub use connection_state::ConnectionState;
pub use health_monitor::{Health, HealthMonitor};
pub use recovered::Recovered;
