use thiserror::Error;

use crate::java::Malformed;

/// Why bytes are not what they should be. It does not name where they came from: whoever read them knows.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no {what}: {reason}")]
pub struct Undecodable {
    what: &'static str,
    reason: String,
}

impl Undecodable {
    pub(crate) fn new(what: &'static str, reason: impl Into<String>) -> Self {
        Self {
            what,
            reason: reason.into(),
        }
    }

    pub(crate) fn stream(what: &'static str) -> impl Fn(Malformed) -> Self {
        move |malformed| Self::new(what, malformed.to_string())
    }
}
