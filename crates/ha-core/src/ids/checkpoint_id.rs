use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Width of the name of a checkpoint's znode or file: an `i64` in decimal has at most 19 digits.
const NAME_WIDTH: usize = 19;

/// The id of a checkpoint: 64 bits, the first is 1, strictly increasing within one life of a job id (I6).
///
/// Ids fit a signed 64-bit integer, as Flink's do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct CheckpointId(u64);

impl CheckpointId {
    /// The first id of a job.
    pub const FIRST: Self = Self(1);
    /// The largest id.
    pub const MAX: Self = Self(i64::MAX as u64);

    /// Reads an id.
    ///
    /// # Errors
    /// `Invalid` for 0 and for what does not fit a signed 64-bit integer.
    pub fn new(number: u64) -> Result<Self> {
        if number == 0 || number > Self::MAX.0 {
            return Err(Error::invalid(format!(
                "{number} is not a checkpoint id: 1 to {} are",
                Self::MAX.0
            )));
        }
        Ok(Self(number))
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The id after this one.
    ///
    /// # Errors
    /// `Invalid` when there is none.
    pub fn next(self) -> Result<Self> {
        Self::new(self.0 + 1)
    }

    /// The name of its znode: 19 digits, so that the order of names is the order of ids.
    pub fn to_name(self) -> String {
        format!("{:0NAME_WIDTH$}", self.0)
    }

    /// Reads the name of a znode or file strictly. `None` means that the name is foreign.
    pub fn from_name(name: &str) -> Option<Self> {
        if name.len() != NAME_WIDTH || !name.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Self::new(name.parse().ok()?).ok()
    }
}

impl TryFrom<u64> for CheckpointId {
    type Error = Error;

    fn try_from(number: u64) -> Result<Self> {
        Self::new(number)
    }
}

impl From<CheckpointId> for u64 {
    fn from(id: CheckpointId) -> Self {
        id.0
    }
}

impl fmt::Display for CheckpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_as_numbers_and_are_strict() {
        let nine = CheckpointId::new(9).unwrap();
        let ten = CheckpointId::new(10).unwrap();
        assert!(nine.to_name() < ten.to_name());
        assert_eq!(CheckpointId::from_name(&ten.to_name()), Some(ten));
        for bad in [
            "10",
            "+000000000000000010",
            "0000000000000000000",
            "9999999999999999999",
            "000000000000000001x",
        ] {
            assert_eq!(CheckpointId::from_name(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_largest_has_no_next() {
        assert!(CheckpointId::MAX.next().is_err());
        assert!(CheckpointId::new(0).is_err());
    }
}
