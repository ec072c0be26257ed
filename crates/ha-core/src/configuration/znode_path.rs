use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use crate::error::{Error, Result};

/// Longest path that is taken as a root or a chroot, in bytes.
const MAX_LENGTH: usize = 1024;

/// An absolute znode path in its normal form, to put before other paths: empty for the root of the tree, else
/// `/a/b` without a slash at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ZNodePath(String);

impl ZNodePath {
    /// Reads a path. A leading or trailing slash means nothing, as in Flink.
    ///
    /// # Errors
    /// `Invalid` for an empty segment, `.` or `..` as a segment, a character that ZooKeeper refuses, a path
    /// below `/zookeeper`, or more than 1024 bytes.
    pub fn new(text: &str) -> Result<Self> {
        if text.is_empty() || text == "/" {
            return Ok(Self::default());
        }
        let inner = text.strip_prefix('/').unwrap_or(text);
        let inner = inner.strip_suffix('/').unwrap_or(inner);
        if inner.len() > MAX_LENGTH {
            return Err(Error::invalid(format!("it has more than {MAX_LENGTH} bytes")));
        }
        for (index, segment) in inner.split('/').enumerate() {
            check_segment(segment)
                .map_err(|reason| Error::invalid(format!("segment {} ({segment:?}) {reason}", index + 1)))?;
        }
        if inner == "zookeeper" || inner.starts_with("zookeeper/") {
            return Err(Error::invalid("/zookeeper belongs to the server itself"));
        }
        Ok(Self(format!("/{inner}")))
    }

    /// The path: empty, or beginning with a slash and ending without one.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// ZooKeeper's own rules for names (`PathUtils.validatePath`), of which white space at an end is stricter
/// here, since it is always a mistake.
fn check_segment(segment: &str) -> Result<(), &'static str> {
    if segment.is_empty() {
        return Err("is empty");
    }
    if segment == "." || segment == ".." {
        return Err("is relative");
    }
    if segment.trim() != segment {
        return Err("begins or ends with white space");
    }
    let refused = |c: char| matches!(c, '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..='\u{ffff}');
    if segment.chars().any(refused) {
        return Err("has a character that ZooKeeper refuses");
    }
    Ok(())
}

impl Deref for ZNodePath {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl FromStr for ZNodePath {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::new(text)
    }
}

impl fmt::Display for ZNodePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "/" } else { &self.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn slashes_at_the_ends_mean_nothing() {
        for (text, path) in [
            ("/flink", "/flink"),
            ("flink", "/flink"),
            ("/a/b/", "/a/b"),
            ("/", ""),
            ("", ""),
            ("/zookeeper-x", "/zookeeper-x"),
        ] {
            assert_eq!(ZNodePath::new(text).unwrap().as_str(), path, "{text:?}");
        }
    }

    #[test]
    fn what_zookeeper_refuses_is_refused_with_the_segment() {
        let long = "x".repeat(1025);
        for bad in [
            "//",
            "/a//b",
            "//a",
            "/a/../b",
            "/./a",
            "/a\u{0}",
            "/a\nb",
            "/a /b",
            "/zookeeper",
            "/zookeeper/quota",
            long.as_str(),
        ] {
            assert!(ZNodePath::new(bad).is_err(), "{bad:?}");
        }
        let error = ZNodePath::new("/a/../b").unwrap_err();
        assert!(error.message().contains("segment 2 (\"..\")"), "{error}");
    }

    proptest! {
        #[test]
        fn never_panics_and_is_normal_when_taken(text in any::<String>()) {
            if let Ok(path) = ZNodePath::new(&text) {
                prop_assert!(path.is_empty() || path.starts_with('/'));
                prop_assert!(!path.ends_with('/'));
                prop_assert_eq!(ZNodePath::new(&path).unwrap(), path);
            }
        }
    }
}
