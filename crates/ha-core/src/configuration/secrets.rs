//! Which values are never shown.

use super::options;

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
pub(super) fn masked<'a>(key: &str, text: &'a str) -> &'a str {
    if is_secret(key) { MASK } else { text }
}

/// The text in quotes as it may stand in an error, cut when it is long; or the mask.
pub(super) fn shown(key: &str, text: &str) -> String {
    /// Enough to find the place; an error is not the place for a whole file that was given as a value.
    const LONGEST: usize = 200;
    if is_secret(key) {
        return MASK.to_owned();
    }
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!(
            "{:?}… ({} bytes)",
            text.get(..cut).unwrap_or_default(),
            text.len()
        ),
        None => format!("{text:?}"),
    }
}
