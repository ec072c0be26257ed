//! One error type for the whole project: what kind, and did it take effect.

mod effect;
mod kind;

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

pub use effect::Effect;
pub use kind::ErrorKind;

/// The result of every fallible operation of the HA services.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error that answers two questions: what kind it is ([`Error::kind`]), and whether the operation took
/// effect ([`Error::effect`]).
///
/// The effect is [`Effect::Unknown`] unless the place that made the error proved otherwise. A lost
/// compare-and-set is not an error but a return value. Cloning is cheap.
#[derive(Clone)]
pub struct Error {
    inner: Arc<Inner>,
}

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    effect: Effect,
    message: Cow<'static, str>,
    subject: Option<String>,
    advice: Option<Cow<'static, str>>,
    source: Option<Arc<dyn StdError + Send + Sync + 'static>>,
}

impl Error {
    /// Makes an error of `kind` with [`Effect::Unknown`].
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            inner: Arc::new(Inner {
                kind,
                effect: Effect::Unknown,
                message: message.into(),
                subject: None,
                advice: None,
                source: None,
            }),
        }
    }

    /// An [`ErrorKind::Invalid`] error; validation happens before anything is touched, so it was not applied.
    pub fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Invalid, message).not_applied()
    }

    /// An [`ErrorKind::Closed`] error: the service was stopped before the operation began.
    pub fn closed(what: &str) -> Self {
        Self::new(ErrorKind::Closed, format!("{what} is closed")).not_applied()
    }

    /// An [`ErrorKind::NotLeader`] error: refused before anything was written.
    pub fn not_leader(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::NotLeader, message).not_applied()
    }

    /// Names the znode, file or option that the error is about.
    #[must_use]
    pub fn at(self, subject: impl Into<String>) -> Self {
        let subject = subject.into();
        self.change(|inner| inner.subject = Some(subject))
    }

    /// Says what the user does next.
    #[must_use]
    pub fn advise(self, advice: impl Into<Cow<'static, str>>) -> Self {
        let advice = advice.into();
        self.change(|inner| inner.advice = Some(advice))
    }

    /// Records that the operation certainly did not take effect.
    #[must_use]
    pub fn not_applied(self) -> Self {
        self.with_effect(Effect::NotApplied)
    }

    /// Sets the effect.
    #[must_use]
    pub fn with_effect(self, effect: Effect) -> Self {
        self.change(|inner| inner.effect = effect)
    }

    /// Attaches the cause; it is reachable by [`StdError::source`] and is not repeated by `Display`.
    #[must_use]
    pub fn caused_by(self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.change(|inner| inner.source = Some(Arc::new(source)))
    }

    fn change(mut self, apply: impl FnOnce(&mut Inner)) -> Self {
        apply(Arc::make_mut(&mut self.inner));
        self
    }

    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        self.inner.kind
    }

    /// Whether the operation took effect.
    pub fn effect(&self) -> Effect {
        self.inner.effect
    }

    /// The message alone, without subject and advice.
    pub fn message(&self) -> &str {
        &self.inner.message
    }

    /// The znode, file or option that the error is about.
    pub fn subject(&self) -> Option<&str> {
        self.inner.subject.as_deref()
    }

    /// What the user does next.
    pub fn advice(&self) -> &str {
        self.inner
            .advice
            .as_deref()
            .unwrap_or_else(|| self.inner.kind.advice())
    }

    /// Whether the same call may succeed later without anybody changing anything.
    pub fn is_retryable(&self) -> bool {
        matches!(self.inner.kind, ErrorKind::Unavailable)
    }

    /// Whether repeating the call cannot do the work twice: it certainly was not applied.
    pub fn is_safe_to_repeat(&self) -> bool {
        self.inner.effect == Effect::NotApplied
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(subject) = self.subject() {
            write!(f, "{subject}: ")?;
        }
        write!(
            f,
            "{} ({}, {}); {}",
            self.inner.message,
            self.inner.kind,
            self.inner.effect,
            self.advice()
        )
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.inner.kind)
            .field("effect", &self.inner.effect)
            .field("message", &self.inner.message)
            .field("subject", &self.inner.subject)
            .field("source", &self.inner.source)
            .finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.inner
            .source
            .as_deref()
            .map(|source| source as &(dyn StdError + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effect_is_unknown_until_proved() {
        assert_eq!(Error::new(ErrorKind::Unavailable, "x").effect(), Effect::Unknown);
        assert_eq!(Error::invalid("x").effect(), Effect::NotApplied);
    }

    #[test]
    fn display_names_subject_kind_effect_and_advice_but_not_the_source() {
        let error = Error::new(ErrorKind::Corrupt, "truncated")
            .at("/flink/default/jobgraphs/1")
            .caused_by(std::io::Error::other("secret detail"));
        let text = error.to_string();
        assert!(
            text.starts_with("/flink/default/jobgraphs/1: truncated (corrupt, effect unknown); "),
            "{text}"
        );
        assert!(!text.contains("secret detail"));
        assert!(error.source().is_some());
    }
}
