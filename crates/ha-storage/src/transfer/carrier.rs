use std::sync::Arc;

use bytes::Bytes;
use ha_core::error::{Error, ErrorKind, Result};
use sha2::{Digest as _, Sha256};

use super::{CarriedFile, ContentCheck};
use crate::blobs::StoredReader;
use crate::folder::{Creation, DurableFolder, RelativePath, Upload};
use crate::results::FileSystemJobResultStore;
use crate::storage::{HaStorage, corrupt};

/// Reads and creates the files of one cluster as they are. At most a few MiB of one are in memory.
///
/// Nothing here is fenced, and nothing is overwritten: what publishes a file is its pointer (design §8).
pub struct Carrier {
    storage: Arc<HaStorage>,
    results: Arc<FileSystemJobResultStore>,
}

/// A file, read piece by piece.
pub struct CarriedReader<'a>(StoredReader<'a>);

/// A file on its way into the storage: nothing is visible until it is whole.
pub struct CarriedWriter<'a> {
    carrier: &'a Carrier,
    file: &'a CarriedFile,
    upload: Upload,
    check: ContentCheck,
    hash: Sha256,
}

impl Carrier {
    /// The files of a storage, and the results that are kept beside it.
    pub const fn new(storage: Arc<HaStorage>, results: Arc<FileSystemJobResultStore>) -> Self {
        Self { storage, results }
    }

    /// Opens a file for reading; `None` when it is missing.
    ///
    /// # Errors
    /// `Corrupt` for what is no regular file; `Denied`, `Unavailable`.
    pub async fn read<'a>(&'a self, file: &'a CarriedFile) -> Result<Option<CarriedReader<'a>>> {
        let opened = StoredReader::open(self.folder(file), file.path()).await?;
        Ok(opened.map(CarriedReader))
    }

    /// Begins to create a file.
    ///
    /// # Errors
    /// `Denied`, `Unavailable`: nothing is visible.
    pub async fn create<'a>(&'a self, file: &'a CarriedFile) -> Result<CarriedWriter<'a>> {
        Ok(CarriedWriter {
            carrier: self,
            file,
            upload: self.folder(file).upload(file.path().clone()).await?,
            check: ContentCheck::of(file),
            hash: Sha256::new(),
        })
    }

    /// Where a file is, or would be; for people.
    pub fn place(&self, file: &CarriedFile) -> String {
        self.folder(file).display(file.path())
    }

    /// Deletes what is under temporary names in the folder of a file: uploads of a process that was killed. For one who
    /// has the cluster for himself. The folder of results is left alone, for other clusters may keep theirs there.
    ///
    /// # Errors
    /// The first failure; a repetition goes on.
    pub async fn sweep_beside(&self, file: &CarriedFile) -> Result<()> {
        if file.is_result() {
            return Ok(());
        }
        let folder = self.storage.folder();
        folder.sweep(&file.path().parent(), None).await.map(drop)
    }

    fn folder(&self, file: &CarriedFile) -> &DurableFolder {
        match file.is_result() {
            true => self.results.folder(),
            false => self.storage.folder(),
        }
    }
}

impl CarriedReader<'_> {
    /// How many bytes there are.
    pub const fn size(&self) -> u64 {
        self.0.size()
    }

    /// The next piece, `None` at the end.
    ///
    /// # Errors
    /// `NotFound` when the file was deleted meanwhile; `Denied`, `Unavailable`.
    pub async fn next(&mut self) -> Result<Option<Bytes>> {
        self.0.next().await
    }
}

impl CarriedWriter<'_> {
    /// Writes the next piece.
    ///
    /// # Errors
    /// Not applied: nothing is visible. The file cannot go on.
    pub async fn write(&mut self, piece: Bytes) -> Result<()> {
        self.check.update(&piece);
        self.hash.update(&piece);
        self.upload.write(piece).await
    }

    /// Puts the file in place, durably, when its content is that of the file and has this SHA-256. One that is there with
    /// the same content is success.
    ///
    /// # Errors
    /// `Corrupt` for other content, and `AlreadyExists` where the file is there with other content: nothing was put, and
    /// what is there was left as it is. `Denied`, `Unavailable`.
    pub async fn finish(mut self, sha256: &[u8; 32]) -> Result<()> {
        let found: [u8; 32] = self.hash.finalize().into();
        let mut checked = self.check.finish(&found);
        if checked.is_ok() && found != *sha256 {
            checked = Err("the content is another than before".to_owned());
        }
        let place = self.carrier.place(self.file);
        if let Err(reason) = checked {
            self.upload.abandon().await;
            return Err(corrupt(reason).at(place));
        }
        self.upload.flush().await?;
        if self.upload.finish().await? == Creation::Created {
            return Ok(());
        }
        match hash_of(self.carrier.folder(self.file), self.file.path()).await? {
            Some(there) if there == *sha256 => Ok(()),
            _ => Err(
                Error::new(ErrorKind::AlreadyExists, "there is a file with other content")
                    .at(place)
                    .not_applied(),
            ),
        }
    }

    /// Gives the file up; nothing becomes visible.
    pub async fn abandon(self) {
        self.upload.abandon().await;
    }
}

async fn hash_of(folder: &DurableFolder, path: &RelativePath) -> Result<Option<[u8; 32]>> {
    let Some(mut reader) = StoredReader::open(folder, path).await? else {
        return Ok(None);
    };
    while reader.next().await?.is_some() {}
    Ok(Some(reader.hash()))
}
