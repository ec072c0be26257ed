use std::fmt;
use std::sync::Arc;

use super::{RequestKind, RequestView};

type Predicate = dyn Fn(&RequestView) -> bool + Send + Sync;

/// Which requests are meant: those of a kind, or those that a predicate picks.
#[derive(Clone)]
pub struct RequestFilter {
    name: String,
    predicate: Arc<Predicate>,
}

impl RequestFilter {
    /// The requests for which `predicate` is true.
    pub fn matching(predicate: impl Fn(&RequestView) -> bool + Send + Sync + 'static) -> Self {
        Self {
            name: "matching request".to_owned(),
            predicate: Arc::new(predicate),
        }
    }

    /// Of these only the ones that are about the node `path`: themselves, or one of their operations.
    pub fn about(self, path: &str) -> Self {
        let path = path.to_owned();
        Self {
            name: format!("{} about {path}", self.name),
            predicate: Arc::new(move |request| {
                let named = request.path.as_deref() == Some(&path)
                    || request.operations.iter().any(|operation| operation.path == path);
                named && (self.predicate)(request)
            }),
        }
    }

    pub(super) fn matches(&self, request: &RequestView) -> bool {
        (self.predicate)(request)
    }
}

impl From<RequestKind> for RequestFilter {
    fn from(kind: RequestKind) -> Self {
        Self {
            name: format!("{kind:?}"),
            predicate: Arc::new(move |request| request.kind == kind),
        }
    }
}

impl fmt::Display for RequestFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Debug for RequestFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
