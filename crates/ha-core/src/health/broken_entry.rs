use serde::Serialize;

use crate::error::{Error, ErrorKind};

/// An entry that could not be served: unreadable, torn, foreign, of a newer format, or naming a missing file.
///
/// It was left exactly as it is; the good entries beside it were served.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BrokenEntry {
    /// The name of the entry: a job id or a checkpoint id where it could be read, else the znode's or file's name.
    pub name: String,
    /// The znode or file.
    pub path: String,
    /// Why it cannot be served.
    pub reason: String,
    /// What could be used instead, for instance older checkpoints: their paths. Never used silently.
    pub candidates: Vec<String>,
}

impl BrokenEntry {
    /// An entry that `error` says is broken; the error's subject is its path unless it names none.
    pub fn from_error(name: impl Into<String>, path: impl Into<String>, error: &Error) -> Self {
        let reason = match error.subject() {
            Some(subject) => format!("{subject}: {}", error.message()),
            None => error.message().to_owned(),
        };
        Self {
            name: name.into(),
            path: path.into(),
            reason,
            candidates: Vec::new(),
        }
    }

    /// The same as an error, for a caller that asked for just this entry.
    pub fn to_error(&self) -> Error {
        Error::new(ErrorKind::Corrupt, self.reason.clone()).at(self.path.clone())
    }
}
