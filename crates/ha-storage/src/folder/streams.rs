//! Large content, in pieces: memory does not grow with its size.

use std::ops::Range;
use std::time::SystemTime;

use bytes::Bytes;
use ha_core::error::Result;
use object_store::{MultipartUpload, ObjectStoreExt as _, PutPayload};

use super::fault::Fault;
use super::{Creation, DurableFolder, EntryKind, RelativePath, is_temporary, local};

/// Begins the names of uploads that have not been put in place.
pub(crate) const UPLOAD_PREFIX: &str = ".upload-";

/// Content on its way to a file, under a temporary name until it is whole.
pub(crate) struct Upload {
    folder: DurableFolder,
    temporary: RelativePath,
    parts: Box<dyn MultipartUpload>,
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
    /// Begins an upload to a file of `folder`.
    pub(crate) async fn upload(&self, folder: &RelativePath) -> Result<Upload> {
        let name = format!("{UPLOAD_PREFIX}{}", self.environment().ids.uuid());
        let temporary = folder.child(&name).unwrap_or_default();
        self.create_folder(folder).await?;
        match self.store.put_multipart(&self.key(&temporary)).await {
            Ok(parts) => Ok(Upload {
                folder: self.clone(),
                temporary,
                parts,
            }),
            Err(error) => {
                let place = self.display(&temporary);
                Err(Fault::from(error)
                    .into_error("write the file", &place)
                    .not_applied())
            }
        }
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
    /// Writes the next piece.
    ///
    /// # Errors
    /// Not applied: nothing is visible yet. The upload cannot go on.
    pub(crate) async fn write(&mut self, piece: Bytes) -> Result<()> {
        self.parts
            .put_part(PutPayload::from(piece))
            .await
            .map_err(|error| self.error(error).not_applied())
    }

    /// Gives the upload up; nothing becomes visible.
    pub(crate) async fn abandon(mut self) {
        if let Err(error) = self.parts.abort().await {
            tracing::debug!(upload = %self.temporary, %error, "an abandoned upload stays until the next sweep");
        }
    }

    /// Puts the content in place, whole and durable, unless `target` is there.
    pub(crate) async fn finish(mut self, target: &RelativePath) -> Result<Creation> {
        if let Err(error) = self.parts.complete().await {
            return Err(self.error(error).not_applied());
        }
        let (from, to) = (self.folder.key(&self.temporary), self.folder.key(target));
        let placed = match self.folder.guard(target, false).await {
            Ok(_) => self
                .folder
                .store
                .copy_if_not_exists(&from, &to)
                .await
                .map_err(Fault::from),
            Err(fault) => Err(fault),
        };
        if let Err(error) = self.folder.delete(&self.temporary).await {
            tracing::debug!(%error, "a finished upload stays under its temporary name until the next sweep");
        }
        match placed {
            Ok(()) => Ok(Creation::Created),
            Err(fault) if fault.is_already_exists() => Ok(Creation::Exists),
            Err(fault) => Err(fault.into_error("put the file in place", &self.folder.display(target))),
        }
    }

    fn error(&self, error: object_store::Error) -> ha_core::Error {
        Fault::from(error).into_error("write the file", &self.folder.display(&self.temporary))
    }
}

fn is_due(last_modified: SystemTime, until: Option<SystemTime>) -> bool {
    until.is_none_or(|until| last_modified <= until)
}
