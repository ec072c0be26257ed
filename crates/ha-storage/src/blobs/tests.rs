use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures::TryStreamExt as _;
use ha_core::blobs::BlobStore as _;
use ha_core::environment::{BootInstant, BoxFuture, Clock, Environment, SystemClock};
use ha_core::error::ErrorKind;
use ha_core::ids::{BlobKey, ClusterId};

use object_store::ObjectStore as _;

use super::HaBlobStore;
use crate::storage::HaStorage;
use crate::test_support::{LocalStorage, job, open};

struct Fixture {
    local: LocalStorage,
    store: Arc<HaBlobStore>,
    own: tempfile::TempDir,
}

impl Fixture {
    async fn new() -> Self {
        let local = LocalStorage::new().await;
        Self {
            store: HaBlobStore::new(Arc::clone(&local.storage)),
            local,
            own: tempfile::tempdir().unwrap(),
        }
    }

    fn write(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.own.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    fn stored(&self, key: &BlobKey) -> PathBuf {
        self.local.folder().join(format!("blobs/{}/{key}", job(1)))
    }

    fn own_files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.own.path()).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

#[tokio::test]
async fn content_of_every_size_comes_back() {
    let fixture = Fixture::new().await;
    // Empty, small, and one more than two pieces.
    for (index, size) in [0usize, 10, 2 * (8 << 20) + 1].into_iter().enumerate() {
        let content: Vec<u8> = (0..size).map(|at| u8::try_from(at % 251).unwrap()).collect();
        let file = fixture.write("in", &content);
        let key = fixture.store.create_key(&file).await.unwrap();
        assert!(fixture.store.put(&file, job(1), &key).await.unwrap());
        assert!(
            fixture.store.put(&file, job(1), &key).await.unwrap(),
            "equal content is success"
        );
        let out = fixture.own.path().join("out");
        assert!(fixture.store.get(job(1), &key, &out).await.unwrap());
        assert!(std::fs::read(&out).unwrap() == content);
        assert_eq!(fixture.store.keys(job(1)).await.unwrap().len(), index + 1);
        assert!(
            !fixture.store.get(job(2), &key, &out).await.unwrap(),
            "another job's"
        );
    }
    assert_eq!(fixture.own_files(), ["in", "out"]);
    assert_eq!(fixture.local.files().len(), 3, "no temporary file is left");
}

#[tokio::test]
async fn content_comes_back_from_a_store_of_objects_whatever_its_parts() {
    let objects = Arc::new(object_store::memory::InMemory::new());
    let (cluster, environment) = (ClusterId::new("c1").unwrap(), Environment::system());
    let storage = HaStorage::on_object_store(objects, "memory:///", &cluster, &environment);
    let store = HaBlobStore::new(storage);
    let own = tempfile::tempdir().unwrap();
    let (file, out) = (own.path().join("in"), own.path().join("out"));
    let part = 5 << 20;
    for size in [0, part - 1, part, part + 1, 2 * part, 2 * part + 1] {
        let content: Vec<u8> = (0..size).map(|at| u8::try_from(at % 251).unwrap()).collect();
        std::fs::write(&file, &content).unwrap();
        let key = store.create_key(&file).await.unwrap();
        for _ in 0..2 {
            assert!(store.put(&file, job(1), &key).await.unwrap());
        }
        assert!(store.get(job(1), &key, &out).await.unwrap());
        assert!(std::fs::read(&out).unwrap() == content, "{size} bytes");
    }
}

/// A clock that goes on by this with every look at it.
struct Leaping(Duration, AtomicU32);

impl Clock for Leaping {
    fn now(&self) -> BootInstant {
        BootInstant::from_boot(self.0 * self.1.fetch_add(1, Ordering::Relaxed))
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<()> {
        SystemClock.sleep(duration)
    }

    fn wall_time_millis(&self) -> u64 {
        SystemClock.wall_time_millis()
    }
}

#[tokio::test]
async fn a_long_upload_to_a_store_of_objects_leaves_a_sign_of_its_end_until_the_next_sweep() {
    let own = tempfile::tempdir().unwrap();
    let file = own.path().join("in");
    let minute = Duration::from_secs(60);
    let part = 5 << 20;
    for (size, leap, is_left) in [
        (2 * part, minute, true),
        (2 * part, minute - Duration::from_secs(1), false),
        // In one request: it is dated by its end.
        (part, minute, false),
    ] {
        let objects = Arc::new(object_store::memory::InMemory::new());
        let environment = Environment {
            clock: Arc::new(Leaping(leap, AtomicU32::new(0))),
            ..Environment::system()
        };
        let cluster = ClusterId::new("c1").unwrap();
        let storage =
            HaStorage::on_object_store(Arc::clone(&objects) as _, "memory:///", &cluster, &environment);
        let store = HaBlobStore::new(Arc::clone(&storage));
        std::fs::write(&file, vec![7; size]).unwrap();
        let key = store.create_key(&file).await.unwrap();
        assert!(store.put(&file, job(1), &key).await.unwrap());
        let names = || async {
            let names = objects.list(None).map_ok(|meta| meta.location.to_string());
            names.try_collect::<Vec<_>>().await.unwrap()
        };
        let blob = format!("c1/blobs/{}/{key}", job(1));
        let (blobs, signs): (Vec<_>, Vec<_>) = names().await.into_iter().partition(|name| *name == blob);
        assert_eq!(blobs.len(), 1);
        assert_eq!(signs.len(), usize::from(is_left), "{signs:?}");
        let temporary = format!("c1/blobs/{}/.upload-", job(1));
        assert!(signs.iter().all(|name| name.starts_with(&temporary)), "{signs:?}");
        assert_eq!(store.keys(job(1)).await.unwrap(), [key], "no blob");
        storage.sweep_temporary_files(Duration::ZERO).await.unwrap();
        assert_eq!(names().await, [blob]);
    }
}

#[tokio::test]
async fn content_of_another_key_is_never_stored() {
    let fixture = Fixture::new().await;
    let file = fixture.write("a", b"aaa");
    let key = fixture.store.create_key(&file).await.unwrap();
    let other = fixture.write("b", b"bbb");
    let error = fixture.store.put(&other, job(1), &key).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert!(fixture.local.files().is_empty());
    let missing = fixture.own.path().join("missing");
    assert_eq!(
        fixture.store.create_key(&missing).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
    let folder = fixture.store.create_key(fixture.own.path()).await.unwrap_err();
    assert_eq!(folder.kind(), ErrorKind::Invalid);
}

#[tokio::test]
async fn b45_a_damaged_blob_is_refused_and_the_local_file_not_touched() {
    let fixture = Fixture::new().await;
    let file = fixture.write("in", b"content");
    let key = fixture.store.create_key(&file).await.unwrap();
    fixture.store.put(&file, job(1), &key).await.unwrap();
    let out = fixture.write("out", b"before");
    for damage in [&b""[..], b"conten", b"contenT", b"content+"] {
        std::fs::write(fixture.stored(&key), damage).unwrap();
        let error = fixture.store.get(job(1), &key, &out).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert_eq!(error.subject(), Some(fixture.stored(&key).to_str().unwrap()));
        let error = fixture.store.put(&file, job(1), &key).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert_eq!(
            std::fs::read(fixture.stored(&key)).unwrap(),
            damage,
            "left as it is"
        );
    }
    assert_eq!(std::fs::read(&out).unwrap(), b"before");
    assert_eq!(fixture.own_files(), ["in", "out"]);
}

#[tokio::test]
async fn sixteen_writers_of_one_key_all_succeed_with_one_file() {
    let fixture = Fixture::new().await;
    let file = fixture.write("in", &[7; 100_000]);
    let key = fixture.store.create_key(&file).await.unwrap();
    let mut stores = Vec::new();
    for _ in 0..16 {
        stores.push(HaBlobStore::new(open(fixture.local.directory.path()).await));
    }
    let puts = stores.iter().map(|store| store.put(&file, job(1), &key));
    for outcome in futures::future::join_all(puts).await {
        assert!(outcome.unwrap());
    }
    assert_eq!(fixture.local.files(), [format!("c1/blobs/{}/{key}", job(1))]);
}

#[tokio::test]
async fn b44_deleting_keeps_to_its_job_and_is_repeatable() {
    let fixture = Fixture::new().await;
    let file = fixture.write("in", b"x");
    let first = fixture.store.create_key(&file).await.unwrap();
    let second = fixture.store.create_key(&file).await.unwrap();
    assert_ne!(first, second, "equal content of two uploads is kept apart");
    for key in [&first, &second] {
        fixture.store.put(&file, job(1), key).await.unwrap();
        fixture.store.put(&file, job(2), key).await.unwrap();
    }
    assert!(fixture.store.delete(job(1), &first).await.unwrap());
    assert!(!fixture.store.delete(job(1), &first).await.unwrap());
    assert_eq!(fixture.store.keys(job(1)).await.unwrap(), [second]);
    let foreign = fixture.local.folder().join(format!("blobs/{}/mine", job(2)));
    std::fs::write(&foreign, "x").unwrap();
    assert!(fixture.store.delete_all(job(2)).await.unwrap());
    assert!(!fixture.store.delete_all(job(2)).await.unwrap());
    assert!(foreign.exists());
    std::fs::remove_file(&foreign).unwrap();
    fixture.store.close_and_cleanup_all_data().await.unwrap();
    fixture.store.close_and_cleanup_all_data().await.unwrap();
    assert!(fixture.local.files().is_empty());
    assert_eq!(
        fixture.store.keys(job(1)).await.unwrap_err().kind(),
        ErrorKind::Closed
    );
}

#[tokio::test]
async fn b44_a_dropped_upload_shows_nothing() {
    let fixture = Fixture::new().await;
    let file = fixture.write("in", &vec![1; 9 << 20]);
    let key = fixture.store.create_key(&file).await.unwrap();
    for polls in 0..12 {
        let mut put = Box::pin(fixture.store.put(&file, job(1), &key));
        for _ in 0..polls {
            let _ = futures::poll!(&mut put);
            tokio::task::yield_now().await;
        }
    }
    let out = fixture.own.path().join("out");
    let is_there = fixture.store.get(job(1), &key, &out).await.unwrap();
    assert_eq!(is_there, out.exists());
    assert!(fixture.store.put(&file, job(1), &key).await.unwrap());
    assert!(fixture.store.get(job(1), &key, &out).await.unwrap());
}
