//! What stands in the znodes: one-line UTF-8 JSON with a `format` field, or decimal text where it is one number.
//! One file a payload.
//!
//! Unknown fields are ignored, a newer `format` is refused, nothing longer than [`MAX_DATA`] is written or read.

mod connection_info;
mod counter;
mod identity;
mod json;
mod latch;
mod pointer;
mod registry;

pub use connection_info::ConnectionInfo;
pub use counter::{decode_counter, encode_counter};
pub use identity::IdentityData;
pub use json::MAX_DATA;
pub(crate) use json::check_length;
pub use latch::LatchData;
pub(crate) use pointer::write_id_of;
pub use pointer::{Pointer, bounded_end};
pub use registry::{decode_status, encode_status};
