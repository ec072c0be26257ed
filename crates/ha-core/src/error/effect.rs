use std::fmt;

/// Whether a failed operation took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// It certainly did not: nothing was changed, the call may be repeated.
    NotApplied,
    /// It may have: the outcome could not be read back. The default.
    Unknown,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotApplied => "not applied",
            Self::Unknown => "effect unknown",
        })
    }
}
