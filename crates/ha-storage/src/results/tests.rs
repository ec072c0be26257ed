use std::path::PathBuf;
use std::sync::Arc;

use ha_core::error::{Effect, ErrorKind};
use ha_core::health::HealthMonitor;
use ha_core::ids::JobId;
use ha_core::jobs::{ApplicationStatus, JobResult, JobResultEntry, JobResultStore as _};

use super::{FileSystemJobResultStore, JobResultStoreSettings, LeftResults};
use crate::test_support::{LocalStorage, job, open};

mod many;
mod opening;
mod removal;

struct Fixture {
    local: LocalStorage,
    store: Arc<FileSystemJobResultStore>,
    health: HealthMonitor,
}

impl Fixture {
    async fn new(delete_on_commit: bool) -> Self {
        let local = LocalStorage::new().await;
        let health = HealthMonitor::default();
        let storage = Arc::clone(&local.storage);
        let store = FileSystemJobResultStore::in_storage(storage, delete_on_commit, health.clone());
        Self { local, store, health }
    }

    fn folder(&self) -> PathBuf {
        self.local.folder().parent().unwrap().join("job-results-store/c1")
    }

    fn dirty(&self, job_id: JobId) -> PathBuf {
        self.folder().join(format!("{job_id}_DIRTY.json"))
    }

    fn clean(&self, job_id: JobId) -> PathBuf {
        self.folder().join(format!("{job_id}.json"))
    }

    fn write_dirty(&self, job_id: JobId, content: &str) {
        std::fs::create_dir_all(self.folder()).unwrap();
        std::fs::write(self.dirty(job_id), content).unwrap();
    }

    async fn flags(&self, job_id: JobId) -> (bool, bool, bool) {
        (
            self.store.has_job_result_entry(job_id).await.unwrap(),
            self.store.has_dirty_job_result_entry(job_id).await.unwrap(),
            self.store.has_clean_job_result_entry(job_id).await.unwrap(),
        )
    }
}

fn entry(number: u8) -> JobResultEntry {
    JobResultEntry {
        result: JobResult {
            job_id: job(number),
            name: "wordcount".to_owned(),
            application_status: ApplicationStatus::Succeeded,
            net_runtime: 1234,
            end_time: 5,
            failure_cause: None,
        },
        job_digest: Some("d".to_owned()),
    }
}

