use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ha_core::environment::Environment;
use ha_core::error::{Effect, ErrorKind};
use ha_core::ids::{CheckpointId, ClusterId};

use crate::test_support::{FaultyStore, LocalStorage, Trouble, cluster, job, open};
use crate::{HaStorage, StateFile, StateKind};

async fn put_graph(storage: &HaStorage, number: u8) -> StateFile {
    let owner = job(number);
    let attributes = BTreeMap::from([("name".to_owned(), "n".to_owned())]);
    let payload = Bytes::from(vec![number; 100]);
    storage
        .put_state(
            StateKind::JobGraph,
            owner,
            &owner.to_string(),
            attributes,
            payload,
        )
        .await
        .unwrap()
}

async fn put_checkpoint(storage: &HaStorage, number: u8, id: u64) -> StateFile {
    let name = CheckpointId::new(id).unwrap().to_name();
    storage
        .put_state(
            StateKind::Checkpoint,
            job(number),
            &name,
            BTreeMap::new(),
            Bytes::from("x"),
        )
        .await
        .unwrap()
}

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
async fn every_damage_to_a_file_is_told() {
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

#[tokio::test(start_paused = true)]
async fn transient_faults_are_tried_again_and_lasting_ones_told() {
    let store = Arc::new(FaultyStore::default());
    let storage = store.storage();
    store.make(Trouble::WriteFails, 2);
    let file = put_graph(&storage, 1).await;
    store.make(Trouble::ReadFails, 2);
    assert!(storage.get_state(&file).await.is_ok());
    store.make(Trouble::ReadFails, 100);
    let error = storage.get_state(&file).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.effect()),
        (ErrorKind::Denied, Effect::NotApplied),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_outcome_of_a_write_that_failed_late_is_read_back() {
    let store = Arc::new(FaultyStore::default());
    let storage = store.storage();
    // Put in place and reported as failed: found by the next attempt, or by the last look.
    for times in [1, 100] {
        store.make(Trouble::WriteHappensAndFails, times);
        let file = put_graph(&storage, 1).await;
        store.make(Trouble::WriteHappensAndFails, 0);
        assert!(storage.get_state(&file).await.is_ok());
    }
    let put = |number| {
        let owner = job(number);
        let storage = Arc::clone(&storage);
        async move {
            let name = owner.to_string();
            storage
                .put_state(StateKind::JobGraph, owner, &name, BTreeMap::new(), Bytes::new())
                .await
        }
    };
    store.make(Trouble::WriteFails, 100);
    let error = put(2).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.effect()),
        (ErrorKind::Unavailable, Effect::NotApplied)
    );
    // Cannot be read back: unknown.
    store.make(Trouble::ReadFails, 100);
    assert_eq!(put(2).await.unwrap_err().effect(), Effect::Unknown);
    store.make(Trouble::WriteFails, 0);
    store.make(Trouble::ReadFails, 0);
    store.make(Trouble::Full, 100);
    let error = put(3).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.effect()),
        (ErrorKind::Unavailable, Effect::NotApplied)
    );
    assert!(error.advice().contains("free space"), "{error}");
}

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
        local.storage.sweep_temporary_files(Duration::ZERO).await.unwrap(),
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
async fn a_dropped_call_finishes_what_it_began() {
    let storage = HaStorage::in_memory(&cluster(), &Environment::system());
    let (done, is_done) = tokio::sync::oneshot::channel();
    let (go, may_go) = tokio::sync::oneshot::channel::<()>();
    let mut call = Box::pin(storage.to_the_end("test", async move {
        let _ = may_go.await;
        let _ = done.send(());
        Ok(())
    }));
    assert!(futures::poll!(&mut call).is_pending());
    drop(call);
    go.send(()).unwrap();
    is_done.await.unwrap();
}
