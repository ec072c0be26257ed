use serde::Serialize;

/// How bad a finding is. The worst sorts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something is broken, or work is lost or stands still.
    Error,
    /// Something will break, or does less than it should.
    Warning,
    /// Worth knowing; nothing has to be done.
    Info,
}

impl Severity {
    /// Its name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The check.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The znode, with its whole path; `null` where none is meant.
    pub znode: Option<String>,
    /// The file, with its whole path or URI; `null` where none is meant.
    pub file: Option<String>,
    /// What was found.
    pub found: String,
    /// Why it matters.
    pub why: &'static str,
    /// What to do.
    pub advice: &'static str,
}

impl Finding {
    pub(super) fn new(id: &'static str, severity: Severity, found: impl Into<String>) -> Self {
        Self {
            id,
            severity,
            znode: None,
            file: None,
            found: found.into(),
            why: "",
            advice: "",
        }
    }

    #[must_use]
    pub(super) fn at_znode(mut self, path: impl Into<String>) -> Self {
        self.znode = Some(path.into());
        self
    }

    #[must_use]
    pub(super) fn at_file(mut self, place: impl Into<String>) -> Self {
        self.file = Some(place.into());
        self
    }

    #[must_use]
    pub(super) fn because(mut self, why: &'static str) -> Self {
        self.why = why;
        self
    }

    #[must_use]
    pub(super) fn advise(mut self, advice: &'static str) -> Self {
        self.advice = advice;
        self
    }
}

/// A check that could not be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Skipped {
    /// The check.
    pub id: &'static str,
    /// Why not.
    pub reason: String,
}