#[tokio::test]
async fn the_file_is_as_documented_and_moves_from_dirty_to_clean() {
    let fixture = Fixture::new(false).await;
    let (store, id) = (&fixture.store, job(1));
    assert_eq!(fixture.flags(id).await, (false, false, false));
    assert!(!fixture.folder().exists(), "looking makes nothing");
    store.create_dirty_result(&entry(1)).await.unwrap();
    assert_eq!(fixture.flags(id).await, (true, true, false));
    let text = std::fs::read_to_string(fixture.dirty(id)).unwrap();
    assert_eq!(
        text,
        "{\"result\":{\"id\":\"01010101010101010101010101010101\",\"name\":\"wordcount\",\
         \"application-status\":\"SUCCEEDED\",\"net-runtime\":1234,\"end-time\":5},\"jobDigest\":\"d\",\"version\":1}"
    );
    let again = store.create_dirty_result(&entry(1)).await.unwrap_err();
    assert_eq!(
        (again.kind(), again.effect()),
        (ErrorKind::AlreadyExists, Effect::NotApplied)
    );
    store.mark_result_as_clean(id).await.unwrap();
    assert_eq!(std::fs::read_to_string(fixture.clean(id)).unwrap(), text);
    assert_eq!(fixture.flags(id).await, (true, false, true));
    store.mark_result_as_clean(id).await.unwrap();
    assert_eq!(
        store.create_dirty_result(&entry(1)).await.unwrap_err().kind(),
        ErrorKind::AlreadyExists
    );
    assert_eq!(store.job_result_entry(id).await.unwrap(), Some(entry(1)));
    assert_eq!(
        store.mark_result_as_clean(job(2)).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert_eq!(fixture.local.files(), [format!("job-results-store/c1/{id}.json")]);
    // By hand, as documented.
    std::fs::remove_file(fixture.clean(id)).unwrap();
    assert_eq!(fixture.flags(id).await, (false, false, false));
}

#[tokio::test]
async fn with_delete_on_commit_nothing_is_left() {
    let fixture = Fixture::new(true).await;
    fixture.store.create_dirty_result(&entry(1)).await.unwrap();
    fixture.store.mark_result_as_clean(job(1)).await.unwrap();
    assert_eq!(fixture.flags(job(1)).await, (false, false, false));
    assert_eq!(
        fixture
            .store
            .mark_result_as_clean(job(1))
            .await
            .unwrap_err()
            .kind(),
        ErrorKind::NotFound
    );
    assert!(fixture.local.files().is_empty());
}

#[tokio::test]
async fn of_sixteen_writers_one_decides() {
    let fixture = Fixture::new(false).await;
    let mut stores = Vec::new();
    for _ in 0..16 {
        // Storages of their own, as other processes have them.
        let storage = open(fixture.local.directory.path()).await;
        stores.push(FileSystemJobResultStore::in_storage(
            storage,
            false,
            HealthMonitor::default(),
        ));
    }
    let entries: Vec<_> = (0..16)
        .map(|writer| {
            let mut entry = entry(1);
            entry.result.net_runtime = writer;
            entry
        })
        .collect();
    let writes = stores
        .iter()
        .zip(&entries)
        .map(|(store, entry)| store.create_dirty_result(entry));
    let outcomes = futures::future::join_all(writes).await;
    let winners: Vec<_> = (0..16).filter(|&writer| outcomes[writer].is_ok()).collect();
    assert_eq!(winners.len(), 1, "{outcomes:?}");
    let recorded = fixture.store.job_result_entry(job(1)).await.unwrap().unwrap();
    assert_eq!(recorded, entries[winners[0]]);
}

#[tokio::test]
async fn b40_a_bad_file_blocks_only_its_own_job_and_is_left_as_it_is() {
    let fixture = Fixture::new(false).await;
    let good = std::fs::read_to_string({
        fixture.store.create_dirty_result(&entry(1)).await.unwrap();
        fixture.dirty(job(1))
    })
    .unwrap();
    let cases = [
        (10, String::new(), "empty"),
        (11, good[..20].to_owned(), "torn or foreign"),
        (12, format!("{good}x"), "torn or foreign"),
        (13, good.clone(), "of another job"),
        (
            14,
            good.replace("\"version\":1", "\"version\":2")
                .replace("0101", "0e0e"),
            "version 2",
        ),
        (15, "{}".to_owned(), "no version"),
        (16, "{\"version\":1}".to_owned(), "no result"),
    ];
    for (number, content, _) in &cases {
        fixture.write_dirty(job(*number), content);
    }
    std::fs::create_dir(fixture.dirty(job(17))).unwrap();
    for foreign in ["README", "ABC_DIRTY.json", "x_DIRTY.json#1"] {
        std::fs::write(fixture.folder().join(foreign), "x").unwrap();
    }
    let before = fixture.local.files();
    let results = fixture.store.dirty_results().await.unwrap();
    assert_eq!(results.entries, [entry(1)]);
    // The seven, the folder, and the foreign name.
    assert_eq!(results.broken.len(), 9, "{:?}", results.broken);
    for (number, _, reason) in &cases {
        let path = fixture.dirty(job(*number)).display().to_string();
        let broken = results.broken.iter().find(|entry| entry.path == path).unwrap();
        assert!(broken.reason.contains(reason), "{broken:?}");
        assert!(fixture.health.snapshot().broken.contains_key(&path));
        assert_eq!(fixture.flags(job(*number)).await, (true, true, false));
        let create = fixture.store.create_dirty_result(&entry(*number)).await;
        assert_eq!(create.unwrap_err().kind(), ErrorKind::AlreadyExists);
        let read = fixture.store.job_result_entry(job(*number)).await;
        assert_eq!(read.unwrap_err().kind(), ErrorKind::Corrupt);
        let mark = fixture.store.mark_result_as_clean(job(*number)).await;
        assert_eq!(mark.unwrap_err().kind(), ErrorKind::Corrupt);
    }
    assert!(fixture.store.has_job_result_entry(job(17)).await.unwrap());
    assert_eq!(fixture.local.files(), before);
    // Taken away by somebody: no longer reported.
    for (number, ..) in &cases {
        std::fs::remove_file(fixture.dirty(job(*number))).unwrap();
    }
    std::fs::remove_dir(fixture.dirty(job(17))).unwrap();
    std::fs::remove_file(fixture.folder().join("ABC_DIRTY.json")).unwrap();
    fixture.store.dirty_results().await.unwrap();
    assert!(
        !fixture.health.snapshot().is_degraded(),
        "{:?}",
        fixture.health.snapshot()
    );
}

#[tokio::test]
async fn b40_both_files_mean_clean() {
    let fixture = Fixture::new(false).await;
    fixture.store.create_dirty_result(&entry(1)).await.unwrap();
    std::fs::copy(fixture.dirty(job(1)), fixture.clean(job(1))).unwrap();
    assert_eq!(fixture.flags(job(1)).await, (true, false, true));
    assert!(fixture.store.dirty_results().await.unwrap().entries.is_empty());
    assert_eq!(fixture.store.clean_results().await.unwrap().entries, [entry(1)]);
    fixture.store.mark_result_as_clean(job(1)).await.unwrap();
    assert!(!fixture.dirty(job(1)).exists());
}

#[tokio::test]
async fn b39_a_folder_that_vanishes_is_not_an_empty_one() {
    let fixture = Fixture::new(false).await;
    fixture.store.create_dirty_result(&entry(1)).await.unwrap();
    let away = fixture.folder().with_extension("away");
    std::fs::rename(fixture.folder(), &away).unwrap();
    let error = fixture.store.has_job_result_entry(job(1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(fixture.store.dirty_results().await.is_err());
    assert!(fixture.health.snapshot().is_degraded());
    // A result is recorded nevertheless, in a folder made anew; what was there before stays unknown.
    fixture.store.create_dirty_result(&entry(2)).await.unwrap();
    assert!(fixture.store.has_job_result_entry(job(2)).await.unwrap());
    assert!(fixture.store.has_job_result_entry(job(1)).await.is_err());
    assert!(fixture.store.dirty_results().await.is_err());
    // Put back: known again.
    std::fs::rename(fixture.folder(), fixture.folder().with_extension("new")).unwrap();
    std::fs::rename(&away, fixture.folder()).unwrap();
    assert!(fixture.store.has_job_result_entry(job(1)).await.unwrap());
    assert!(!fixture.store.has_job_result_entry(job(2)).await.unwrap());
    assert!(!fixture.health.snapshot().is_degraded());
}

#[tokio::test]
async fn b39_a_file_in_place_of_the_folder_is_an_error() {
    let fixture = Fixture::new(false).await;
    std::fs::create_dir_all(fixture.folder().parent().unwrap()).unwrap();
    std::fs::write(fixture.folder(), "x").unwrap();
    assert!(fixture.store.has_job_result_entry(job(1)).await.is_err());
    assert!(fixture.store.dirty_results().await.is_err());
    let error = fixture.store.create_dirty_result(&entry(1)).await.unwrap_err();
    assert!(error.to_string().contains("is not a folder"), "{error}");
}

#[tokio::test]
async fn an_end_decided_elsewhere_replaces_what_a_deposed_process_left() {
    let fixture = Fixture::new(false).await;
    let mut other = entry(1);
    other.result.application_status = ApplicationStatus::Failed;
    fixture.store.record_decided_result(&other).await.unwrap();
    fixture.store.record_decided_result(&entry(1)).await.unwrap();
    assert_eq!(
        fixture.store.job_result_entry(job(1)).await.unwrap(),
        Some(entry(1))
    );
    let written = std::fs::metadata(fixture.dirty(job(1)))
        .unwrap()
        .modified()
        .unwrap();
    fixture.store.record_decided_result(&entry(1)).await.unwrap();
    assert_eq!(
        std::fs::metadata(fixture.dirty(job(1)))
            .unwrap()
            .modified()
            .unwrap(),
        written
    );
    fixture.write_dirty(job(1), "torn");
    fixture.store.record_decided_result(&entry(1)).await.unwrap();
    fixture.store.mark_result_as_clean(job(1)).await.unwrap();
    fixture.store.record_decided_result(&other).await.unwrap();
    assert_eq!(fixture.flags(job(1)).await, (true, false, true));
    assert!(!fixture.dirty(job(1)).exists());
}

#[tokio::test]
async fn a_folder_of_its_own_is_used_and_checked() {
    let local = LocalStorage::new().await;
    let own = local.directory.path().join("own results");
    let settings = JobResultStoreSettings {
        storage_path: Some((&format!("file://{}", own.display())).into()),
        delete_on_commit: false,
        ..JobResultStoreSettings::default()
    };
    let health = HealthMonitor::default();
    let storage = || Arc::clone(&local.storage);
    let missing = FileSystemJobResultStore::open_existing(storage(), settings.clone(), health.clone()).await;
    assert_eq!(missing.err().unwrap().kind(), ErrorKind::NotFound);
    let store = FileSystemJobResultStore::open(storage(), settings.clone(), health.clone())
        .await
        .unwrap();
    store.create_dirty_result(&entry(1)).await.unwrap();
    assert!(own.join(format!("{}_DIRTY.json", job(1))).is_file());
    let again = FileSystemJobResultStore::open_existing(storage(), settings, health.clone())
        .await
        .unwrap();
    assert!(again.has_dirty_job_result_entry(job(1)).await.unwrap());
    let bad = JobResultStoreSettings {
        storage_path: Some("viewfs://b".into()),
        delete_on_commit: false,
        ..JobResultStoreSettings::default()
    };
    let error = FileSystemJobResultStore::open(storage(), bad, health)
        .await
        .err()
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

#[tokio::test]
async fn clean_up_deletes_results_and_nothing_else() {
    let fixture = Fixture::new(false).await;
    assert_eq!(
        fixture.store.delete_all_results().await.unwrap(),
        LeftResults::default()
    );
    fixture.store.create_dirty_result(&entry(1)).await.unwrap();
    fixture.store.create_dirty_result(&entry(2)).await.unwrap();
    fixture.store.mark_result_as_clean(job(2)).await.unwrap();
    std::fs::write(fixture.folder().join("mine"), "x").unwrap();
    std::fs::write(fixture.folder().join("x#1"), "x").unwrap();
    let left = fixture.store.delete_all_results().await.unwrap();
    assert_eq!(
        left.foreign,
        [fixture.folder().join("mine").display().to_string()]
    );
    assert!(left.shared.is_empty());
    assert_eq!(fixture.local.files(), ["job-results-store/c1/mine"]);
}

#[tokio::test]
async fn results_in_a_configured_folder_are_left_for_whoever_shares_it() {
    let local = LocalStorage::new().await;
    let own = local.directory.path().join("own");
    let settings = JobResultStoreSettings {
        storage_path: Some(own.to_str().unwrap().into()),
        delete_on_commit: false,
        ..JobResultStoreSettings::default()
    };
    let store =
        FileSystemJobResultStore::open(Arc::clone(&local.storage), settings, HealthMonitor::default())
            .await
            .unwrap();
    assert_eq!(store.delete_all_results().await.unwrap(), LeftResults::default());
    store.create_dirty_result(&entry(1)).await.unwrap();
    let file = own.join(format!("{}_DIRTY.json", job(1)));
    std::fs::write(own.join("x#1"), "of a writer of another cluster").unwrap();
    let left = store.delete_all_results().await.unwrap();
    assert_eq!(left.shared, [file.display().to_string()]);
    assert!(left.foreign.is_empty());
    let error = left.none_beside(Vec::new(), "/x").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.message().contains("other clusters may share"), "{error}");
    assert!(file.exists() && own.join("x#1").exists());
}

#[tokio::test]
async fn a_clean_up_deletes_no_result_that_was_recorded_after_it_listed_them() {
    let fixture = Fixture::new(false).await;
    fixture.store.create_dirty_result(&entry(1)).await.unwrap();
    let listed = fixture.store.result_files().await.unwrap();
    fixture.store.create_dirty_result(&entry(2)).await.unwrap();
    assert_eq!(
        fixture.store.delete_files(listed).await.unwrap(),
        LeftResults::default()
    );
    assert_eq!(fixture.flags(job(1)).await, (false, false, false));
    assert!(fixture.dirty(job(2)).exists());
}
