use std::collections::BTreeMap;

use bytes::Bytes;
use ha_core::environment::Environment;
use ha_core::error::{Effect, ErrorKind};
use ha_core::ids::ClusterId;

use super::{put_checkpoint, put_graph};
use crate::test_support::{LocalStorage, cluster, job};
use crate::{HaStorage, StateFile, StateKind};

#[tokio::test]
async fn a_state_is_read_back_by_its_pointer_in_both_stores() {
    let local = LocalStorage::new().await;
    let memory = HaStorage::in_memory(&cluster(), &Environment::system());
    for storage in [&local.storage, &memory] {
        let file = put_graph(storage, 1).await;
        let state = storage.get_state(&file).await.unwrap();
        assert_eq!((state.owner, state.payload.len()), (job(1), 100));
        assert_eq!(state.attributes["name"], "n");
        assert!(storage.has_state_files().await.unwrap());
        assert!(storage.delete(&file.path).await.unwrap());
        assert!(!storage.delete(&file.path).await.unwrap());
        assert_eq!(
            storage.get_state(&file).await.unwrap_err().kind(),
            ErrorKind::NotFound
        );
        assert!(!storage.has_state_files().await.unwrap());
    }
}

#[tokio::test]
async fn b45_every_damage_to_a_file_is_told() {
    let local = LocalStorage::new().await;
    let file = put_graph(&local.storage, 1).await;
    let other = put_graph(&local.storage, 2).await;
    let path = local.folder().join(&file.path);
    let whole = std::fs::read(&path).unwrap();
    let others = std::fs::read(local.folder().join(&other.path)).unwrap();
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let mut flipped_header = whole.clone();
    flipped_header[12] ^= 1;
    let cases: [(Vec<u8>, &str); 7] = [
        (Vec::new(), "is empty"),
        (whole[..whole.len() - 1].to_vec(), "is cut off"),
        (whole[..10].to_vec(), "is cut off"),
        ([&whole[..], b"x"].concat(), "has bytes appended"),
        (flipped, "altered"),
        (flipped_header, "header"),
        (others, "belongs to the job 0202"),
    ];
    for (content, reason) in cases {
        std::fs::write(&path, content).unwrap();
        let error = local.storage.get_state(&file).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.message().contains(reason), "{error}");
        assert_eq!(error.subject(), Some(path.to_str().unwrap()));
    }
    std::fs::write(&path, &whole).unwrap();
    assert!(local.storage.get_state(&file).await.is_ok());
}

#[tokio::test]
async fn a_pointer_to_anywhere_else_is_refused_for_reading_and_deleting() {
    let local = LocalStorage::new().await;
    let own = put_graph(&local.storage, 1).await;
    let environment = Environment::system();
    let neighbour = ClusterId::new("c2").unwrap();
    let neighbour = HaStorage::open(local.directory.path().to_str().unwrap(), &neighbour, &environment)
        .await
        .unwrap();
    let theirs = put_graph(&neighbour, 1).await;
    let before = local.files();
    let checkpoint = put_checkpoint(&local.storage, 1, 1).await;
    for path in [
        "/etc/passwd".to_owned(),
        "".to_owned(),
        format!("../c2/{}", theirs.path),
        format!("jobgraphs/../../c2/{}", theirs.path),
        format!("/{}", own.path),
        format!("{}/", own.path),
        own.path.replace("jobgraphs/", "jobgraphs//"),
        own.path.replace("jobgraphs/", "jobgraphs/./"),
        own.path.replace("jobgraphs/", "jobgraphs%2F"),
        format!("{}#1", own.path),
        "identity.json".to_owned(),
        checkpoint.path,
    ] {
        let file = StateFile {
            path: path.clone(),
            ..own.clone()
        };
        let error = local.storage.get_state(&file).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{path}: {error}");
        if !path.contains("checkpoints") {
            let error = local.storage.delete(&path).await.unwrap_err();
            assert_eq!(
                (error.kind(), error.effect()),
                (ErrorKind::Corrupt, Effect::NotApplied),
                "{path}"
            );
        }
    }
    assert_eq!(local.files().len(), before.len() + 1);
}

#[cfg(unix)]
#[tokio::test]
async fn symbolic_links_are_never_followed() {
    use std::os::unix::fs::symlink;
    let local = LocalStorage::new().await;
    let outside = tempfile::tempdir().unwrap();
    let file = put_graph(&local.storage, 1).await;
    let path = local.folder().join(&file.path);
    // The file is a link to a good one elsewhere.
    let moved = outside.path().join("moved");
    std::fs::rename(&path, &moved).unwrap();
    symlink(&moved, &path).unwrap();
    for error in [
        local.storage.get_state(&file).await.unwrap_err(),
        local.storage.delete(&file.path).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.message().contains("symbolic link"), "{error}");
    }
    assert!(moved.exists() && path.is_symlink());
    // So is the folder.
    std::fs::remove_file(&path).unwrap();
    std::fs::remove_dir(local.folder().join("jobgraphs")).unwrap();
    symlink(outside.path(), local.folder().join("jobgraphs")).unwrap();
    let owner = job(2);
    let put = local
        .storage
        .put_state(
            StateKind::JobGraph,
            owner,
            &owner.to_string(),
            BTreeMap::new(),
            Bytes::new(),
        )
        .await;
    assert_eq!(put.unwrap_err().effect(), Effect::NotApplied);
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
}
