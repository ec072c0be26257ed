//! The part of a storage URI that the configuration judges: its scheme.

/// The schemes of HA storage (design §7); `memory` is for tests.
const SCHEMES: [&str; 6] = ["file", "s3", "gs", "az", "hdfs", "memory"];

/// The scheme of a URI, in lower case; `None` for a path.
pub(in crate::configuration) fn scheme(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once(':')?;
    let well_formed = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    // `a:b` is a relative path with a colon in a name, `a:/b` and `a://b` are URIs.
    (well_formed && (rest.is_empty() || rest.starts_with('/'))).then(|| scheme.to_ascii_lowercase())
}

/// Whether it is a directory of this machine's file system.
pub(in crate::configuration) fn is_local(text: &str) -> bool {
    scheme(text).is_none_or(|scheme| scheme == "file")
}

/// Whether it is memory, which ends with the process.
pub(in crate::configuration) fn is_memory(text: &str) -> bool {
    scheme(text).is_some_and(|scheme| scheme == "memory")
}

/// A path, or a URI with a scheme that is known.
#[expect(clippy::ptr_arg, reason = "an option's check takes the option's type")]
pub(super) fn check(text: &String) -> Result<(), String> {
    if text.contains('\0') {
        return Err("has a NUL character".to_owned());
    }
    match scheme(text) {
        Some(scheme) if !SCHEMES.contains(&scheme.as_str()) => Err(format!(
            "has the unknown scheme {scheme:?}; the schemes are {}",
            SCHEMES.join(", ")
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_is_told_from_a_path() {
        for (text, expected) in [
            ("/var/ha", None),
            ("var/ha", None),
            ("./a:b", None),
            ("a:b", None),
            ("file:///var/ha", Some("file")),
            ("FILE:/var/ha", Some("file")),
            ("s3://bucket/ha", Some("s3")),
            ("memory:", Some("memory")),
            ("1x://a", None),
            ("", None),
        ] {
            assert_eq!(scheme(text).as_deref(), expected, "{text:?}");
        }
        assert!(is_local("/a") && is_local("file:/a") && !is_local("memory:/") && is_memory("memory:///"));
    }

    #[test]
    fn an_unknown_scheme_is_refused() {
        assert!(check(&"ftp://a".to_owned()).is_err());
        assert!(check(&"/a\0b".to_owned()).is_err());
        assert_eq!(check(&"hdfs://a/b".to_owned()), Ok(()));
    }
}
