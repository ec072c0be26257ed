//! Identity, state files, blobs and what is left over, by the objects in the bucket.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use ha_core::ErrorKind;
use ha_core::blobs::BlobStore as _;
use ha_core::environment::Environment;
use ha_core::health::HealthMonitor;
use ha_core::ids::{ClusterId, JobId};
use ha_core::jobs::JobResultStore as _;
use ha_storage::{FileSystemJobResultStore, HaBlobStore, HaStorage, StateKind};
use integration_tests::object_server::Bucket;

use crate::places::{CLUSTER, directory, open};

fn job(number: u8) -> JobId {
    JobId::from_bytes([number; 16])
}

#[tokio::test]
async fn of_eight_that_make_the_identity_at_once_all_read_the_same() {
    let bucket = Bucket::create().await.unwrap();
    let mut storages = Vec::new();
    for _ in 0..8 {
        storages.push(open(&bucket).await);
    }
    let made = futures::future::join_all(storages.iter().map(|storage| storage.identity())).await;
    let made: Vec<_> = made.into_iter().map(Result::unwrap).collect();
    assert!(
        made.iter().all(|identity| Some(identity) == made.first()),
        "{made:?}"
    );
    assert_eq!(
        bucket.keys().unwrap(),
        [format!("ha/storage/{CLUSTER}/identity.json")],
        "what the opening wrote to try the store out is gone"
    );
    let written = String::from_utf8(bucket.read(&bucket.keys().unwrap()[0]).unwrap()).unwrap();
    assert!(written.contains(&bucket.uri("ha/storage")), "{written}");
    assert!(!written.contains("test-secret"), "{written}");
}

#[tokio::test]
async fn without_conditional_puts_what_is_there_is_still_not_overwritten() {
    let bucket = Bucket::create().await.unwrap();
    let cluster = ClusterId::new(CLUSTER).unwrap();
    let unconditional = directory(&bucket, &[("s3.conditional-puts", "false")]);
    let first = open(&bucket).await.identity().await.unwrap();
    let storage = HaStorage::open(unconditional, &cluster, &Environment::system())
        .await
        .unwrap();
    assert_eq!(storage.identity().await.unwrap(), first);
    storage.delete_identity().await.unwrap();
    let second = storage.identity().await.unwrap();
    assert_ne!(second, first);
    storage.restore_identity(&first).await.unwrap();
    assert_eq!(storage.identity().await.unwrap(), second, "it stands");
}

#[tokio::test]
async fn b45_state_files_in_a_bucket_are_verified_listed_and_deleted_twice() {
    let bucket = Bucket::create().await.unwrap();
    let storage = open(&bucket).await;
    let (kind, id) = (StateKind::Checkpoint, "0000000000000000007");
    let file = storage
        .put_state(kind, job(1), id, BTreeMap::new(), Bytes::from_static(b"state"))
        .await
        .unwrap();
    let other = open(&bucket).await;
    assert_eq!(other.get_state(&file).await.unwrap().payload, "state");
    let listed = other.list_states(kind, None).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert!(listed[0].last_modified <= other.store_time().await.unwrap());
    let key = format!("ha/storage/{CLUSTER}/{}", file.path);
    let whole = bucket.read(&key).unwrap();
    for damaged in [&whole[..whole.len() - 1], b"", &whole.replace_last()] {
        bucket.write(&key, damaged).unwrap();
        let error = other.get_state(&file).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert_eq!(
            error.subject(),
            Some(&*format!("s3://{}", &bucket.uri(&key)[5..]))
        );
        assert_eq!(bucket.read(&key).unwrap(), damaged, "left as it is");
    }
    assert!(storage.delete(&file.path).await.unwrap());
    assert!(!storage.delete(&file.path).await.unwrap(), "twice is once");
    assert_eq!(
        other.get_state(&file).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert_eq!(bucket.keys().unwrap(), Vec::<String>::new());
}

/// The same bytes with one bit of the last one flipped.
trait ReplaceLast {
    fn replace_last(&self) -> Vec<u8>;
}

impl ReplaceLast for Vec<u8> {
    fn replace_last(&self) -> Vec<u8> {
        let mut other = self.clone();
        *other.last_mut().unwrap() ^= 1;
        other
    }
}

#[tokio::test]
async fn b44_a_blob_of_several_parts_appears_whole_and_an_abandoned_one_leaves_nothing() {
    let bucket = Bucket::create().await.unwrap();
    let blobs = HaBlobStore::new(open(&bucket).await);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("in");
    let content: Vec<u8> = (0..(17 << 20) + 1).map(|at: u32| (at % 251) as u8).collect();
    std::fs::write(&file, &content).unwrap();
    let key = blobs.create_key(&file).await.unwrap();
    let refused = ha_core::Error::invalid("not now");
    let outcome = blobs.put_if(&file, job(1), &key, async { Err(refused) }).await;
    assert_eq!(outcome.unwrap_err().message(), "not now");
    assert_eq!(bucket.keys().unwrap(), Vec::<String>::new());
    assert_eq!(bucket.unfinished_uploads().unwrap(), 0);

    assert!(blobs.put(&file, job(1), &key).await.unwrap());
    assert!(
        blobs.put(&file, job(1), &key).await.unwrap(),
        "equal content is success"
    );
    assert_eq!(bucket.unfinished_uploads().unwrap(), 0);
    let place = format!("ha/storage/{CLUSTER}/blobs/{}/{key}", job(1));
    assert_eq!(bucket.keys().unwrap(), std::slice::from_ref(&place));
    let out = folder.path().join("out");
    assert!(blobs.get(job(1), &key, &out).await.unwrap());
    assert!(std::fs::read(&out).unwrap() == content);

    bucket.write(&place, &content[1..]).unwrap();
    let error = blobs.get(job(1), &key, &out).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    let error = blobs.put(&file, job(1), &key).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
}

/// B39 on a store without directories: a bucket that vanished is not one without results.
#[tokio::test]
async fn b39_a_bucket_that_vanished_is_told_from_one_without_results() {
    let bucket = Bucket::create().await.unwrap();
    let storage = open(&bucket).await;
    let results = FileSystemJobResultStore::in_storage(Arc::clone(&storage), false, HealthMonitor::default());
    assert!(!results.has_job_result_entry(job(1)).await.unwrap());
    assert!(results.dirty_results().await.unwrap().entries.is_empty());
    bucket.delete_all().unwrap();
    let error = results.has_job_result_entry(job(1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    let error = results.dirty_results().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
}
