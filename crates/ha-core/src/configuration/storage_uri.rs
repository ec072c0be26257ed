use super::{RemoteStorage, RemoteStore};
use crate::error::{Error, Result};

/// Schemes that are known by name and have no counterpart here.
const NOT_BUILT: [&str; 1] = ["viewfs"];

/// What a configured storage directory means: a path, or a URI. The only place that tells the two apart.
///
/// `scheme:/…` with a scheme of two or more letters is a URI, and so is a known scheme whatever follows. All
/// else is a path: `C:/x` and `a:b` are names with a colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageUri<'a> {
    /// A path of this machine's file system, as written.
    Path(&'a str),
    /// What follows `file:`.
    File(&'a str),
    /// The memory of this process, which ends with it.
    Memory,
    /// A store that all hosts reach. Whether this program can is for `ha-storage` to say.
    Remote(RemoteStorage<'a>),
}

impl<'a> StorageUri<'a> {
    /// Reads a path or a URI, with spaces around it or not. Touches nothing.
    ///
    /// # Errors
    /// `Invalid` for an empty text, a zero byte, a scheme that is unknown or not built, and a URI of a remote
    /// store that does not name a place in it. The text of the error holds no credentials.
    pub fn parse(text: &'a str) -> Result<Self> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Error::invalid("the storage directory is empty"));
        }
        if text.contains('\0') {
            return Err(Error::invalid(
                "the storage directory has a zero byte in its name",
            ));
        }
        let Some((scheme, rest)) = split(text) else {
            return Ok(Self::Path(text));
        };
        if let Some(store) = RemoteStore::of_scheme(&scheme) {
            return RemoteStorage::parse(store, text, rest).map(Self::Remote);
        }
        match scheme.as_str() {
            "file" => Ok(Self::File(rest)),
            "memory" => Ok(Self::Memory),
            other if NOT_BUILT.contains(&other) => Err(Error::invalid(format!(
                "storage of the scheme {other} is not built in this version"
            ))
            .at(super::secrets::without_credentials(text))
            .advise("give a path, or a URI of the scheme file, s3, gs, az or hdfs")),
            other => Err(Error::invalid(format!(
                "the scheme {other} of the storage directory is not known"
            ))
            .at(super::secrets::without_credentials(text))
            .advise("give a path, or a URI of the scheme file, s3, gs, az or hdfs")),
        }
    }

    /// Whether it is a directory of this machine's file system.
    pub const fn is_local(self) -> bool {
        matches!(self, Self::Path(_) | Self::File(_))
    }
}

/// An option's check.
#[expect(clippy::ptr_arg, reason = "an option's check takes the option's type")]
pub(super) fn check(text: &String) -> Result<(), String> {
    StorageUri::parse(text)
        .map(drop)
        .map_err(|error| format!("cannot be used: {}; {}", error.message(), error.advice()))
}

/// The scheme, in lower case, and what follows it; `None` for a path.
fn split(text: &str) -> Option<(String, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let well_formed = scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    let scheme = scheme.to_ascii_lowercase();
    let known = matches!(scheme.as_str(), "file" | "memory")
        || RemoteStore::of_scheme(&scheme).is_some()
        || NOT_BUILT.contains(&scheme.as_str());
    (well_formed && (known || rest.is_empty() || rest.starts_with('/'))).then_some((scheme, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_is_told_from_a_path() {
        for (text, expected) in [
            ("/var/ha", StorageUri::Path("/var/ha")),
            (" var/ha ", StorageUri::Path("var/ha")),
            ("./s3:b", StorageUri::Path("./s3:b")),
            ("a:b", StorageUri::Path("a:b")),
            ("ab:c", StorageUri::Path("ab:c")),
            ("C:/ha", StorageUri::Path("C:/ha")),
            ("1x://a", StorageUri::Path("1x://a")),
            ("file:///var/ha", StorageUri::File("///var/ha")),
            ("FILE:/var/ha", StorageUri::File("/var/ha")),
            ("memory:", StorageUri::Memory),
            ("memory:x", StorageUri::Memory),
        ] {
            assert_eq!(StorageUri::parse(text).unwrap(), expected, "{text:?}");
        }
    }

    #[test]
    fn no_spelling_of_a_remote_store_is_a_local_directory() {
        for text in [
            "s3://bucket/x",
            "s3a://bucket/x",
            "HDFS:///flink",
            "abfss://c@a/x",
            "gs://bucket",
        ] {
            let StorageUri::Remote(_) = StorageUri::parse(text).unwrap() else {
                panic!("{text}");
            };
            assert!(!StorageUri::parse(text).unwrap().is_local());
            assert!(check(&text.to_owned()).is_ok());
        }
        for text in ["s3:/bucket/x", "s3:bucket", "hdfs:/flink/ha", "hdfs:flink"] {
            let error = StorageUri::parse(text).unwrap_err();
            assert!(error.message().contains("//"), "{error}");
        }
        assert!(!StorageUri::Memory.is_local());
        for text in ["ftp://x/y", "ftp:/x", "ftp:"] {
            let error = StorageUri::parse(text).unwrap_err();
            assert!(error.message().contains("not known"), "{error}");
        }
        let error = StorageUri::parse("viewfs://me:hidden@x/y").unwrap_err();
        assert!(error.message().contains("not built"), "{error}");
        assert!(!format!("{error} {error:?}").contains("hidden"), "{error}");
        for text in ["", "  ", "/a\0b"] {
            assert!(StorageUri::parse(text).is_err(), "{text:?}");
        }
    }
}
