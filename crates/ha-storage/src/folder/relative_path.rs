use std::fmt;

use ha_core::error::{Error, Result};
use object_store::path::Path as ObjectPath;

/// Longest path below a folder, in bytes; stores limit a whole key to 1024.
const MAX_LENGTH: usize = 512;
/// Longest segment: the usual limit of file systems.
const MAX_SEGMENT: usize = 255;

/// A path below a folder of the storage, in the one spelling that this library writes: segments of letters,
/// digits, `.`, `_`, `-`, separated by single `/`; never `.` or `..`, no leading or trailing `/`. Empty is the
/// folder itself.
///
/// What is outside this grammar cannot leave the folder, cannot be a temporary name of the store, and is never
/// re-encoded on its way to a file name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RelativePath(String);

impl RelativePath {
    /// The folder itself.
    pub(crate) const fn root() -> Self {
        Self(String::new())
    }

    /// Reads a path that came from outside.
    ///
    /// # Errors
    /// `Invalid` for everything outside the grammar.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let refuse = |reason: String| {
            Err(Error::invalid(format!(
                "the path {text:?} is not one of this cluster's folder: {reason}"
            )))
        };
        if text.is_empty() || text.len() > MAX_LENGTH {
            return refuse(format!("1 to {MAX_LENGTH} characters are expected"));
        }
        for segment in text.split('/') {
            if !is_segment(segment) {
                return refuse(format!("{segment:?} is no name of a file or folder there"));
            }
        }
        Ok(Self(text.to_owned()))
    }

    /// The path of an entry below this one; `None` when `segment` is outside the grammar.
    pub(crate) fn child(&self, segment: &str) -> Option<Self> {
        let path = if self.0.is_empty() {
            segment.to_owned()
        } else {
            format!("{}/{segment}", self.0)
        };
        (is_segment(segment) && path.len() <= MAX_LENGTH).then_some(Self(path))
    }

    /// The path as text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The segments, none for the folder itself.
    pub(crate) fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|segment| !segment.is_empty())
    }

    /// The last segment.
    pub(crate) fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// The folder that it lies in.
    pub(crate) fn parent(&self) -> Self {
        Self(
            self.0
                .rsplit_once('/')
                .map_or("", |(parent, _)| parent)
                .to_owned(),
        )
    }

    /// The key below `prefix` in an object store.
    pub(crate) fn object_path(&self, prefix: &[String]) -> ObjectPath {
        // Segments of the grammar hold nothing that the store would encode.
        prefix.iter().map(String::as_str).chain(self.segments()).collect()
    }
}

impl fmt::Display for RelativePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a name is one that this library writes.
pub(crate) fn is_segment(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_SEGMENT
        && name != "."
        && name != ".."
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_could_leave_the_folder_is_refused() {
        let long = "a/".repeat(300);
        for bad in [
            "",
            "/",
            "/etc/passwd",
            "..",
            "../other/x",
            "a/../b",
            "a//b",
            "a/",
            "./a",
            "a\\b",
            "a\0b",
            "a#1",
            "a%2e%2e",
            "file:///etc/passwd",
            "ä",
            "a b",
            long.as_str(),
        ] {
            assert!(RelativePath::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn parts_of_a_path() {
        let path = RelativePath::parse("jobs/1/counter").unwrap();
        assert_eq!(path.file_name(), "counter");
        assert_eq!(path.parent().as_str(), "jobs/1");
        assert_eq!(RelativePath::parse("x").unwrap().parent(), RelativePath::root());
        assert_eq!(RelativePath::root().child("x").unwrap().as_str(), "x");
        assert_eq!(path.object_path(&["c".to_owned()]).as_ref(), "c/jobs/1/counter");
        assert!(path.child("..").is_none());
    }
}
