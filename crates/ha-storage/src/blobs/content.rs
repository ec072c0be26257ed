//! Content in pieces: hashing and copying without holding it whole.

use std::io;
use std::path::{Path, PathBuf};

use bytes::{Bytes, BytesMut};
use ha_core::error::{Error, ErrorKind, Result};
use sha2::{Digest as _, Sha256};
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use uuid::Uuid;

use crate::folder::{DurableFolder, Fault, RelativePath, local};

/// Bytes of a local file that are read at once. Allocators keep what they were given back, for each thread that had
/// it: small pieces keep that small.
const PIECE: usize = 256 << 10;

/// A local file, read piece by piece and hashed on the way.
pub(super) struct LocalReader {
    file: File,
    path: PathBuf,
    hash: Sha256,
}

impl LocalReader {
    pub(super) async fn open(path: &Path) -> Result<Self> {
        let explain = |error: io::Error| local_error("open the local file", path, error);
        let metadata = tokio::fs::metadata(path).await.map_err(explain)?;
        if !metadata.is_file() {
            return Err(Error::invalid("the local file is not a regular file").at(path.display().to_string()));
        }
        Ok(Self {
            file: File::open(path).await.map_err(explain)?,
            path: path.to_path_buf(),
            hash: Sha256::new(),
        })
    }

    /// The next piece, `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>> {
        let mut piece = BytesMut::with_capacity(PIECE.min(self.remaining_hint().await));
        while piece.len() < PIECE {
            let limit = (PIECE - piece.len()) as u64;
            let read = (&mut self.file).take(limit).read_buf(&mut piece).await;
            match read {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => return Err(local_error("read the local file", &self.path, error)),
            }
        }
        let piece = piece.freeze();
        self.hash = hashed(std::mem::take(&mut self.hash), &piece).await?;
        Ok((!piece.is_empty()).then_some(piece))
    }

    /// Small files need no large buffer.
    async fn remaining_hint(&self) -> usize {
        let length = self.file.metadata().await.map_or(0, |metadata| metadata.len());
        usize::try_from(length).unwrap_or(usize::MAX).saturating_add(1)
    }

    /// The hash of what was read.
    pub(super) fn hash(self) -> [u8; 32] {
        self.hash.finalize().into()
    }
}

/// A stored file, read piece by piece and hashed on the way.
pub(crate) struct StoredReader<'a> {
    folder: &'a DurableFolder,
    path: &'a RelativePath,
    size: u64,
    offset: u64,
    hash: Sha256,
}

impl<'a> StoredReader<'a> {
    /// `None` when the file is missing.
    pub(crate) async fn open(folder: &'a DurableFolder, path: &'a RelativePath) -> Result<Option<Self>> {
        Ok(folder.stat(path).await?.map(|info| Self {
            folder,
            path,
            size: info.size,
            offset: 0,
            hash: Sha256::new(),
        }))
    }

    /// How many bytes there were when it was opened.
    pub(crate) const fn size(&self) -> u64 {
        self.size
    }

    /// The next piece, `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>> {
        if self.offset >= self.size {
            return Ok(None);
        }
        let end = self.size.min(self.offset + self.folder.read_size());
        let Some(piece) = self.folder.read_range(self.path, self.offset..end).await? else {
            return Err(
                Error::new(ErrorKind::NotFound, "the file was deleted while it was read")
                    .at(self.folder.display(self.path))
                    .not_applied(),
            );
        };
        self.offset = end;
        self.hash = hashed(std::mem::take(&mut self.hash), &piece).await?;
        Ok(Some(piece))
    }

    /// The hash of what was read.
    pub(crate) fn hash(self) -> [u8; 32] {
        self.hash.finalize().into()
    }
}

/// Goes on with a hash, away from the workers of the runtime: a piece takes milliseconds.
async fn hashed(mut hash: Sha256, piece: &Bytes) -> Result<Sha256> {
    let piece = piece.clone();
    local::blocking(move || -> Result<_, Fault> {
        hash.update(&piece);
        Ok(hash)
    })
    .await
    .map_err(|fault| fault.into_error("hash the content", "the content"))
}

/// A local file that appears whole or not at all: it is written beside its place under a name of its own.
pub(super) struct LocalWriter {
    file: Option<File>,
    temporary: PathBuf,
    target: PathBuf,
}

impl LocalWriter {
    pub(super) async fn create(target: &Path, unique: Uuid) -> Result<Self> {
        let Some(name) = target.file_name() else {
            return Err(Error::invalid("the local path names no file").at(target.display().to_string()));
        };
        let mut temporary = std::ffi::OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{unique}.part"));
        let temporary = target.with_file_name(temporary);
        let file = File::create_new(&temporary)
            .await
            .map_err(|error| local_error("write the local file", &temporary, error))?;
        Ok(Self {
            file: Some(file),
            temporary,
            target: target.to_path_buf(),
        })
    }

    pub(super) async fn write(&mut self, piece: &[u8]) -> Result<()> {
        let written = match &mut self.file {
            Some(file) => file.write_all(piece).await,
            None => Ok(()),
        };
        written.map_err(|error| local_error("write the local file", &self.temporary, error))
    }

    /// Puts the file in place.
    pub(super) async fn finish(mut self) -> Result<()> {
        let place = async {
            if let Some(mut file) = self.file.take() {
                file.flush().await?;
                file.sync_all().await?;
            }
            tokio::fs::rename(&self.temporary, &self.target).await
        };
        let placed = place.await;
        match placed {
            Ok(()) => {
                self.temporary = PathBuf::new();
                Ok(())
            }
            Err(error) => Err(local_error("put the local file in place", &self.target, error)),
        }
    }
}

impl Drop for LocalWriter {
    /// Removes what was not put in place, also when the call was dropped.
    fn drop(&mut self) {
        if !self.temporary.as_os_str().is_empty() {
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}

fn local_error(verb: &str, path: &Path, error: io::Error) -> Error {
    Fault::from(error)
        .into_error(verb, &path.display().to_string())
        .advise("check the path and the rights of the local file")
        .not_applied()
}
