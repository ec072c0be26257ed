use std::io::Write as _;
use std::path::{Path, PathBuf};

use ha_core::Result;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use super::entry_writer::{EntryWriter, unwritten};
use super::format::{END, HEAD, Head, MANIFEST, ManifestLine, ZNODES, hex};
use super::local::local_error;
use super::reader::ArchiveReader;
use super::znode::Znode;

/// Writes an archive under a temporary name beside its own, which it gets when it is whole and durable. Readable by its
/// owner only.
pub(crate) struct ArchiveWriter {
    temporary: NamedTempFile,
    target: PathBuf,
    manifest: Vec<ManifestLine>,
    /// Of what is whole.
    length: u64,
}

/// An archive that was written.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    /// In bytes.
    pub(crate) size: u64,
    /// Of its manifest, in hexadecimal digits: it names the content of the archive.
    pub(crate) sha256: String,
}

impl ArchiveWriter {
    /// Begins the archive `target`.
    ///
    /// # Errors
    /// `AlreadyExists` when there is a file; what the file system says.
    pub(crate) fn create(target: &Path, head: &Head) -> Result<Self> {
        let refuse = |error| local_error("the archive cannot be made", target, error);
        // Said before anything is read; decided when the file gets its name.
        if target.symlink_metadata().is_ok() {
            return Err(refuse(std::io::ErrorKind::AlreadyExists.into()));
        }
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let temporary = tempfile::Builder::new()
            .prefix(".hactl-export-")
            .suffix(".part")
            .tempfile_in(folder)
            .map_err(refuse)?;
        let mut writer = Self {
            temporary,
            target: target.to_owned(),
            manifest: Vec::new(),
            length: 0,
        };
        writer.add_lines(HEAD, [line_of(head)])?;
        Ok(writer)
    }

    /// Begins an entry.
    ///
    /// # Errors
    /// What the file system says.
    pub(crate) fn entry(&mut self, name: String) -> Result<EntryWriter<'_>> {
        EntryWriter::begin(
            self.temporary.as_file_mut(),
            &self.target,
            &mut self.manifest,
            &mut self.length,
            name,
        )
    }

    /// Adds the znodes and the manifest, reads all of it once, and gives the archive its name.
    ///
    /// # Errors
    /// `Corrupt` when it is not what was written; `AlreadyExists` when there is a file of that name; what the file
    /// system says.
    pub(crate) fn finish(mut self, znodes: Option<&[Znode]>) -> Result<Written> {
        let sha256 = self.seal(znodes)?;
        // What import would refuse is no archive: found out now, while there is something to export.
        ArchiveReader::open(self.temporary.path())?.verify()?;
        let size = self.length + END;
        self.put_in_place()?;
        Ok(Written { size, sha256 })
    }

    /// Nothing follows. Gives the digest of the manifest.
    pub(super) fn seal(&mut self, znodes: Option<&[Znode]>) -> Result<String> {
        if let Some(znodes) = znodes {
            self.add_lines(ZNODES, znodes.iter().map(Znode::encode))?;
        }
        let manifest = self.manifest.clone();
        self.add_lines(MANIFEST, manifest.iter().map(line_of))?;
        let sha256 = self.manifest.pop().map(|line| line.sha256).unwrap_or_default();
        let file = self.temporary.as_file_mut();
        let end = file.write_all(&[0; END as usize]).and_then(|()| file.sync_all());
        end.map_err(|error| unwritten(&self.target, error))?;
        Ok(sha256)
    }

    /// Never over a file that is there.
    pub(super) fn put_in_place(self) -> Result<()> {
        if let Err(refused) = self.temporary.persist_noclobber(&self.target) {
            return Err(local_error(
                "the archive cannot be put in place",
                &self.target,
                refused.error,
            ));
        }
        sync_folder_of(&self.target).map_err(|error| unwritten(&self.target, error))
    }

    fn add_lines(&mut self, name: &str, lines: impl IntoIterator<Item = Result<Vec<u8>>>) -> Result<()> {
        let mut entry = self.entry(name.to_owned())?;
        for line in lines {
            let mut line = line?;
            line.push(b'\n');
            entry.write(&line)?;
        }
        entry.finish()
    }
}

fn line_of<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    serde_json::to_vec(value)
        .map_err(|error| ha_core::Error::invalid("it cannot be written as JSON").caused_by(error))
}

fn sync_folder_of(path: &Path) -> std::io::Result<()> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => std::fs::File::open(folder)?.sync_all(),
        _ => std::fs::File::open(".")?.sync_all(),
    }
}

/// The digest of a manifest, by which an archive is named.
pub(super) fn digest_of(manifest: Sha256) -> String {
    hex(&manifest.finalize().into())
}
