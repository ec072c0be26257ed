use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::hex;
use crate::environment::IdSource;
use crate::error::{Error, Result};

/// The id of a job: 16 bytes, written as 32 lower-case hexadecimal digits.
///
/// Upper case and a UUID's dashes are read. In znode and file names only the written form counts; see
/// [`JobId::from_name`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JobId([u8; 16]);

impl JobId {
    /// The id of these bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// A fresh random id.
    pub fn random(ids: &dyn IdSource) -> Self {
        Self(*ids.uuid().as_bytes())
    }

    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Reads the name of a znode or file strictly: 32 lower-case digits, as this library writes them. `None`
    /// means that the name is foreign.
    pub fn from_name(name: &str) -> Option<Self> {
        let id = Self(hex::decode(name)?);
        (id.to_string() == name).then_some(id)
    }
}

impl FromStr for JobId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bare = match text.as_bytes() {
            [.., _] if text.len() == 36 && [8, 13, 18, 23].iter().all(|&i| text.as_bytes()[i] == b'-') => {
                text.replace('-', "")
            }
            _ => text.to_owned(),
        };
        hex::decode(&bare).map(Self).ok_or_else(|| {
            Error::invalid(format!(
                "{text:?} is not a job id: 32 hexadecimal digits are expected"
            ))
        })
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JobId({self})")
    }
}

impl Serialize for JobId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for JobId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upper_case_and_dashes_are_read_and_lower_case_is_written() {
        let id: JobId = "00112233445566778899AABBCCDDEEFF".parse().unwrap();
        assert_eq!(id.to_string(), "00112233445566778899aabbccddeeff");
        assert_eq!(
            "00112233-4455-6677-8899-aabbccddeeff".parse::<JobId>().unwrap(),
            id
        );
    }

    #[test]
    fn wrong_lengths_and_characters_are_refused() {
        for bad in [
            "",
            "0",
            "0011223344556677889900112233445",
            "0011223344556677889900112233445566",
            "zz112233445566778899aabbccddeeff",
            "ä0112233445566778899aabbccddee",
            "+0112233445566778899aabbccddeeff",
        ] {
            assert!(bad.parse::<JobId>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn names_are_strict() {
        assert!(JobId::from_name("00112233445566778899AABBCCDDEEFF").is_none());
        assert!(JobId::from_name("00112233445566778899aabbccddeeff").is_some());
        assert!(JobId::from_name("README").is_none());
    }
}
