use std::fmt;

/// What kind of error it is, and so what the caller does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// What was asked for is not there. Check the id; nothing is retried.
    NotFound,
    /// It is there already, made by somebody else or with other content.
    AlreadyExists,
    /// Somebody else changed it in between. Read again, then decide.
    Conflict,
    /// This process does not lead (any more). Stop acting for this term; wait for the next grant.
    NotLeader,
    /// ZooKeeper or the storage could not be reached in time. Retry later.
    Unavailable,
    /// Data is unreadable, torn, foreign or of a newer format. It was left as it is; inspect it.
    Corrupt,
    /// The input or the configuration is wrong. Correct it.
    Invalid,
    /// The service was stopped. Make a new one.
    Closed,
    /// The outside system refuses the credentials or the operation. Correct the rights.
    Denied,
    /// A defect of this library or of a callback. Report it.
    Internal,
}

impl ErrorKind {
    const ALL: [Self; 10] = [
        Self::NotFound,
        Self::AlreadyExists,
        Self::Conflict,
        Self::NotLeader,
        Self::Unavailable,
        Self::Corrupt,
        Self::Invalid,
        Self::Closed,
        Self::Denied,
        Self::Internal,
    ];

    /// The kind of a [`ErrorKind::name`]; `None` when this version knows no such kind.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The name as it stands in JSON: camelCase.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotFound => "notFound",
            Self::AlreadyExists => "alreadyExists",
            Self::Conflict => "conflict",
            Self::NotLeader => "notLeader",
            Self::Unavailable => "unavailable",
            Self::Corrupt => "corrupt",
            Self::Invalid => "invalid",
            Self::Closed => "closed",
            Self::Denied => "denied",
            Self::Internal => "internal",
        }
    }

    /// What the user does next, where the error itself does not say something more precise.
    pub fn advice(self) -> &'static str {
        match self {
            Self::NotFound => "check the id and the cluster id",
            Self::AlreadyExists => "use the one that is there, or another id",
            Self::Conflict => "read again, then decide",
            Self::NotLeader => "stop acting for this term and wait for the next grant",
            Self::Unavailable => "check that the ensemble and the storage are up, then retry",
            Self::Corrupt => "it was left untouched; inspect it with `hactl tree`",
            Self::Invalid => "correct the input",
            Self::Closed => "make a new instance",
            Self::Denied => "check credentials and access rights",
            Self::Internal => "report this as a defect",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFound => "not found",
            Self::AlreadyExists => "already exists",
            Self::Conflict => "conflict",
            Self::NotLeader => "not leader",
            Self::Unavailable => "unavailable",
            Self::Corrupt => "corrupt",
            Self::Invalid => "invalid",
            Self::Closed => "closed",
            Self::Denied => "denied",
            Self::Internal => "internal",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_kinds() {
        for kind in ErrorKind::ALL {
            assert_eq!(ErrorKind::from_name(kind.name()), Some(kind));
        }
        assert_eq!(ErrorKind::from_name("of a newer version"), None);
    }
}
