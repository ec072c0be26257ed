use std::borrow::Cow;

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use ha_services::{Error, ErrorKind};
use serde::{Deserialize, Serialize};

/// How long a client is asked to wait, in seconds, where waiting helps.
const RETRY_AFTER: &str = "1";

/// What is answered when a request fails: `{"error":{"kind","message","path"}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorDocument {
    /// The error.
    pub error: ErrorBody,
}

/// One error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorBody {
    /// The kind, in camelCase.
    pub kind: String,
    /// What went wrong.
    pub message: String,
    /// The file, znode or field that it is about.
    pub path: Option<String>,
}

impl ErrorDocument {
    /// The document of an error.
    pub fn new(error: &Error) -> Self {
        Self {
            error: ErrorBody {
                kind: error.kind().name().to_owned(),
                message: error.message().to_owned(),
                path: error.subject().map(str::to_owned),
            },
        }
    }

    /// The error again, on the other side.
    pub fn to_error(&self, status: u16) -> Error {
        let kind = ErrorKind::from_name(&self.error.kind).unwrap_or_else(|| kind_of_status(status));
        let error = Error::new(kind, self.error.message.clone());
        match &self.error.path {
            Some(path) => error.at(path.clone()),
            None => error,
        }
    }
}

/// What a status without a readable document means.
pub(super) fn kind_of_status(status: u16) -> ErrorKind {
    match status {
        404 => ErrorKind::NotFound,
        409 => ErrorKind::Conflict,
        // The leader changes, or something it needs is away: waiting helps.
        307 | 429 | 500.. => ErrorKind::Unavailable,
        400..=499 => ErrorKind::Invalid,
        _ => ErrorKind::Internal,
    }
}

/// A response to a request that is wrong as such.
pub(super) fn refused(status: StatusCode, message: impl Into<Cow<'static, str>>) -> Response {
    let kind = match status {
        StatusCode::FORBIDDEN => ErrorKind::Denied,
        _ => ErrorKind::Invalid,
    };
    let error = Error::new(kind, message).not_applied();
    (status, Json(ErrorDocument::new(&error))).into_response()
}

/// An error as a response.
#[derive(Debug)]
pub(super) struct RestError(pub(super) Error);

impl From<Error> for RestError {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl IntoResponse for RestError {
    fn into_response(self) -> Response {
        let status = match self.0.kind() {
            ErrorKind::Invalid => StatusCode::BAD_REQUEST,
            ErrorKind::NotFound => StatusCode::NOT_FOUND,
            ErrorKind::AlreadyExists | ErrorKind::Conflict => StatusCode::CONFLICT,
            ErrorKind::NotLeader | ErrorKind::Unavailable | ErrorKind::Closed => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let mut response = (status, Json(ErrorDocument::new(&self.0))).into_response();
        if status == StatusCode::SERVICE_UNAVAILABLE {
            let wait = header::HeaderValue::from_static(RETRY_AFTER);
            response.headers_mut().insert(header::RETRY_AFTER, wait);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_leader_says_is_the_same_on_the_other_side() {
        for kind in [
            "denied",
            "internal",
            "notLeader",
            "unavailable",
            "corrupt",
            "invalid",
        ] {
            let kind = ErrorKind::from_name(kind).unwrap();
            let error = Error::new(kind, "read-only").at("/x");
            let told = ErrorDocument::new(&error).to_error(500);
            assert_eq!(
                (told.kind(), told.message(), told.subject()),
                (kind, "read-only", Some("/x"))
            );
        }
        assert_eq!(kind_of_status(413), ErrorKind::Invalid);
    }
}
