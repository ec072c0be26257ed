use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

use super::hex;
use crate::environment::IdSource;
use crate::error::{Error, Result};

/// The key of a blob: the SHA-256 of its content and a random part, written `p-<64 digits>-<32 digits>`.
///
/// The hash lets a reader verify what it read; the random part keeps equal content of two uploads apart, so
/// that deleting one never deletes the other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlobKey {
    sha256: [u8; 32],
    random: [u8; 16],
}

impl BlobKey {
    /// A key for content of this hash, with a fresh random part.
    pub fn new(sha256: [u8; 32], ids: &dyn IdSource) -> Self {
        Self {
            sha256,
            random: *ids.uuid().as_bytes(),
        }
    }

    /// The SHA-256 of the content.
    pub const fn sha256(&self) -> &[u8; 32] {
        &self.sha256
    }

    /// The random part.
    pub const fn random(&self) -> Uuid {
        Uuid::from_bytes(self.random)
    }
}

impl FromStr for BlobKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parse = || {
            let (sha256, random) = text.strip_prefix("p-")?.split_once('-')?;
            let key = Self {
                sha256: hex::decode(sha256)?,
                random: hex::decode(random)?,
            };
            // One text a key: upper case would be a second file name for it.
            (key.to_string() == text).then_some(key)
        };
        parse().ok_or_else(|| Error::invalid(format!("{text:?} is not a blob key")))
    }
}

impl fmt::Display for BlobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p-{}-{}", hex::encode(&self.sha256), hex::encode(&self.random))
    }
}

impl fmt::Debug for BlobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BlobKey({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips_and_is_strict() {
        let key = BlobKey {
            sha256: [0xab; 32],
            random: [1; 16],
        };
        assert_eq!(key.to_string().parse::<BlobKey>().unwrap(), key);
        assert!(key.to_string().to_uppercase().parse::<BlobKey>().is_err());
        assert!("p-../../etc-1".parse::<BlobKey>().is_err());
    }
}
