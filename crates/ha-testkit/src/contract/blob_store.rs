//! The contract of [`BlobStore`]: whole content or none, scoped to jobs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ha_core::ErrorKind;
use ha_core::blobs::BlobStore;
use ha_core::ids::BlobKey;
use tempfile::TempDir;

use super::macros::cases;
use super::{Entry, Fixture, job};

type Subject = Arc<dyn BlobStore>;

/// Local files to copy from and to.
struct Local(TempDir);

impl Local {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Everything that lies beside what the test put there.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.0.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

async fn put(store: &Subject, file: &Path, number: u8) -> BlobKey {
    let key = store.create_key(file).await.unwrap();
    assert!(store.put(file, job(number), &key).await.unwrap());
    key
}

async fn get(store: &Subject, number: u8, key: &BlobKey) -> Option<Vec<u8>> {
    let local = Local::new();
    let target = local.path("target");
    let found = store.get(job(number), key, &target).await.unwrap();
    assert_eq!(found, target.exists(), "the answer and the local file differ");
    found.then(|| std::fs::read(target).unwrap())
}

async fn keys(store: &Subject, number: u8) -> Vec<BlobKey> {
    let mut keys = store.keys(job(number)).await.unwrap();
    keys.sort_unstable();
    keys
}

/// Content of several megabytes that no chunking divides evenly.
fn large() -> Vec<u8> {
    (0..6_000_011_u32)
        .map(|index| (index ^ (index >> 9)).to_le_bytes()[0])
        .collect()
}

/// What was put is got, whatever its size and bytes.
pub async fn content_round_trips<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, local) = (fixture.open().await, Local::new());
    for content in [Vec::new(), b"one\0two\xff\r\n".to_vec(), large()] {
        let key = put(&store, &local.file("source", &content), 1).await;
        assert!(get(&store, 1, &key).await == Some(content));
    }
    assert_eq!(keys(&store, 1).await.len(), 3);
}

/// What is not there is `false`, and touches nothing.
pub async fn missing_is_false<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, local) = (fixture.open().await, Local::new());
    let source = local.file("source", b"content");
    let key = store.create_key(&source).await.unwrap();
    let target = local.path("target");
    assert!(!store.get(job(1), &key, &target).await.unwrap());
    assert!(!store.delete(job(1), &key).await.unwrap());
    assert!(!store.delete_all(job(1)).await.unwrap());
    assert!(keys(&store, 1).await.is_empty());
    // Making a key stores nothing, and asking left no local file.
    assert_eq!(local.names(), ["source"]);
}

/// A get takes the place of a local file as a whole; what was longer leaves no rest, and no file lies beside it.
pub async fn get_replaces_the_local_file_whole<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, local) = (fixture.open().await, Local::new());
    let key = put(&store, &local.file("source", b"short"), 1).await;
    let target = local.file("target", &[b'x'; 10_000]);
    assert!(store.get(job(1), &key, &target).await.unwrap());
    assert_eq!(std::fs::read(&target).unwrap(), b"short");
    assert_eq!(local.names(), ["source", "target"]);
}

/// Equal content under the same key again is success.
pub async fn equal_content_again_is_success<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, local) = (fixture.open().await, Local::new());
    let source = local.file("source", b"content");
    let key = put(&store, &source, 1).await;
    assert!(store.put(&source, job(1), &key).await.unwrap());
    assert_eq!(keys(&store, 1).await, [key]);
    assert_eq!(get(&store, 1, &key).await.unwrap(), b"content");
}

/// Content that is not the key's is `Invalid`, and nothing of it is visible.
pub async fn wrong_content_is_invalid<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, local) = (fixture.open().await, Local::new());
    let key = store.create_key(&local.file("source", b"content")).await.unwrap();
    let other = local.file("other", b"CONTENT");
    let error = store.put(&other, job(1), &key).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert_eq!(get(&store, 1, &key).await, None);
    assert!(keys(&store, 1).await.is_empty());
}

