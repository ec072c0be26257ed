use std::fmt;

use sha2::{Digest as _, Sha256};

/// The digest of a job's content, by which the same job submitted again is told from another one under the
/// same id: the SHA-256 of its canonical form, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JobDigest(String);

impl JobDigest {
    /// The digest of these bytes.
    pub fn of(content: &[u8]) -> Self {
        use fmt::Write as _;
        let mut text = String::with_capacity(64);
        for byte in Sha256::digest(content) {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        Self(text)
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for JobDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
