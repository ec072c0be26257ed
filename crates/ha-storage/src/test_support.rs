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

/// How often each local folder was listed.
static LISTINGS: Mutex<BTreeMap<PathBuf, usize>> = Mutex::new(BTreeMap::new());

pub(crate) fn note_listing(folder: &Path) {
    *lock(&LISTINGS).entry(folder.to_path_buf()).or_default() += 1;
}

/// How often a local folder, or one below, was listed so far.
pub(crate) fn listings_below(folder: &Path) -> usize {
    let listings = lock(&LISTINGS);
    listings
        .iter()
        .filter(|(listed, _)| listed.starts_with(folder))
        .map(|(_, times)| times)
        .sum()
}

/// What was asked of a [`FaultyStore`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Objects that were looked up or read.
    pub(crate) gets: usize,
    /// Objects that listings gave.
    pub(crate) listed: usize,
    pub(crate) puts: usize,
    pub(crate) deletions: usize,
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
    asked: Arc<Mutex<Asked>>,
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

    /// What was asked since the last time.
    pub(crate) fn asked(&self) -> Asked {
        std::mem::take(&mut *lock(&self.asked))
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
        lock(&self.asked).puts += 1;
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
        lock(&self.asked).gets += 1;
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
        let asked = Arc::clone(&self.asked);
        let counted = locations.inspect(move |_| lock(&asked).deletions += 1);
        self.store.delete_stream(counted.boxed())
    }

    fn list(&self, prefix: Option<&ObjectPath>) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        if self.strikes(Trouble::ListHangs) {
            return futures::stream::pending().boxed();
        }
        let asked = Arc::clone(&self.asked);
        let listed = self.store.list(prefix);
        listed.inspect(move |_| lock(&asked).listed += 1).boxed()
    }

    fn list_with_offset(
        &self,
        prefix: Option<&ObjectPath>,
        offset: &ObjectPath,
    ) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        let asked = Arc::clone(&self.asked);
        let listed = self.store.list_with_offset(prefix, offset);
        listed.inspect(move |_| lock(&asked).listed += 1).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&ObjectPath>) -> object_store::Result<ListResult> {
        if self.strikes(Trouble::ListHangs) {
            std::future::pending::<()>().await;
        }
        let found = self.store.list_with_delimiter(prefix).await?;
        lock(&self.asked).listed += found.objects.len();
        Ok(found)
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
