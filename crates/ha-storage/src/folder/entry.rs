use std::time::SystemTime;

/// What an entry of a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    Folder,
    /// A symbolic link or a special file; never one of ours.
    Other,
}

/// An entry of a folder. The name may be foreign: anything that the file system allows.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) kind: EntryKind,
    /// By the store's own clock, where the listing tells it.
    pub(crate) last_modified: Option<SystemTime>,
}

/// What the store knows of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileInfo {
    /// In bytes.
    pub(crate) size: u64,
    /// By the store's own clock; compare it only with other times of this store.
    pub(crate) last_modified: SystemTime,
    /// Differs whenever the path was given new content.
    pub(crate) version: String,
}

/// Tells a folder from another one that is made later at the same path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FolderBirth {
    pub(crate) inode: u64,
    pub(crate) created: Option<SystemTime>,
}

/// Whether a name is that of a write that has not been put in place: the local store's own (`name#1`), that of HDFS
/// (`.name.tmp.1`), or an upload of ours.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.starts_with(super::streams::UPLOAD_PREFIX) || target_of_temporary(name).is_some()
}

/// The name that a temporary file of a store is on the way to.
pub(crate) fn target_of_temporary(name: &str) -> Option<&str> {
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let local = name.rsplit_once('#').filter(|(_, digits)| is_number(digits));
    let hdfs = || {
        let (name, digits) = name.strip_prefix('.')?.rsplit_once(".tmp.")?;
        is_number(digits).then_some(name)
    };
    local.map(|(name, _)| name).or_else(hdfs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_names_are_told_from_others() {
        for (name, target) in [
            ("x.json#1", Some("x.json")),
            (".x.json.tmp.12", Some("x.json")),
            ("x#", None),
            ("x.tmp.1", None),
            (".x.tmp.", None),
            (".x.tmp.1a", None),
            ("x", None),
        ] {
            assert_eq!(target_of_temporary(name), target, "{name}");
            assert_eq!(is_temporary(name), target.is_some(), "{name}");
        }
        assert!(is_temporary(".upload-1"));
    }
}
