//! Which values are never shown.

use super::{RemoteStore, options};

/// What stands in the place of a secret value; it has the same length for all.
pub(super) const MASK: &str = "******";

/// Parts of the keys whose values Flink hides, so that a key that is unknown here does not give its secret away.
const SENSITIVE_PARTS: [&str; 11] = [
    "password",
    "secret",
    "token",
    "apikey",
    "api-key",
    "access-key",
    "access.key",
    "service-key",
    "account.key",
    "auth",
    "jaas",
];

/// Whether the value of the key is secret: the option says so, or the key sounds like it.
pub(super) fn is_secret(key: &str) -> bool {
    match options::find(key) {
        Some(option) => option.is_secret(),
        None => {
            let key = key.to_ascii_lowercase();
            SENSITIVE_PARTS.iter().any(|part| key.contains(part))
        }
    }
}

/// The text, or the mask.
pub(super) fn masked(key: &str, text: &str) -> String {
    if is_secret(key) {
        MASK.to_owned()
    } else {
        without_credentials(text)
    }
}

/// The text with the credentials of a URI masked: all before the `@` of `scheme://…@…`, but for the container of
/// Azure's `abfss://container@account`, which is none.
pub(super) fn without_credentials(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else {
        return text.to_owned();
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, place) = rest.split_at(end);
    let Some((credentials, host)) = authority.rsplit_once('@') else {
        return text.to_owned();
    };
    let is_container = RemoteStore::of_scheme(&scheme.trim().to_ascii_lowercase())
        == Some(RemoteStore::Azure)
        && !credentials.contains([':', '@']);
    if is_container {
        return text.to_owned();
    }
    format!("{scheme}://{MASK}@{host}{place}")
}

/// The text in quotes as it may stand in an error, cut when it is long; or the mask.
pub(super) fn shown(key: &str, text: &str) -> String {
    /// Enough to find the place; an error is not the place for a whole file that was given as a value.
    const LONGEST: usize = 200;
    if is_secret(key) {
        return MASK.to_owned();
    }
    let text = without_credentials(text);
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!(
            "{:?}… ({} bytes)",
            text.get(..cut).unwrap_or_default(),
            text.len()
        ),
        None => format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_of_a_uri_are_masked_and_nothing_else() {
        for (text, shown) in [
            ("s3://id:hush@b/x", "s3://******@b/x"),
            ("s3://hush@b", "s3://******@b"),
            ("s3://id:hu@sh@b/x", "s3://******@b/x"),
            ("abfss://c:hush@a/x", "abfss://******@a/x"),
            ("abfss://c@a/x", "abfss://c@a/x"),
            ("s3://b/x@y", "s3://b/x@y"),
            ("me@example.org", "me@example.org"),
        ] {
            assert_eq!(without_credentials(text), shown);
        }
    }
}
