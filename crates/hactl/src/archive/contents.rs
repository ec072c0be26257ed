use std::collections::{BTreeMap, HashSet};

use ha_storage::{CarriedFile, CarriedKind};

use super::format::Head;
use super::znode::Znode;

/// A file in an archive, verified.
#[derive(Clone, Debug)]
pub(crate) struct ArchivedFile {
    pub(crate) file: CarriedFile,
    pub(crate) size: u64,
    pub(crate) sha256: [u8; 32],
    pub(super) crc32c: u32,
    /// Where its content begins in the archive.
    pub(super) offset: u64,
}

/// What an archive holds, every entry verified.
#[derive(Clone, Debug)]
pub(crate) struct Contents {
    pub(crate) head: Head,
    /// By name.
    pub(crate) files: BTreeMap<String, ArchivedFile>,
    pub(crate) znodes: Vec<Znode>,
    /// Of the manifest, in hexadecimal digits: it names the content.
    pub(crate) sha256: String,
}

impl Contents {
    /// Of a cluster with pointers: that each has its file, and none is there twice; drops the state files that no pointer names, which are
    /// those of jobs that changed while they were exported. The error is the reason, for people.
    pub(super) fn check_pointers(&mut self) -> Result<(), String> {
        let mut seen = HashSet::new();
        let mut named = HashSet::new();
        for znode in &self.znodes {
            if !seen.insert(znode.name()) {
                return Err(format!("it holds {} twice", znode.name()));
            }
            let Some(pointed) = znode.file() else {
                continue;
            };
            let file = CarriedFile::in_folder(&pointed.path);
            let name = file.map(|file| file.to_string()).unwrap_or_default();
            let Some(found) = self.files.get(&name) else {
                return Err(format!(
                    "the file {:?} of {} is missing in it",
                    pointed.path,
                    znode.name()
                ));
            };
            if found.size != pointed.size || found.crc32c != pointed.crc32c {
                return Err(format!(
                    "the file {:?} is not the one that the pointer of {} means",
                    pointed.path,
                    znode.name()
                ));
            }
            named.insert(name);
        }
        self.files.retain(|name, found| {
            !matches!(found.file.kind(), CarriedKind::State(_)) || named.contains(name)
        });
        Ok(())
    }
}
