use super::publication::Publication;
use crate::environment::BootInstant;

/// What the machine knows of one contender.
pub(super) struct ContenderState {
    pub(super) stage: Stage,
    pub(super) callbacks: Callbacks,
    pub(super) publication: Publication,
    /// Information of it may stand in the outside system, written in this term or in an earlier one.
    pub(super) touched: bool,
    /// Writes of information of its component, of any term and of contenders before it, that have not ended.
    pub(super) writes: usize,
    /// What an earlier contender left behind is being removed just now: nothing is published before that has ended.
    pub(super) clearing: bool,
}

/// Where a contender is between entering and having left.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// It contends.
    Standing,
    /// Waits until its callbacks have returned.
    Leaving { deadline: BootInstant },
    /// Waits until its information is removed.
    Withdrawing,
    /// Waits until the driver is closed.
    AwaitingClose,
}

/// What is known of its callbacks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Callbacks {
    /// None of a term runs or is owed.
    Settled,
    /// It was granted, or is about to be.
    InTerm,
    /// Its revocation of this number has not returned.
    Revoking(u64),
    /// The same, and this was reported: nothing waits for it any more.
    Overdue(u64),
}
