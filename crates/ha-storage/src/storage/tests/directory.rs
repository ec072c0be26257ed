use ha_core::environment::Environment;
use ha_core::error::ErrorKind;

use super::put_graph;
use crate::test_support::{LocalStorage, cluster, open};
use crate::{HaStorage, StateKind};

#[tokio::test]
async fn directories_are_made_and_odd_names_work() {
    let parent = tempfile::tempdir().unwrap();
    let odd = parent.path().join("a b#1").join("50%41 ö");
    let storage = open(&odd).await;
    let file = put_graph(&storage, 1).await;
    assert!(odd.join("c1").join(&file.path).is_file());
    assert!(storage.get_state(&file).await.is_ok());
    // Every spelling is the same place.
    let encoded = odd.to_str().unwrap().replace('%', "%25").replace(' ', "%20");
    for spelling in [format!("file://{encoded}/"), format!("{}//", odd.display())] {
        let again = HaStorage::open_existing(&spelling, &cluster(), &Environment::system())
            .await
            .unwrap();
        assert_eq!(again.uri(), storage.uri());
        assert!(again.get_state(&file).await.is_ok(), "{spelling}");
    }
    // Nothing is left of the proof that it can be written.
    assert_eq!(std::fs::read_dir(odd.join("c1")).unwrap().count(), 1);
}

#[tokio::test]
async fn a_directory_that_cannot_be_used_is_named_with_the_reason() {
    let parent = tempfile::tempdir().unwrap();
    let environment = Environment::system();
    let file = parent.path().join("file");
    std::fs::write(&file, "x").unwrap();
    for path in [file.clone(), file.join("below")] {
        let error = HaStorage::open(path.to_str().unwrap(), &cluster(), &environment)
            .await
            .err()
            .unwrap();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(error.to_string().contains("is not a directory"), "{error}");
    }
    let missing = parent.path().join("missing");
    let error = HaStorage::open_existing(missing.to_str().unwrap(), &cluster(), &environment)
        .await
        .err()
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(!missing.exists());
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&missing, parent.path().join("dangling")).unwrap();
        let dangling = parent.path().join("dangling");
        let error = HaStorage::open(dangling.to_str().unwrap(), &cluster(), &environment)
            .await
            .err()
            .unwrap();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    }
}

/// Root is not stopped by access rights, so that a place is taken where nobody may make files.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_directory_without_write_access_is_denied_at_once() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o555)).unwrap();
    let is_root = std::fs::write(directory.path().join("probe"), "x").is_ok();
    let path = if is_root {
        "/sys/kernel".into()
    } else {
        directory.path().to_path_buf()
    };
    let error = HaStorage::open(path.to_str().unwrap(), &cluster(), &Environment::system())
        .await
        .err()
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
    assert!(
        error.subject().unwrap().starts_with(path.to_str().unwrap()),
        "{error}"
    );
    assert!(error.message().contains("os error"), "{error}");
}

#[tokio::test]
async fn a_storage_directory_that_goes_away_is_no_empty_one() {
    let local = LocalStorage::new().await;
    let file = put_graph(&local.storage, 1).await;
    let away = local.directory.path().with_extension("away");
    std::fs::rename(local.directory.path(), &away).unwrap();
    for error in [
        local.storage.get_state(&file).await.unwrap_err(),
        local
            .storage
            .list_states(StateKind::JobGraph, None)
            .await
            .unwrap_err(),
        local.storage.delete(&file.path).await.unwrap_err(),
        local.storage.identity().await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(error.message().contains("gone"), "{error}");
    }
    assert!(!local.directory.path().exists(), "it must not be made anew");
    std::fs::rename(&away, local.directory.path()).unwrap();
    assert!(local.storage.get_state(&file).await.is_ok());
}
