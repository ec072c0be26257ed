use std::sync::{Mutex, PoisonError};

use ha_core::{Error, Result};

use super::Fence;

/// The right to write that an operation began with: a term of leadership, or none where the services never
/// started an election.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    fence: Option<Fence>,
}

impl Term {
    pub(super) const fn new(fence: Option<Fence>) -> Self {
        Self { fence }
    }

    /// The fence of the term; `None` where there is no election to take part in.
    pub const fn fence(&self) -> Option<&Fence> {
        self.fence.as_ref()
    }
}

/// Ties what an object caches to one term: a store that was recovered in an earlier term does not write in a
/// later one of the same process.
#[derive(Debug, Default)]
pub struct TermBinding {
    bound: Mutex<Option<Term>>,
}

impl TermBinding {
    /// Whether it was bound.
    pub(super) fn is_bound(&self) -> bool {
        self.bound
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_some()
    }

    /// Binds to `term` at the first call; later gives it back only if it is the same.
    ///
    /// # Errors
    /// `NotLeader` (not applied) for another term.
    pub(super) fn bind(&self, term: Term) -> Result<Term> {
        let mut bound = self.bound.lock().unwrap_or_else(PoisonError::into_inner);
        let session = |term: &Term| term.fence.as_ref().map(|fence| fence.session);
        match &*bound {
            Some(first) if session(first) != session(&term) => Err(Error::not_leader(
                "this store belongs to an earlier term of leadership",
            )
            .advise("make a new store in the present term; it recovers what is there")),
            Some(_) => Ok(term),
            None => {
                *bound = Some(term.clone());
                Ok(term)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ha_core::ids::LeaderSessionId;
    use uuid::Uuid;

    use super::*;
    use crate::client::SessionId;

    fn term(number: u128) -> Term {
        Term::new(Some(Fence {
            latch_path: "/l".to_owned(),
            version: 1,
            session: LeaderSessionId::from_uuid(Uuid::from_u128(number)),
            zookeeper_session: SessionId(1),
        }))
    }

    #[test]
    fn the_first_term_is_the_only_one() {
        let binding = TermBinding::default();
        assert!(binding.bind(term(1)).is_ok());
        assert!(binding.bind(term(1)).is_ok());
        assert!(binding.bind(term(2)).is_err());
        assert!(binding.bind(Term::new(None)).is_err());
    }
}
