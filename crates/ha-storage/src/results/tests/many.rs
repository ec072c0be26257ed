//! B43: entries pile up. What is asked of the store is counted, not the time.

use std::time::Duration;

use ha_core::configuration::Configuration;
use object_store::{ObjectStoreExt as _, path::Path as ObjectPath};

use super::*;
use crate::results::codec;
use crate::test_support::{Asked, FaultyStore, listings_below};

fn numbered(number: u128) -> JobResultEntry {
    let mut entry = entry(0);
    entry.result.job_id = JobId::from_bytes(number.to_be_bytes());
    entry
}

#[tokio::test]
async fn b43_a_look_up_among_100_000_clean_results_asks_for_its_own_job_and_lists_nothing() {
    let store = Arc::new(FaultyStore::default());
    for number in 0..100_000 {
        let entry = numbered(number);
        let key = ObjectPath::from(format!("job-results-store/c1/{}.json", entry.job_id()));
        let content = codec::encode(&entry).unwrap();
        store.put(&key, content.into()).await.unwrap();
    }
    let results = FileSystemJobResultStore::in_storage(store.storage(), false, HealthMonitor::default());
    store.asked();
    let known = numbered(54_321);
    assert!(results.has_clean_job_result_entry(known.job_id()).await.unwrap());
    let look_up = Asked {
        gets: 2,
        ..Asked::default()
    };
    assert_eq!(store.asked(), look_up, "one by each name");
    assert_eq!(
        results.job_result_entry(known.job_id()).await.unwrap(),
        Some(known.clone())
    );
    assert_eq!(store.asked(), Asked { gets: 3, ..look_up });
    let new = numbered(100_000);
    assert!(!results.has_job_result_entry(new.job_id()).await.unwrap());
    assert_eq!(store.asked(), look_up);
    results.create_dirty_result(&new).await.unwrap();
    assert_eq!(store.asked(), Asked { puts: 1, ..look_up });
    let refused = results.create_dirty_result(&known).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
    assert_eq!(store.asked(), look_up);
}

#[tokio::test]
async fn b43_a_look_up_in_a_folder_of_clean_results_lists_no_folder() {
    let files = match std::env::var_os("HA_TEST_FULL") {
        Some(full) if full == "1" => 100_000,
        _ => 2_000,
    };
    let fixture = Fixture::new(false).await;
    std::fs::create_dir_all(fixture.folder()).unwrap();
    for number in 0..files {
        let entry = numbered(number);
        std::fs::write(fixture.clean(entry.job_id()), codec::encode(&entry).unwrap()).unwrap();
    }
    let known = numbered(files / 2).job_id();
    let new = numbered(files);
    assert_eq!(fixture.flags(known).await, (true, false, true));
    assert!(fixture.store.job_result_entry(known).await.unwrap().is_some());
    assert_eq!(fixture.flags(new.job_id()).await, (false, false, false));
    fixture.store.create_dirty_result(&new).await.unwrap();
    fixture.store.mark_result_as_clean(new.job_id()).await.unwrap();
    assert_eq!(listings_below(&fixture.folder()), 0);
    // The count would show it.
    fixture.store.dirty_results().await.unwrap();
    assert_eq!(listings_below(&fixture.folder()), 1);
}

#[tokio::test]
async fn b43_clean_results_older_than_their_retention_are_deleted_and_nothing_else() {
    let fixture = Fixture::new(false).await;
    for number in 1..=4 {
        fixture.store.create_dirty_result(&entry(number)).await.unwrap();
    }
    for number in [1, 2] {
        fixture.store.mark_result_as_clean(job(number)).await.unwrap();
    }
    // A crash left both files of job 4.
    std::fs::copy(fixture.dirty(job(4)), fixture.clean(job(4))).unwrap();
    let foreign = fixture.folder().join("ABC.json");
    std::fs::write(&foreign, "x").unwrap();
    let written = std::fs::metadata(&foreign).unwrap().modified().unwrap();
    let an_hour_ago = written - Duration::from_secs(3600);
    for path in [
        fixture.clean(job(1)),
        fixture.dirty(job(3)),
        fixture.dirty(job(4)),
        fixture.clean(job(4)),
        foreign,
    ] {
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(an_hour_ago).unwrap();
    }
    let before = fixture.local.files();
    let with = |clean_retention, storage_path: Option<PathBuf>| {
        let settings = JobResultStoreSettings {
            storage_path: storage_path.map(|path| path.to_str().unwrap().into()),
            clean_retention,
            ..JobResultStoreSettings::default()
        };
        let directory = fixture.local.directory.path().to_owned();
        async move {
            let storage = open(&directory).await;
            FileSystemJobResultStore::open(storage, settings, HealthMonitor::default())
                .await
                .unwrap()
                .delete_expired_results()
                .await
                .unwrap()
        }
    };
    assert_eq!(with(None, None).await, 0, "for ever");
    assert_eq!(with(Some(Duration::from_secs(7200)), None).await, 0);
    let shared = Some(fixture.folder());
    assert_eq!(
        with(Some(Duration::from_secs(60)), shared).await,
        0,
        "whose they are is not known"
    );
    assert_eq!(fixture.local.files(), before);
    assert_eq!(with(Some(Duration::from_secs(60)), None).await, 1);
    assert!(!fixture.clean(job(1)).exists());
    assert_eq!(fixture.local.files().len(), before.len() - 1);
}

#[test]
fn a_retention_in_a_folder_that_clusters_may_share_is_refused() {
    let retention = Configuration::new().with("job-result-store.clean-retention", "1 h");
    let settings = JobResultStoreSettings::from_configuration(&retention).unwrap();
    assert_eq!(settings.clean_retention, Some(Duration::from_secs(3600)));
    let both = retention.with("job-result-store.storage-path", "/x");
    let error = JobResultStoreSettings::from_configuration(&both).unwrap_err();
    assert_eq!(
        error.subject(),
        Some("job-result-store.clean-retention"),
        "{error}"
    );
}
