use std::path::PathBuf;

use ha_core::configuration::StorageUri;
use ha_core::error::{Error, Result};

use crate::remote;

/// Where a storage directory is: what a URI or a path of a user means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// A local directory, absolute.
    Local(PathBuf),
    /// The memory of this process.
    Memory,
    /// A store that several hosts reach: the URI in its one spelling.
    Remote(String),
}

impl Location {
    /// Reads a path, `file:` URI, `memory:` URI or the URI of a remote store that is built. Spaces, `#` and `%` stand for themselves in a path; in a URI
    /// `%XX` is decoded. Repeated and trailing slashes mean nothing.
    ///
    /// # Errors
    /// Those of [`StorageUri::parse`], and `Invalid` for a file URI that names a host or no absolute path.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        match StorageUri::parse(text)? {
            StorageUri::Path(path) => Self::local(path.into()),
            StorageUri::File(rest) => Self::local(file_path(text.trim(), rest)?),
            StorageUri::Memory => Ok(Self::Memory),
            StorageUri::Remote(remote) => {
                remote::check(remote)?;
                Ok(Self::Remote(remote.to_string()))
            }
        }
    }

    fn local(path: PathBuf) -> Result<Self> {
        match std::path::absolute(&path) {
            // Collecting the components drops repeated and trailing separators.
            Ok(absolute) => Ok(Self::Local(absolute.components().collect())),
            Err(error) => Err(Error::invalid("the storage directory has no absolute path")
                .at(path.display().to_string())
                .caused_by(error)),
        }
    }
}

/// The path of a `file:` URI: `file:/a`, `file:///a`, `file://localhost/a`.
fn file_path(text: &str, rest: &str) -> Result<PathBuf> {
    let path = match rest.strip_prefix("//") {
        Some(authority) => {
            let at = authority.find('/').unwrap_or(authority.len());
            let (host, path) = authority.split_at(at);
            if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
                return Err(
                    Error::invalid(format!("a file URI cannot name the host {host:?}"))
                        .at(text)
                        .advise("write file:///absolute/path"),
                );
            }
            path
        }
        None => rest,
    };
    if !path.starts_with('/') {
        return Err(Error::invalid("a file URI needs an absolute path")
            .at(text)
            .advise("write file:///absolute/path"));
    }
    let decoded = percent_decode(path.as_bytes());
    String::from_utf8(decoded).map(PathBuf::from).map_err(|error| {
        Error::invalid("the path of the file URI is not UTF-8")
            .at(text)
            .caused_by(error)
    })
}

/// Decodes `%XX`; a `%` that begins no such group stands for itself.
fn percent_decode(text: &[u8]) -> Vec<u8> {
    let digit = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        let group = (digit(tail.first()), digit(tail.get(1)));
        match (byte, group) {
            (b'%', (Some(high), Some(low))) => {
                decoded.push(u8::try_from(high * 16 + low).unwrap_or(byte));
                rest = tail.get(2..).unwrap_or_default();
            }
            _ => decoded.push(byte),
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_place_are_one_place() {
        let place = Location::Local("/a b/c".into());
        for text in [
            "/a b/c",
            "/a b/c/",
            "//a b//c//",
            "/a b/./c",
            "file:/a b/c",
            "file:///a%20b/c/",
            "file://localhost/a b/c",
            "FILE:////a b/c",
        ] {
            assert_eq!(Location::parse(text).unwrap(), place, "{text}");
        }
        assert_eq!(
            Location::parse("/a%20b#1").unwrap(),
            Location::Local("/a%20b#1".into())
        );
        assert_eq!(
            Location::parse("file:///a#1%25%zz").unwrap(),
            Location::Local("/a#1%%zz".into())
        );
        assert_eq!(Location::parse("memory:///").unwrap(), Location::Memory);
        let here = std::env::current_dir().unwrap();
        assert_eq!(
            Location::parse("x/y:z").unwrap(),
            Location::Local(here.join("x/y:z"))
        );
    }

    #[test]
    fn what_cannot_be_used_is_refused_with_the_way_out() {
        let refused = |text: &str| Location::parse(text).unwrap_err();
        assert!(refused("viewfs://x/y").message().contains("not built"));
        assert!(refused("file://server/x").message().contains("host"));
        assert!(refused("file:x").message().contains("absolute"));
        for bad in ["", "  ", "/a\0b", "file:///%ff"] {
            assert!(Location::parse(bad).is_err(), "{bad:?}");
        }
    }
}
