//! What the tests of this crate share.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use ha_core::environment::Environment;
use ha_core::ids::{ClusterId, JobId};
use object_store::memory::InMemory;
use object_store::path::Path as ObjectPath;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult,
};
use tempfile::TempDir;

use crate::HaStorage;
use crate::shared::lock;

pub(crate) fn job(number: u8) -> JobId {
    JobId::from_bytes([number; 16])
}

pub(crate) fn cluster() -> ClusterId {
    ClusterId::new("c1").unwrap()
}

/// A storage in a temporary directory, which goes with it.
pub(crate) struct LocalStorage {
    pub(crate) storage: Arc<HaStorage>,
    pub(crate) directory: TempDir,
}

impl LocalStorage {
    pub(crate) async fn new() -> Self {
        let directory = TempDir::new().unwrap();
        Self {
            storage: open(directory.path()).await,
            directory,
        }
    }

    /// The cluster's folder.
    pub(crate) fn folder(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join("c1")
    }

    /// All files below the storage directory, relative to it.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        collect(self.directory.path(), "", &mut files);
        files.sort();
        files
    }
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), &format!("{name}/"), files);
        } else {
            files.push(name);
        }
    }
}

pub(crate) async fn open(directory: &Path) -> Arc<HaStorage> {
    let environment = Environment::system();
    HaStorage::open(directory.to_str().unwrap(), &cluster(), &environment)
        .await
        .unwrap()
}

/// What goes wrong with the next operations of a [`FaultyStore`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Reads fail and touch nothing.
    ReadFails,
    /// Writes fail and touch nothing.
    WriteFails,
    /// Writes happen, and fail nevertheless.
    WriteHappensAndFails,
    /// Writes fail for want of space.
    Full,
    /// Listings never come back.
    ListHangs,
}

/// An object store in memory with trouble on demand.
#[derive(Debug, Default)]
pub(crate) struct FaultyStore {
    store: InMemory,
    trouble: Mutex<BTreeMap<u8, (Trouble, u32)>>,
}

impl FaultyStore {
    pub(crate) fn storage(self: &Arc<Self>) -> Arc<HaStorage> {
        HaStorage::on_object_store(
            Arc::clone(self) as _,
            "faulty:///",
            &cluster(),
            &Environment::system(),
        )
    }

    /// The next `times` operations that the trouble concerns.
    pub(crate) fn make(&self, trouble: Trouble, times: u32) {
        lock(&self.trouble).insert(trouble as u8, (trouble, times));
    }

    fn strikes(&self, wanted: Trouble) -> bool {
        let mut trouble = lock(&self.trouble);
        match trouble.get_mut(&(wanted as u8)) {
            Some((_, times)) if *times > 0 => {
                *times -= 1;
                true
            }
            _ => false,
        }
    }
}

fn failure(kind: std::io::ErrorKind) -> object_store::Error {
    object_store::Error::Generic {
        store: "FaultyStore",
        source: Box::new(std::io::Error::from(kind)),
    }
}

impl std::fmt::Display for FaultyStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FaultyStore")
    }
}

#[async_trait]
impl ObjectStore for FaultyStore {
    async fn put_opts(
        &self,
        location: &ObjectPath,
        payload: PutPayload,
        opts: PutOptions,
    ) -> object_store::Result<PutResult> {
        if self.strikes(Trouble::WriteFails) {
            return Err(failure(std::io::ErrorKind::TimedOut));
        }
        if self.strikes(Trouble::Full) {
            return Err(failure(std::io::ErrorKind::StorageFull));
        }
        let result = self.store.put_opts(location, payload, opts).await?;
        if self.strikes(Trouble::WriteHappensAndFails) {
            return Err(failure(std::io::ErrorKind::TimedOut));
        }
        Ok(result)
    }

    async fn put_multipart_opts(
        &self,
        location: &ObjectPath,
        opts: PutMultipartOptions,
    ) -> object_store::Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &ObjectPath, options: GetOptions) -> object_store::Result<GetResult> {
        if self.strikes(Trouble::ReadFails) {
            return Err(failure(std::io::ErrorKind::PermissionDenied));
        }
        self.store.get_opts(location, options).await
    }

    async fn get_ranges(
        &self,
        location: &ObjectPath,
        ranges: &[Range<u64>],
    ) -> object_store::Result<Vec<Bytes>> {
        self.store.get_ranges(location, ranges).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, object_store::Result<ObjectPath>>,
    ) -> BoxStream<'static, object_store::Result<ObjectPath>> {
        self.store.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&ObjectPath>) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        if self.strikes(Trouble::ListHangs) {
            return futures::stream::pending().boxed();
        }
        self.store.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&ObjectPath>) -> object_store::Result<ListResult> {
        if self.strikes(Trouble::ListHangs) {
            std::future::pending::<()>().await;
        }
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(
        &self,
        from: &ObjectPath,
        to: &ObjectPath,
        options: CopyOptions,
    ) -> object_store::Result<()> {
        self.store.copy_opts(from, to, options).await
    }
}
