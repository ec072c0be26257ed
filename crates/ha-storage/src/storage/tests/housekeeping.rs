use std::time::Duration;

use ha_core::environment::Environment;
use ha_core::error::ErrorKind;
use ha_core::ids::ClusterId;

use super::{put_checkpoint, put_graph};
use crate::test_support::{LocalStorage, job, open};
use crate::{HaStorage, StateKind};

#[tokio::test]
async fn the_identity_is_made_once_by_whoever_comes_first() {
    let local = LocalStorage::new().await;
    assert_eq!(local.storage.read_identity().await.unwrap(), None);
    let mut storages = Vec::new();
    for _ in 0..16 {
        storages.push(open(local.directory.path()).await);
    }
    let identities = futures::future::join_all(storages.iter().map(|storage| storage.identity())).await;
    let first = identities[0].as_ref().unwrap();
    assert!(
        identities
            .iter()
            .all(|identity| identity.as_ref().unwrap() == first)
    );
    assert_eq!(local.storage.read_identity().await.unwrap().as_ref(), Some(first));
    assert_eq!(local.files(), ["c1/identity.json"]);
    let path = local.folder().join("identity.json");
    let text = std::fs::read_to_string(&path).unwrap();
    for (content, reason) in [
        (String::new(), "no JSON"),
        (text.replace("\"format\":1", "\"format\":2"), "newer format 2"),
        ("{}".to_owned(), "no format"),
        ("{\"format\":1}".to_owned(), "incomplete"),
    ] {
        std::fs::write(&path, &content).unwrap();
        let error = local.storage.identity().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.message().contains(reason), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content, "left as it is");
    }
}

#[tokio::test]
async fn listings_show_the_layouts_files_only() {
    let local = LocalStorage::new().await;
    let graph = put_graph(&local.storage, 1).await;
    let first = put_checkpoint(&local.storage, 1, 9).await;
    let second = put_checkpoint(&local.storage, 2, 10).await;
    let graphs = local.folder().join("jobgraphs");
    for foreign in ["README", "x#1", "ABCD", "a\\b", "%41", ".upload-1"] {
        std::fs::write(graphs.join(foreign), "x").unwrap();
    }
    std::fs::create_dir(graphs.join("sub")).unwrap();
    let listed = local
        .storage
        .list_states(StateKind::JobGraph, None)
        .await
        .unwrap();
    assert_eq!(
        listed.iter().map(|state| &state.path).collect::<Vec<_>>(),
        [&graph.path]
    );
    assert_eq!((listed[0].size, listed[0].owner), (graph.size, job(1)));
    let now = local.storage.store_time().await.unwrap();
    assert!(now.duration_since(listed[0].last_modified).unwrap() < Duration::from_secs(600));
    let all = local
        .storage
        .list_states(StateKind::Checkpoint, None)
        .await
        .unwrap();
    assert_eq!(
        all.iter().map(|state| &state.path).collect::<Vec<_>>(),
        [&first.path, &second.path]
    );
    let one = local
        .storage
        .list_states(StateKind::Checkpoint, Some(job(2)))
        .await
        .unwrap();
    assert_eq!(one[0].path, second.path);
    assert!(
        local
            .storage
            .list_states(StateKind::Checkpoint, Some(job(3)))
            .await
            .unwrap()
            .is_empty()
    );
}

#[cfg(unix)]
#[tokio::test]
async fn one_odd_entry_does_not_break_a_listing() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let local = LocalStorage::new().await;
    put_graph(&local.storage, 1).await;
    let graphs = local.folder().join("jobgraphs");
    std::fs::write(graphs.join(OsStr::from_bytes(b"\xff\xfe")), "x").unwrap();
    std::os::unix::fs::symlink(&graphs, graphs.join("loop")).unwrap();
    std::os::unix::fs::symlink("/nowhere", graphs.join("dangling")).unwrap();
    assert_eq!(
        local
            .storage
            .list_states(StateKind::JobGraph, None)
            .await
            .unwrap()
            .len(),
        1
    );
}

