//! What is found when results are opened.

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
