use crate::error::{Error, Result};

/// Longest cluster id and component name, in bytes (design §6).
const MAX_LENGTH: usize = 200;

/// One path segment of 1 to 200 letters, digits, `.`, `_`, `-`, and not `.` or `..`.
pub(super) fn check(what: &str, name: &str) -> Result<()> {
    if name.is_empty() || name.len() > MAX_LENGTH {
        return Err(Error::invalid(format!(
            "{what} must have 1 to {MAX_LENGTH} characters, it has {}",
            name.len()
        )));
    }
    if let Some(bad) = name
        .chars()
        .find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')))
    {
        return Err(Error::invalid(format!(
            "{what} {name:?} has the character {bad:?}; letters, digits, '.', '_' and '-' are allowed"
        )));
    }
    if name == "." || name == ".." {
        return Err(Error::invalid(format!("{what} must not be {name:?}")));
    }
    Ok(())
}