/// A key never gets other content: what it holds stays.
pub async fn key_keeps_its_content<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, local) = (fixture.open().await, Local::new());
    let key = put(&store, &local.file("source", b"content"), 1).await;
    let other = local.file("other", b"CONTENT");
    let error = store.put(&other, job(1), &key).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert_eq!(get(&store, 1, &key).await.unwrap(), b"content");
}

/// A put of a file that is not there fails and leaves nothing.
pub async fn failed_put_leaves_nothing<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, local) = (fixture.open().await, Local::new());
    let source = local.file("source", b"content");
    let key = store.create_key(&source).await.unwrap();
    std::fs::remove_file(&source).unwrap();
    assert!(store.put(&source, job(1), &key).await.is_err());
    assert!(store.create_key(&source).await.is_err());
    assert!(keys(&store, 1).await.is_empty());
    assert_eq!(get(&store, 1, &key).await, None);
}

/// Two keys of equal content are two blobs with the same hash; deleting one keeps the other.
pub async fn two_keys_of_equal_content_are_two_blobs<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, local) = (fixture.open().await, Local::new());
    let source = local.file("source", b"content");
    let (one, other) = (put(&store, &source, 1).await, put(&store, &source, 1).await);
    assert_ne!(one, other);
    assert_eq!(one.sha256(), other.sha256());
    assert!(store.delete(job(1), &one).await.unwrap());
    assert_eq!(get(&store, 1, &one).await, None);
    assert_eq!(get(&store, 1, &other).await.unwrap(), b"content");
}

/// A blob belongs to its job: another job does not see it under the same key, nor delete it.
pub async fn blobs_belong_to_their_job<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, local) = (fixture.open().await, Local::new());
    let source = local.file("source", b"content");
    let key = put(&store, &source, 1).await;
    assert_eq!(get(&store, 2, &key).await, None);
    assert!(!store.delete(job(2), &key).await.unwrap());
    assert!(store.put(&source, job(2), &key).await.unwrap());
    assert!(store.delete(job(1), &key).await.unwrap());
    assert_eq!(get(&store, 2, &key).await.unwrap(), b"content");
}

/// Deleting all of a job deletes its blobs and no other's; the second time there is none.
pub async fn delete_all_is_scoped_to_the_job<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, local) = (fixture.open().await, Local::new());
    let source = local.file("source", b"content");
    for _ in 0..3 {
        put(&store, &source, 1).await;
    }
    let neighbour = put(&store, &source, 2).await;
    assert!(store.delete_all(job(1)).await.unwrap());
    assert!(keys(&store, 1).await.is_empty());
    assert_eq!(keys(&store, 2).await, [neighbour]);
    assert!(!store.delete_all(job(1)).await.unwrap());
}

/// A deleted blob is gone; the second deletion finds none; it can be put again.
pub async fn delete_is_once<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, local) = (fixture.open().await, Local::new());
    let source = local.file("source", b"content");
    let key = put(&store, &source, 1).await;
    assert!(store.delete(job(1), &key).await.unwrap());
    assert!(!store.delete(job(1), &key).await.unwrap());
    assert!(keys(&store, 1).await.is_empty());
    assert!(store.put(&source, job(1), &key).await.unwrap());
    assert_eq!(get(&store, 1, &key).await.unwrap(), b"content");
}

/// Another process gets what this one put.
pub async fn second_process_gets_it<F: Fixture<Subject = Subject>>(fixture: F) {
    let (first, second, local) = (fixture.open().await, fixture.open().await, Local::new());
    let key = put(&first, &local.file("source", b"content"), 1).await;
    assert_eq!(get(&second, 1, &key).await.unwrap(), b"content");
    assert_eq!(keys(&second, 1).await, [key]);
    assert!(second.delete(job(1), &key).await.unwrap());
    assert_eq!(get(&first, 1, &key).await, None);
}

