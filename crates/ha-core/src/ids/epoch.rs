use std::fmt;

use serde::{Deserialize, Serialize};

/// The number of a grant: it only grows within one history of the ensemble (I3).
///
/// In ZooKeeper mode it is the mzxid of the latch after the claim. With the cluster uuid it is a fencing
/// token for outside systems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Epoch(u64);

impl Epoch {
    /// The epoch of this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
