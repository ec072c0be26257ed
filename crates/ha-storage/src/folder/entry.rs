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

/// Whether a name is that of a write that has not been put in place: the store's own (`name#1`), or an upload
/// of ours.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.starts_with(super::streams::UPLOAD_PREFIX)
        || name
            .rsplit_once('#')
            .is_some_and(|(_, digits)| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}
