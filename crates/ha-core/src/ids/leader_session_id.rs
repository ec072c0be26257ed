use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::environment::IdSource;
use crate::error::{Error, Result};

/// The id of one grant of leadership: a hyphenated UUID that never repeats (I3).
///
/// It says *which* term, so a stale confirmation or message can be told from a current one. It is not a
/// fencing token for outside systems; that is (cluster uuid, [`super::Epoch`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LeaderSessionId(Uuid);

impl LeaderSessionId {
    /// The all-zero id that standalone services grant, as Flink's do.
    pub const DEFAULT: Self = Self(Uuid::nil());

    /// A fresh id from the injected source.
    pub fn random(ids: &dyn IdSource) -> Self {
        Self(ids.uuid())
    }

    /// The id of a UUID.
    pub const fn from_uuid(uuid: Uuid) -> Self {
        Self(uuid)
    }

    /// The id of Java's two halves.
    pub const fn from_bits(most_significant: u64, least_significant: u64) -> Self {
        Self(Uuid::from_u64_pair(most_significant, least_significant))
    }

    /// The UUID.
    pub const fn as_uuid(&self) -> &Uuid {
        &self.0
    }

    /// Java's `getMostSignificantBits`.
    pub fn most_significant_bits(&self) -> u64 {
        self.0.as_u64_pair().0
    }

    /// Java's `getLeastSignificantBits`.
    pub fn least_significant_bits(&self) -> u64 {
        self.0.as_u64_pair().1
    }
}

impl FromStr for LeaderSessionId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        // Only the hyphenated form: braces, urn: and bare digits would be other texts for one id.
        match Uuid::try_parse(text) {
            Ok(uuid) if text.len() == 36 => Ok(Self(uuid)),
            _ => Err(Error::invalid(format!(
                "{text:?} is not a leader session id: a hyphenated UUID is expected"
            ))),
        }
    }
}

impl fmt::Display for LeaderSessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.hyphenated(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_and_text_round_trip() {
        let id = LeaderSessionId::from_bits(0x0011_2233_4455_6677, 0x8899_aabb_ccdd_eeff);
        assert_eq!(id.to_string(), "00112233-4455-6677-8899-aabbccddeeff");
        assert_eq!(id.to_string().parse::<LeaderSessionId>().unwrap(), id);
        assert_eq!(id.most_significant_bits(), 0x0011_2233_4455_6677);
        assert_eq!(id.least_significant_bits(), 0x8899_aabb_ccdd_eeff);
        assert!(
            "00112233445566778899aabbccddeeff"
                .parse::<LeaderSessionId>()
                .is_err()
        );
    }
}
