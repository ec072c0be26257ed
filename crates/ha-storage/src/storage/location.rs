use std::path::PathBuf;

use ha_core::error::{Error, Result};

/// Schemes that a cargo feature of `ha-services` adds, and that feature.
const OPTIONAL: [(&str, &str); 6] = [
    ("s3", "s3"),
    ("s3a", "s3"),
    ("gs", "gcs"),
    ("az", "azure"),
    ("abfss", "azure"),
    ("hdfs", "hdfs"),
];

/// Where a storage directory is: what a URI or a path of a user means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// A local directory, absolute.
    Local(PathBuf),
    /// The memory of this process.
    Memory,
}

impl Location {
    /// Reads a path, `file:` URI or `memory:` URI. Spaces, `#` and `%` stand for themselves in a path; in a URI
    /// `%XX` is decoded. Repeated and trailing slashes mean nothing.
    ///
    /// # Errors
    /// `Invalid`, with the feature that a scheme needs.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Error::invalid("the storage directory is empty"));
        }
        if text.contains('\0') {
            return Err(Error::invalid(
                "the storage directory has a zero byte in its name",
            ));
        }
        let Some((scheme, rest)) = split_scheme(text) else {
            return Self::local(text.into());
        };
        match scheme.to_ascii_lowercase().as_str() {
            "file" => Self::local(file_path(text, rest)?),
            "memory" => Ok(Self::Memory),
            other => Err(match OPTIONAL.iter().find(|(scheme, _)| *scheme == other) {
                Some((_, feature)) => Error::invalid(format!(
                    "the scheme {other} of the storage directory is not compiled in"
                ))
                .advise(format!("build with the cargo feature {feature}, or use file")),
                None => Error::invalid(format!(
                    "the scheme {other} of the storage directory is not known; file, s3, gs, az and hdfs are"
                )),
            }
            .at(text)),
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

/// Splits `scheme:rest`; `None` for a path.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-'));
    let is_known = ["file", "memory"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known));
    (is_scheme && (is_known || rest.starts_with("//"))).then_some((scheme, rest))
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
        assert!(refused("s3://bucket/x").advice().contains("feature s3"));
        assert!(refused("gs://bucket").advice().contains("feature gcs"));
        assert!(refused("ftp://x/y").message().contains("not known"));
        assert!(refused("file://server/x").message().contains("host"));
        assert!(refused("file:x").message().contains("absolute"));
        for bad in ["", "  ", "/a\0b", "file:///%ff"] {
            assert!(Location::parse(bad).is_err(), "{bad:?}");
        }
    }
}
