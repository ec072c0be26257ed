//! State files: a one-line header that says what they are, and the payload.

pub(crate) mod envelope;
mod listed_state;
mod state_file;
mod state_kind;
pub(crate) mod state_path;

pub use listed_state::ListedState;
pub use state_file::{State, StateFile};
pub use state_kind::StateKind;
pub use state_path::owner_of_state;
