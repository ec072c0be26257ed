use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;

use ha_core::{Error, Result};
use sha2::{Digest as _, Sha256};
use tar::{EntryType, Header};

use super::format::{BLOCK, ManifestLine, hex, padded};
use super::local::local_error;

/// An entry on its way into the archive. Its header is written when its size is known; until then it can be taken back.
pub(crate) struct EntryWriter<'a> {
    pub(super) file: &'a mut File,
    pub(super) path: &'a Path,
    pub(super) manifest: &'a mut Vec<ManifestLine>,
    pub(super) length: &'a mut u64,
    pub(super) name: String,
    size: u64,
    hash: Sha256,
}

impl<'a> EntryWriter<'a> {
    pub(super) fn begin(
        file: &'a mut File,
        path: &'a Path,
        manifest: &'a mut Vec<ManifestLine>,
        length: &'a mut u64,
        name: String,
    ) -> Result<Self> {
        let entry = Self {
            file,
            path,
            manifest,
            length,
            name,
            size: 0,
            hash: Sha256::new(),
        };
        let room = [0; BLOCK as usize];
        entry
            .file
            .write_all(&room)
            .map_err(|error| unwritten(entry.path, error))?;
        Ok(entry)
    }

    /// Writes the next piece.
    ///
    /// # Errors
    /// What the file system says.
    pub(crate) fn write(&mut self, piece: &[u8]) -> Result<()> {
        self.size += piece.len() as u64;
        self.hash.update(piece);
        self.file
            .write_all(piece)
            .map_err(|error| unwritten(self.path, error))
    }

    /// The digest of what was written until now.
    pub(crate) fn sha256(&self) -> [u8; 32] {
        self.hash.clone().finalize().into()
    }

    /// The entry is whole.
    ///
    /// # Errors
    /// What the file system says.
    pub(crate) fn finish(self) -> Result<()> {
        let mut header = Header::new_ustar();
        header
            .set_path(&self.name)
            .map_err(|error| unwritten(self.path, error))?;
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o600);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        header.set_size(self.size);
        header.set_cksum();
        let start = *self.length;
        let end = start + BLOCK + padded(self.size);
        let padding = usize::try_from(padded(self.size) - self.size).unwrap_or_default();
        let mut place = || {
            self.file.write_all(&[0; BLOCK as usize][..padding])?;
            self.file.seek(SeekFrom::Start(start))?;
            self.file.write_all(header.as_bytes())?;
            self.file.seek(SeekFrom::Start(end))
        };
        place().map_err(|error| unwritten(self.path, error))?;
        *self.length = end;
        let sha256 = hex(&self.hash.finalize().into());
        self.manifest.push(ManifestLine {
            name: self.name,
            size: self.size,
            sha256,
        });
        Ok(())
    }

    /// As if it had never been begun.
    ///
    /// # Errors
    /// What the file system says.
    pub(crate) fn take_back(self) -> Result<()> {
        let cut = || {
            self.file.set_len(*self.length)?;
            self.file.seek(SeekFrom::Start(*self.length))
        };
        let mut cut = cut;
        cut().map(drop).map_err(|error| unwritten(self.path, error))
    }
}

pub(super) fn unwritten(path: &Path, error: std::io::Error) -> Error {
    local_error("the archive cannot be written", path, error)
}
