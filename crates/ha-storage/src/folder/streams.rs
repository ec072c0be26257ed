//! Large content, in pieces: memory does not grow with its size.

use std::ops::Range;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use ha_core::environment::BootInstant;
use ha_core::error::Result;
use object_store::{MultipartUpload, ObjectStoreExt as _, PutPayload};

use super::fault::Fault;
use super::{Creation, DurableFolder, EntryKind, RelativePath, is_temporary, local};
use crate::remote;

/// Begins the names of uploads that have not been put in place.
pub(crate) const UPLOAD_PREFIX: &str = ".upload-";

/// Bytes of a file that are read at once: little where that costs nothing, more where each is a request.
const LOCAL_READ: u64 = 256 << 10;
const OBJECT_READ: u64 = 1 << 20;
/// The least size of a part of an upload to a store of objects. S3 needs 5 MiB, and takes 10,000 parts: a blob there
/// has 48 GiB at most. To a local file each piece is written as it comes.
const OBJECT_PART: usize = 5 << 20;

/// From when on an upload counts as long. It must be far below any orphan age.
const LONG_UPLOAD: Duration = Duration::from_secs(60);

/// Content on its way to a file: nothing is visible until it is whole.
///
/// In a local folder it is written under a temporary name, and linked to its own. In a store of objects it goes to
/// its own name at once, in parts that are nothing before they are completed: a copy there could be of the whole
/// content.
pub(crate) struct Upload {
    folder: DurableFolder,
    target: RelativePath,
    /// Where the parts go.
    path: RelativePath,
    parts: Option<Box<dyn MultipartUpload>>,
    began: BootInstant,
    /// Pieces that are not a part yet. What is not more than one part needs none.
    pending: Vec<Bytes>,
}

/// What a write that has not been put in place left under a temporary name.
#[derive(Clone, Debug)]
pub(crate) struct TemporaryFile {
    folder: RelativePath,
    name: String,
}

impl TemporaryFile {
    /// Its name in its folder.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl DurableFolder {
    /// Begins an upload to `target`.
    pub(crate) async fn upload(&self, target: RelativePath) -> Result<Upload> {
        let path = if self.local().is_some() {
            let folder = target.parent();
            self.create_folder(&folder).await?;
            let name = format!("{UPLOAD_PREFIX}{}", self.environment().ids.uuid());
            folder.child(&name).unwrap_or_default()
        } else {
            target.clone()
        };
        Ok(Upload {
            folder: self.clone(),
            target,
            path,
            parts: None,
            began: self.environment().clock.now(),
            pending: Vec::new(),
        })
    }

    /// Deletes temporary files of a folder: those last modified at `until` or before, by the store's clock; all
    /// when `None`. Gives how many.
    pub(crate) async fn sweep(&self, folder: &RelativePath, until: Option<SystemTime>) -> Result<usize> {
        let mut swept = 0;
        for file in self.temporary_files(folder).await? {
            swept += usize::from(self.delete_temporary(&file, until).await?);
        }
        Ok(swept)
    }

    /// The temporary files of a folder.
    pub(crate) async fn temporary_files(&self, folder: &RelativePath) -> Result<Vec<TemporaryFile>> {
        let entries = self.list(folder).await?.unwrap_or_default();
        Ok(entries
            .into_iter()
            .filter(|entry| entry.kind == EntryKind::File && is_temporary(&entry.name))
            .map(|entry| TemporaryFile {
                folder: folder.clone(),
                name: entry.name,
            })
            .collect())
    }

    /// Deletes a temporary file, if it was last modified at `until` or before. `false`: it stays, or it was not
    /// there.
    pub(crate) async fn delete_temporary(
        &self,
        file: &TemporaryFile,
        until: Option<SystemTime>,
    ) -> Result<bool> {
        match file.folder.child(&file.name) {
            Some(path) => match self.stat(&path).await? {
                Some(info) if is_due(info.last_modified, until) => self.delete(&path).await,
                _ => Ok(false),
            },
            // The store's own temporary names are outside the grammar, and hidden by the store.
            None => self.sweep_hidden(&file.folder, &file.name, until).await,
        }
    }

    /// Deletes a file that a listing showed, temporary or not. `false`: it was not there.
    pub(crate) async fn delete_entry(&self, folder: &RelativePath, name: &str) -> Result<bool> {
        match folder.child(name) {
            Some(path) => self.delete(&path).await,
            None => self.sweep_hidden(folder, name, None).await,
        }
    }

    async fn sweep_hidden(
        &self,
        folder: &RelativePath,
        name: &str,
        until: Option<SystemTime>,
    ) -> Result<bool> {
        let Some(path) = self.local_path_of(folder) else {
            return Ok(false);
        };
        // Like every other operation: no symbolic link is followed, wherever it was put since the listing.
        match self.guard(folder, true).await {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(false),
            Err(fault) => return Err(fault.into_error("delete the temporary file", &self.display(folder))),
        }
        let path = path.join(name);
        let deleted = local::blocking(move || {
            let metadata = std::fs::symlink_metadata(&path)?;
            if !metadata.is_file() || !is_due(metadata.modified()?, until) {
                return Ok(false);
            }
            std::fs::remove_file(&path).map(|()| true)
        });
        match deleted.await {
            Ok(deleted) => Ok(deleted),
            Err(fault) if fault.is_not_found() => Ok(false),
            Err(fault) => {
                let place = format!("{}/{name}", self.display(folder));
                Err(fault.into_error("delete the temporary file", &place))
            }
        }
    }

