//! What a path may be. The client checks it before anything is sent.

use crate::client::ZkCode;

/// The path of the node above.
pub(super) fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        None | Some(("", _)) => "/",
        Some((parent, _)) => parent,
    }
}

/// The last segment.
pub(super) fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Refuses a path that no request carries.
pub(super) fn validate(path: &str) -> Result<(), ZkCode> {
    let Some(segments) = path.strip_prefix('/') else {
        return Err(ZkCode::BadArguments);
    };
    let is_forbidden = |character: char| {
        matches!(
            u32::from(character),
            0..=0x1f | 0x7f..=0x9f | 0xd800..=0xf8ff | 0xfff0..=0xffff
        )
    };
    let is_good = path == "/"
        || (!path.contains(is_forbidden) && segments.split('/').all(|segment| !segment.is_empty()))
            && segments
                .rsplit('/')
                .skip(1)
                .all(|segment| segment != "." && segment != "..");
    if is_good {
        Ok(())
    } else {
        Err(ZkCode::BadArguments)
    }
}

/// The same for the prefix of a sequential node, which may end with a slash.
pub(super) fn validate_prefix(path: &str) -> Result<(), ZkCode> {
    match path.strip_suffix('/') {
        None | Some("") => validate(path),
        Some(parent) => validate(parent),
    }
}
