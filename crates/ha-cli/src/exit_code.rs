use ha_core::{Error, ErrorKind};

/// How a program of this project ends (design §11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExitCode {
    /// 0: what was asked for was done.
    Success,
    /// 1: findings from warning up, a failed or cancelled job, a conflict.
    Findings,
    /// 2: wrong usage, configuration or job file.
    Usage,
    /// 3: the outside system could not be reached in time, or there is no leader where one is needed.
    Unreachable,
    /// 130: ended by a second signal.
    Interrupted,
}

impl ExitCode {
    /// The code of an error: `Invalid` is 2, `Unavailable` is 3, everything else is 1.
    pub fn from_error(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::Invalid => Self::Usage,
            ErrorKind::Unavailable => Self::Unreachable,
            _ => Self::Findings,
        }
    }

    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Findings => 1,
            Self::Usage => 2,
            Self::Unreachable => 3,
            Self::Interrupted => 130,
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_input_is_2_and_an_unreachable_system_is_3() {
        assert_eq!(ExitCode::from_error(&Error::invalid("x")), ExitCode::Usage);
        let unavailable = Error::new(ErrorKind::Unavailable, "x");
        assert_eq!(ExitCode::from_error(&unavailable).code(), 3);
        let conflict = Error::new(ErrorKind::Conflict, "x");
        assert_eq!(ExitCode::from_error(&conflict).code(), 1);
    }
}