    /// Gives a whole local file its name.
    async fn place(&self, path: &RelativePath, target: &RelativePath) -> Result<Creation> {
        let (from, to) = (self.key(path), self.key(target));
        let placed = match self.guard(target, false).await {
            Ok(_) => self
                .store
                .copy_if_not_exists(&from, &to)
                .await
                .map_err(Fault::from),
            Err(fault) => Err(fault),
        };
        if let Err(error) = self.delete(path).await {
            tracing::debug!(%error, "a finished upload stays under its temporary name until the next sweep");
        }
        match placed {
            Ok(()) => Ok(Creation::Created),
            Err(fault) if fault.is_already_exists() => Ok(Creation::Exists),
            Err(fault) => Err(fault.into_error("put the file in place", &self.display(target))),
        }
    }

    /// Leaves a temporary file in a folder, for the next sweep. S3 dates what was uploaded in parts by the *beginning* of
    /// its upload: it would be old at once, and its folder seem to be forgotten.
    async fn leave_sign(&self, folder: &RelativePath) -> Result<()> {
        let name = format!("{UPLOAD_PREFIX}{}", self.environment().ids.uuid());
        let sign = folder.child(&name).unwrap_or_default();
        let left = self.create(&sign, Bytes::from_static(b"an upload ended\n"));
        left.await.map(drop).map_err(ha_core::Error::not_applied)
    }

    /// How much of a file is to be read at once where it is streamed.
    pub(crate) fn read_size(&self) -> u64 {
        match self.local() {
            Some(_) => LOCAL_READ,
            None => OBJECT_READ,
        }
    }

    /// Reads a part of a file, `None` when it is missing.
    pub(crate) async fn read_range(&self, path: &RelativePath, range: Range<u64>) -> Result<Option<Bytes>> {
        self.retrying("read the file", path, || async {
            self.guard(path, false).await?;
            Ok(self.store.get_range(&self.key(path), range.clone()).await?)
        })
        .await
    }
}

impl Upload {
    /// Writes the next piece; pieces are of one size but for the last.
    ///
    /// # Errors
    /// Not applied: nothing is visible yet. The upload cannot go on.
    pub(crate) async fn write(&mut self, piece: Bytes) -> Result<()> {
        let is_local = self.folder.local().is_some();
        let pending: usize = self.pending.iter().map(Bytes::len).sum();
        if pending >= if is_local { 1 } else { OBJECT_PART } {
            self.put_pending().await?;
        }
        self.pending.push(piece);
        Ok(())
    }

    async fn begin(&mut self) -> Result<()> {
        let options = remote::upload_options(self.folder.environment());
        let key = self.folder.key(&self.path);
        match self.folder.store.put_multipart_opts(&key, options).await {
            Ok(parts) => {
                self.parts = Some(parts);
                Ok(())
            }
            Err(error) => Err(self.error(error).not_applied()),
        }
    }

    /// Writes what is pending as a part.
    async fn put_pending(&mut self) -> Result<()> {
        if self.parts.is_none() {
            self.begin().await?;
        }
        let Some(parts) = &mut self.parts else {
            return Ok(());
        };
        let part = PutPayload::from_iter(self.pending.drain(..));
        let written = parts.put_part(part).await;
        written.map_err(|error| self.error(error).not_applied())
    }

    /// The content is complete: nothing of it is left to be written by [`Upload::finish`], unless it is small.
    ///
    /// # Errors
    /// As [`Upload::write`].
    pub(crate) async fn flush(&mut self) -> Result<()> {
        if self.parts.is_none() {
            return Ok(());
        }
        self.put_pending().await?;
        let clock = &self.folder.environment().clock;
        let took = clock.now().saturating_since(self.began);
        match self.folder.local() {
            None if took >= LONG_UPLOAD => self.folder.leave_sign(&self.target.parent()).await,
            _ => Ok(()),
        }
    }

    /// Gives the upload up; nothing becomes visible.
    pub(crate) async fn abandon(mut self) {
        if let Some(parts) = &mut self.parts
            && let Err(error) = parts.abort().await
        {
            tracing::debug!(upload = %self.path, %error, "an abandoned upload stays");
        }
    }

    /// Puts the content in place after [`Upload::flush`], whole and durable, unless the target is there. In a store of objects equal content
    /// may be put over it: the caller says what the target holds.
    pub(crate) async fn finish(mut self) -> Result<Creation> {
        let Some(parts) = &mut self.parts else {
            let content = PutPayload::from_iter(self.pending.drain(..));
            return self.folder.create(&self.target, content.into()).await;
        };
        if self.folder.local().is_none() && self.folder.stat(&self.target).await?.is_some() {
            self.abandon().await;
            return Ok(Creation::Exists);
        }
        if let Err(error) = parts.complete().await {
            let error = self.error(error);
            return Err(match self.folder.is_remote() {
                true => error,
                false => error.not_applied(),
            });
        }
        match self.folder.local() {
            Some(_) => self.folder.place(&self.path, &self.target).await,
            None => Ok(Creation::Created),
        }
    }

    fn error(&self, error: object_store::Error) -> ha_core::Error {
        Fault::from(error).into_error("write the file", &self.folder.display(&self.path))
    }
}

fn is_due(last_modified: SystemTime, until: Option<SystemTime>) -> bool {
    until.is_none_or(|until| last_modified <= until)
}