/// What was put before a crash is there after it.
pub async fn blobs_survive_a_crash<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, local) = (fixture.open().await, Local::new());
    let key = put(&store, &local.file("source", b"content"), 1).await;
    let store = fixture.reopen_after_crash(store).await;
    assert_eq!(get(&store, 1, &key).await.unwrap(), b"content");
}

/// A reader sees no part of an upload: nothing, or the whole.
pub async fn partial_upload_is_never_visible<F: Fixture<Subject = Subject>>(fixture: F) {
    let (writer, reader, local) = (fixture.open().await, fixture.open().await, Local::new());
    let content = large();
    let source = local.file("source", &content);
    for _ in 0..3 {
        let key = writer.create_key(&source).await.unwrap();
        let reading = async {
            loop {
                if let Some(read) = get(&reader, 1, &key).await {
                    break read;
                }
                tokio::task::yield_now().await;
            }
        };
        let (stored, read) = tokio::join!(writer.put(&source, job(1), &key), reading);
        assert!(stored.unwrap());
        assert!(read == content, "a part of {} bytes was visible", read.len());
    }
}

/// Several uploads of one blob at the same time all succeed, and leave it once and whole.
pub async fn concurrent_puts_of_one_key_succeed<F: Fixture<Subject = Subject>>(fixture: F) {
    let (first, second, local) = (fixture.open().await, fixture.open().await, Local::new());
    let content = large();
    let source = local.file("source", &content);
    let key = first.create_key(&source).await.unwrap();
    let outcomes = tokio::join!(
        first.put(&source, job(1), &key),
        second.put(&source, job(1), &key),
        first.put(&source, job(1), &key)
    );
    assert!(outcomes.0.unwrap() && outcomes.1.unwrap() && outcomes.2.unwrap());
    assert_eq!(keys(&first, 1).await, [key]);
    assert!(get(&second, 1, &key).await == Some(content));
}

/// Content that changed in the store is `Corrupt`, and the local file is not touched.
pub async fn changed_content_is_corrupt<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, local) = (fixture.open().await, Local::new());
    let source = local.file("source", b"content");
    let (broken, whole) = (put(&store, &source, 1).await, put(&store, &source, 1).await);
    fixture.break_entry(Entry::Blob(job(1), broken)).await;
    let target = local.file("target", b"mine");
    for _ in 0..2 {
        // It is left as it is: the second look finds the same.
        let error = store.get(job(1), &broken, &target).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }
    assert_eq!(std::fs::read(&target).unwrap(), b"mine");
    assert_eq!(local.names(), ["source", "target"]);
    assert_eq!(get(&store, 1, &whole).await.unwrap(), b"content");
}

/// The clean-up deletes the blobs of all jobs. Twice is once.
pub async fn cleanup_deletes_all<F: Fixture<Subject = Subject>>(fixture: F) {
    let (store, local) = (fixture.open().await, Local::new());
    let source = local.file("source", b"content");
    for number in 1..=3 {
        put(&store, &source, number).await;
    }
    store.close_and_cleanup_all_data().await.unwrap();
    store.close_and_cleanup_all_data().await.unwrap();
    let store = fixture.reopen_after_crash(store).await;
    for number in 1..=3 {
        assert!(keys(&store, number).await.is_empty());
    }
}

cases! { ($) blob_store:
    content_round_trips,
    missing_is_false,
    get_replaces_the_local_file_whole,
    equal_content_again_is_success,
    wrong_content_is_invalid,
    key_keeps_its_content,
    failed_put_leaves_nothing,
    two_keys_of_equal_content_are_two_blobs,
    blobs_belong_to_their_job,
    delete_all_is_scoped_to_the_job,
    delete_is_once,
    second_process_gets_it,
    blobs_survive_a_crash,
    partial_upload_is_never_visible,
    concurrent_puts_of_one_key_succeed,
    changed_content_is_corrupt,
    cleanup_deletes_all,
}
