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
        let kind = match self.error.kind.as_str() {
            "invalid" => ErrorKind::Invalid,
            "alreadyExists" => ErrorKind::AlreadyExists,
            "conflict" => ErrorKind::Conflict,
            "notFound" => ErrorKind::NotFound,
            "corrupt" => ErrorKind::Corrupt,
            _ => kind_of_status(status),
        };
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
        400 => ErrorKind::Invalid,
        404 => ErrorKind::NotFound,
        409 => ErrorKind::Conflict,
        // The leader changes, or something it needs is away: waiting helps.
        307 | 429 | 500.. => ErrorKind::Unavailable,
        _ => ErrorKind::Internal,
    }
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
