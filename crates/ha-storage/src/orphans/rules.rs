use std::time::Duration;

use ha_core::lease::LeaseTerms;

/// No file is taken for an orphan before this age, whatever is asked for.
const LEAST_AGE: Duration = Duration::from_secs(600);
/// Nor before this many session timeouts.
const LEAST_TIMEOUTS: u32 = 10;
/// Between the observations where one process has the storage for itself: nobody has to be deposed meanwhile.
const INTERVAL_OF_ONE_PROCESS: Duration = Duration::from_secs(2);

/// What makes a file without a pointer an orphan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrphanRules {
    age: Duration,
    interval: Duration,
    accepts_empty_tree: bool,
}

impl OrphanRules {
    /// The rules of a cluster on ZooKeeper: `age` (the option `high-availability.orphan-age`), but at least 10
    /// minutes and 10 session timeouts as they were *negotiated*; two observations one session timeout and two ticks
    /// apart, after which a process that was about to publish has done so or leads no more.
    pub fn new(age: Duration, terms: &LeaseTerms) -> Self {
        let timeouts = terms.session_timeout().saturating_mul(LEAST_TIMEOUTS);
        Self {
            age: age.max(LEAST_AGE).max(timeouts),
            interval: terms
                .session_timeout()
                .saturating_add(terms.tick().saturating_mul(2)),
            accepts_empty_tree: false,
        }
    }

    /// The rules of file-backed stores, which one process has for itself.
    pub fn of_one_process(age: Duration) -> Self {
        Self {
            age: age.max(LEAST_AGE),
            interval: INTERVAL_OF_ONE_PROCESS,
            accepts_empty_tree: false,
        }
    }

    /// The same, when an operator has said that a tree without any pointer is as it should be: all its jobs have
    /// ended. A tree that was lost is not accepted by this.
    #[must_use]
    pub const fn accepting_an_empty_tree(mut self) -> Self {
        self.accepts_empty_tree = true;
        self
    }

    /// The least age of an orphan, by the store's own clock.
    pub const fn age(&self) -> Duration {
        self.age
    }

    /// The least time from the end of the first observation to the beginning of the second.
    pub const fn interval(&self) -> Duration {
        self.interval
    }

    pub(super) const fn accepts_empty_tree(&self) -> bool {
        self.accepts_empty_tree
    }
}
