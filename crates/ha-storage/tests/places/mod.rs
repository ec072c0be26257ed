//! Where the contracts are run: a local folder, and memory.

use std::sync::{Arc, Mutex, Weak};

use async_trait::async_trait;
use futures::TryStreamExt as _;
use ha_core::environment::Environment;
use ha_core::ids::ClusterId;
use ha_storage::HaStorage;
use ha_testkit::contract::{Entry, Fixture, TORN, break_file};
use object_store::memory::InMemory;
use object_store::{ObjectStore, ObjectStoreExt as _};
use tempfile::TempDir;

enum Place {
    Folder(TempDir),
    Memory {
        objects: Arc<InMemory>,
        /// All handles of one process share one storage (see [`HaStorage::on_object_store`]).
        open: Mutex<Weak<HaStorage>>,
    },
}

/// Stores of one kind on one place.
pub(crate) struct Stores<S: ?Sized> {
    place: Place,
    make: fn(Arc<HaStorage>) -> Arc<S>,
}

impl<S: ?Sized> Stores<S> {
    /// Stores in a local folder; each is made on a storage of its own.
    pub(crate) fn in_folder(make: fn(Arc<HaStorage>) -> Arc<S>) -> Self {
        let folder = TempDir::new().unwrap();
        Self {
            place: Place::Folder(folder),
            make,
        }
    }

    /// Stores in memory.
    pub(crate) fn in_memory(make: fn(Arc<HaStorage>) -> Arc<S>) -> Self {
        let place = Place::Memory {
            objects: Arc::new(InMemory::new()),
            open: Mutex::default(),
        };
        Self { place, make }
    }

    async fn storage(&self) -> Arc<HaStorage> {
        let environment = Environment::system();
        let cluster = ClusterId::new("contract").unwrap();
        match &self.place {
            Place::Folder(folder) => {
                let folder = folder.path().to_str().unwrap();
                HaStorage::open(folder, &cluster, &environment).await.unwrap()
            }
            Place::Memory { objects, open } => {
                let mut open = open.lock().unwrap();
                open.upgrade().unwrap_or_else(|| {
                    let objects: Arc<dyn ObjectStore> = Arc::clone(objects) as _;
                    let storage = HaStorage::on_object_store(objects, "memory:///", &cluster, &environment);
                    *open = Arc::downgrade(&storage);
                    storage
                })
            }
        }
    }
}

#[async_trait]
impl<S: Send + Sync + ?Sized + 'static> Fixture for Stores<S> {
    type Subject = Arc<S>;

    async fn open(&self) -> Arc<S> {
        (self.make)(self.storage().await)
    }

    async fn break_entry(&self, entry: Entry) {
        match &self.place {
            Place::Folder(folder) => break_file(folder.path(), &entry),
            Place::Memory { objects, .. } => {
                let all: Vec<_> = objects.list(None).try_collect().await.unwrap();
                let holds = |path: &str| entry.is_in_file(&format!("/{path}"));
                let mut holders = all.into_iter().filter(|meta| holds(meta.location.as_ref()));
                let holder = holders.next().expect("the entry is in an object");
                assert!(holders.next().is_none(), "{entry:?} is in several objects");
                objects.put(&holder.location, TORN.into()).await.unwrap();
            }
        }
    }
}
