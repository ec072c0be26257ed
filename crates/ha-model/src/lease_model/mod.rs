//! Sessions, leases and time: I1 and I9.

mod action;
mod fault_kind;
mod lease_image;
mod lease_model;
mod lease_state;
mod link;
mod process;
mod properties;
mod request;
mod scale;
mod session;

pub use action::{Action, ProcessId};
pub use fault_kind::FaultKind;
pub use lease_image::LeaseImage;
pub use lease_model::LeaseModel;
pub use lease_state::LeaseState;
pub use link::Link;
pub use process::{Process, Run};
pub use properties::{ONE_LEADER, RECOVERS};
pub use request::{Fate, Request, RequestKind, Stage};
pub use scale::{ClockRate, Scale};
pub use session::Session;
