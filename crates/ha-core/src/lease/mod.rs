//! The lease: until when this process may say that it leads, whatever the server, the network and the runtime
//! are doing (design §3).
//!
//! [`Lease`] is the pure rule. [`LeadershipGate`] joins it with the current grant and the clock, and is what
//! `has_leadership` asks.

mod leadership_gate;
mod lease;
mod lease_terms;

pub use leadership_gate::{LeadershipGate, LeaseId};
pub use lease::Lease;
pub use lease_terms::LeaseTerms;
