//! Latches, claims, fences and epochs: I2, I3, I4, and I1 given the lease.

mod action;
mod event_kind;
mod latch;
mod listing;
mod process;
mod properties;
mod stamp;
mod steps;
mod task;
mod term_model;
mod term_state;

pub use action::{Action, ProcessId};
pub use event_kind::EventKind;
pub use latch::Latch;
pub use process::{Grant, Process, Session, Write, WriteStage};
pub use properties::{EPOCH_GROWS, NO_STALE_WRITE, ONE_LEADER};
pub use stamp::Stamp;
pub use task::{Claim, Known, Task};
pub use term_model::TermModel;
pub use term_state::{Faults, TermState};
