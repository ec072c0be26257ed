use thiserror::Error;

/// Why bytes are not the stream that they should be, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{reason} at byte {offset}")]
pub(crate) struct Malformed {
    pub(crate) reason: String,
    pub(crate) offset: usize,
}
