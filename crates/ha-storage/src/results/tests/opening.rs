//! What is found when results are opened, and swept then.

use std::time::Duration;

use super::*;

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_configured_folder_that_cannot_be_written_is_found_at_the_start() {
    use std::os::unix::fs::PermissionsExt as _;

    let local = LocalStorage::new().await;
    let mut own = local.directory.path().join("own");
    std::fs::create_dir(&own).unwrap();
    std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o555)).unwrap();
    if std::fs::write(own.join("x"), "").is_ok() {
        // The superuser is not stopped by access rights: a folder in which nobody may make files.
        own = "/sys/kernel".into();
    }
    let settings = JobResultStoreSettings {
        storage_path: Some(own.to_str().unwrap().into()),
        delete_on_commit: false,
        ..JobResultStoreSettings::default()
    };
    let opened =
        FileSystemJobResultStore::open(Arc::clone(&local.storage), settings, HealthMonitor::default()).await;
    assert_eq!(opened.err().unwrap().kind(), ErrorKind::Denied);
}

#[tokio::test]
async fn only_an_old_dirty_file_beside_a_clean_one_is_swept() {
    let fixture = Fixture::new(false).await;
    for number in [1, 2] {
        fixture.store.create_dirty_result(&entry(number)).await.unwrap();
    }
    let text = std::fs::read_to_string(fixture.dirty(job(1))).unwrap();
    fixture.store.mark_result_as_clean(job(1)).await.unwrap();
    // As a crash between the two steps of the marking leaves it.
    fixture.write_dirty(job(1), &text);
    let swept = fixture
        .store
        .sweep_temporary_files(Duration::from_secs(600))
        .await;
    assert_eq!(swept.unwrap(), 0);
    let storage = open(fixture.local.directory.path()).await;
    let opened = FileSystemJobResultStore::in_storage(storage, false, HealthMonitor::default());
    assert_eq!(opened.sweep_temporary_files(Duration::ZERO).await.unwrap(), 1);
    assert!(!fixture.dirty(job(1)).exists() && fixture.clean(job(1)).exists());
    assert!(fixture.dirty(job(2)).exists());
}
