use std::fmt;
use std::str::FromStr;

use super::name_grammar;
use crate::error::{Error, Result};

/// Names that mean something else at the place where the cluster id stands (design §6).
const RESERVED: [&str; 2] = ["zookeeper", "job-results-store"];

/// The id of a cluster: one segment of 1 to 200 letters, digits, `.`, `_`, `-`.
///
/// It names the cluster's znode below the root and its folder in the HA storage directory. A leading or
/// trailing `/` (Flink's default is `/default`) means nothing and is dropped.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClusterId(String);

impl ClusterId {
    /// Reads a cluster id.
    ///
    /// # Errors
    /// `Invalid` when it is outside the grammar or reserved.
    pub fn new(text: &str) -> Result<Self> {
        let name = text.strip_prefix('/').unwrap_or(text);
        let name = name.strip_suffix('/').unwrap_or(name);
        name_grammar::check("the cluster id", name)?;
        if RESERVED.contains(&name) {
            return Err(Error::invalid(format!("the cluster id {name:?} is reserved")));
        }
        Ok(Self(name.to_owned()))
    }

    /// The id as one path segment.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ClusterId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::new(text)
    }
}

impl fmt::Display for ClusterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flinks_default_means_default() {
        assert_eq!(ClusterId::new("/default").unwrap().as_str(), "default");
        assert_eq!(ClusterId::new("a.b_c-1/").unwrap().as_str(), "a.b_c-1");
    }

    #[test]
    fn traversal_and_reserved_names_are_refused() {
        let long = "x".repeat(201);
        for bad in [
            "",
            "/",
            ".",
            "..",
            "../x",
            "a/b",
            "a b",
            "zookeeper",
            "job-results-store",
            "ä",
            "//",
            long.as_str(),
        ] {
            assert!(ClusterId::new(bad).is_err(), "{bad:?}");
        }
    }
}