#[tokio::test]
async fn clean_up_removes_this_clusters_files_and_tells_what_is_left() {
    let local = LocalStorage::new().await;
    let environment = Environment::system();
    let neighbour = ClusterId::new("c2").unwrap();
    let neighbour = HaStorage::open(local.directory.path().to_str().unwrap(), &neighbour, &environment)
        .await
        .unwrap();
    put_graph(&neighbour, 1).await;
    let theirs = local.files();
    local.storage.identity().await.unwrap();
    put_graph(&local.storage, 1).await;
    put_checkpoint(&local.storage, 1, 1).await;
    std::fs::write(local.folder().join("jobgraphs/x#1"), "torn").unwrap();
    std::fs::write(local.folder().join("mine.txt"), "mine").unwrap();
    let left = local.storage.delete_cluster_files().await.unwrap();
    assert_eq!(left, [local.folder().join("mine.txt").display().to_string()]);
    std::fs::remove_file(local.folder().join("mine.txt")).unwrap();
    assert!(local.storage.delete_cluster_files().await.unwrap().is_empty());
    assert_eq!(local.files(), theirs);
    assert!(!local.folder().exists());
    assert!(local.storage.delete_cluster_files().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_clean_up_deletes_no_file_that_was_put_after_it_listed_them() {
    let local = LocalStorage::new().await;
    put_graph(&local.storage, 1).await;
    let listed = local.storage.cluster_files().await.unwrap();
    local.storage.identity().await.unwrap();
    let graph = put_graph(&local.storage, 2).await;
    std::fs::write(local.folder().join("jobgraphs/y#1"), "being written").unwrap();
    assert!(local.storage.delete_files(&listed).await.unwrap().is_empty());
    let left = local.files();
    assert_eq!(left.len(), 3, "{left:?}");
    assert!(local.folder().join(&graph.path).exists());
}

#[tokio::test]
async fn only_old_temporary_files_are_swept() {
    let local = LocalStorage::new().await;
    let file = put_checkpoint(&local.storage, 1, 1).await;
    let folder = local.folder().join(&file.path).parent().unwrap().to_path_buf();
    for name in ["x#1", ".upload-1", "keep"] {
        std::fs::write(folder.join(name), "x").unwrap();
    }
    assert_eq!(
        local
            .storage
            .sweep_temporary_files(Duration::from_secs(600))
            .await
            .unwrap(),
        0
    );
    assert_eq!(
        open(local.directory.path())
            .await
            .sweep_temporary_files(Duration::ZERO)
            .await
            .unwrap(),
        2
    );
    assert!(folder.join("keep").exists());
    assert!(
        local
            .storage
            .list_states(StateKind::Checkpoint, None)
            .await
            .unwrap()
            .len()
            == 1
    );
}

#[tokio::test]
async fn an_import_begins_in_an_empty_folder_only_and_goes_on_where_it_was_cut_off() {
    let local = LocalStorage::new().await;
    let storage = &local.storage;
    assert!(!storage.expect_importable(Some("/t"), "a").await.unwrap());
    let begun = storage.begin_import(Some("/t"), "a").await.unwrap();
    assert!(begun.expect_whole(None, "x").is_err() && begun.expect_whole(Some("b"), "x").is_err());
    // The same import goes on; another one, or one into another tree, does not.
    assert_eq!(storage.begin_import(Some("/t"), "a").await.unwrap(), begun);
    assert!(storage.expect_importable(Some("/t"), "a").await.unwrap());
    for (tree, archive) in [(Some("/t"), "b"), (Some("/u"), "a"), (None, "a")] {
        let error = storage.begin_import(tree, archive).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    }
    storage.finish_import().await.unwrap();
    let whole = storage.read_identity().await.unwrap().unwrap();
    assert_eq!(
        (whole.cluster_uuid, &whole.importing),
        (begun.cluster_uuid, &None)
    );
    whole.expect_whole(None, "x").unwrap();
    let error = storage.begin_import(Some("/t"), "a").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");

    let other = LocalStorage::new().await;
    std::fs::create_dir_all(other.folder().join("blobs")).unwrap();
    let error = other.storage.begin_import(None, "a").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert!(error.message().contains("blobs"), "{error}");
    assert_eq!(other.files(), Vec::<String>::new());
}
