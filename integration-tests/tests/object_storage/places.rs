//! Storage in a bucket of a test's own.

use std::sync::Arc;

use async_trait::async_trait;
use ha_core::configuration::Configuration;
use ha_core::environment::Environment;
use ha_core::ids::ClusterId;
use ha_storage::{HaStorage, StorageDirectory};
use ha_testkit::contract::{Entry, Fixture, TORN};
use integration_tests::object_server::{Bucket, CREDENTIALS};

/// The cluster of the tests.
pub(crate) const CLUSTER: &str = "contract";

/// The options and credentials of the bucket, and `more`.
pub(crate) fn configuration<'a>(
    bucket: &Bucket,
    more: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Configuration {
    let options = bucket.options();
    let options = options.iter().map(|(key, value)| (*key, value.as_str()));
    let configuration: Configuration = options.chain(CREDENTIALS).collect();
    more.into_iter()
        .fold(configuration, |configuration, (key, value)| {
            configuration.with(key, value)
        })
}

/// How the bucket is opened, with further options.
pub(crate) fn directory(bucket: &Bucket, more: &[(&str, &str)]) -> StorageDirectory {
    let configuration = configuration(bucket, more.iter().copied());
    StorageDirectory::new(bucket.uri("ha/storage"), &configuration)
}

/// The storage of the cluster there, for reading and writing.
pub(crate) async fn open(bucket: &Bucket) -> Arc<HaStorage> {
    let cluster = ClusterId::new(CLUSTER).unwrap();
    HaStorage::open(directory(bucket, &[]), &cluster, &Environment::system())
        .await
        .unwrap()
}

/// Stores of one kind in a bucket; each is made on a storage of its own, as in another process.
pub(crate) struct Stores<S: ?Sized> {
    bucket: Bucket,
    make: fn(Arc<HaStorage>) -> Arc<S>,
}

impl<S: ?Sized> Stores<S> {
    pub(crate) fn in_bucket(make: fn(Arc<HaStorage>) -> Arc<S>) -> Self {
        // A fixture is made outside of async code.
        let made = std::thread::spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(Bucket::create()).unwrap()
        });
        Self {
            bucket: made.join().unwrap(),
            make,
        }
    }
}

#[async_trait]
impl<S: Send + Sync + ?Sized + 'static> Fixture for Stores<S> {
    type Subject = Arc<S>;

    async fn open(&self) -> Arc<S> {
        (self.make)(open(&self.bucket).await)
    }

    async fn break_entry(&self, entry: Entry) {
        let bucket = &self.bucket;
        let keys = bucket.keys().unwrap();
        let holders: Vec<_> = keys
            .iter()
            .filter(|key| entry.is_in_file(&format!("/{key}")))
            .collect();
        let [holder] = holders[..] else {
            panic!("{entry:?} is in the objects {holders:?} of {keys:?}");
        };
        bucket.write(holder, TORN).unwrap();
    }
}
