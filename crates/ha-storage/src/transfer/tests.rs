use std::collections::BTreeMap;

use bytes::Bytes;
use ha_core::environment::RandomIdSource;
use ha_core::error::ErrorKind;
use ha_core::health::HealthMonitor;
use ha_core::ids::BlobKey;
use sha2::{Digest as _, Sha256};

use super::*;
use crate::results::FileSystemJobResultStore;
use crate::state::{StateKind, envelope};
use crate::test_support::{LocalStorage, job};

fn carrier(local: &LocalStorage) -> Carrier {
    let storage = std::sync::Arc::clone(&local.storage);
    let results = FileSystemJobResultStore::in_storage(
        std::sync::Arc::clone(&storage),
        false,
        HealthMonitor::default(),
    );
    Carrier::new(storage, results)
}

fn sha256(content: &[u8]) -> [u8; 32] {
    Sha256::digest(content).into()
}

/// A file of each kind, with content that is its own.
fn files() -> Vec<(CarriedFile, Bytes)> {
    let id = job(1);
    let state = |kind, path: String| {
        let content = envelope::encode(kind, id, BTreeMap::new(), b"pay\nload").unwrap();
        (CarriedFile::in_folder(&path).unwrap(), content)
    };
    let unique = "00112233-4455-6677-8899-aabbccddeeff";
    let blob = Bytes::from(vec![7; 700_000]);
    let key = BlobKey::new(sha256(&blob), &RandomIdSource);
    let result = format!(
        r#"{{"result":{{"id":"{id}","application-status":"SUCCEEDED","net-runtime":1}},"version":1}}"#
    );
    let result = |suffix: &str| {
        let name = format!("results/{id}{suffix}.json");
        (CarriedFile::parse(&name).unwrap(), Bytes::from(result.clone()))
    };
    vec![
        state(StateKind::JobGraph, format!("jobgraphs/{id}-{unique}")),
        state(StateKind::JobGraph, format!("jobgraphs/{id}.job")),
        state(
            StateKind::Checkpoint,
            format!("jobs/{id}/checkpoints/0000000000000000001-{unique}"),
        ),
        state(StateKind::CheckpointIdCounter, format!("jobs/{id}/counter")),
        state(StateKind::RunningJob, format!("running_job_registry/{id}")),
        (
            CarriedFile::in_folder(&format!("blobs/{id}/{key}")).unwrap(),
            blob,
        ),
        result(""),
        result("_DIRTY"),
    ]
}

#[test]
fn a_name_is_read_back_as_itself_and_others_are_refused() {
    for (file, _) in files() {
        assert_eq!(CarriedFile::parse(&file.to_string()).unwrap(), file);
        assert_eq!(file.owner(), job(1));
    }
    let good = files()[5].0.to_string();
    for bad in [
        "",
        "files",
        "files/",
        "results/",
        "files/identity.json",
        "/files/jobgraphs/x",
        "files/../identity.json",
        "files/jobgraphs/../jobs/x",
        "results/../../x_DIRTY.json",
        "results/README.json",
        "other/x",
        &format!("{good}/x"),
        &good.to_uppercase(),
        &good.replacen("blobs/", "blobs//", 1),
        &good.replacen("p-", "t-", 1),
    ] {
        assert!(CarriedFile::parse(bad).is_err(), "{bad:?}");
    }
}

#[tokio::test]
async fn what_is_read_in_one_storage_is_created_in_another() {
    let (from, to) = (LocalStorage::new().await, LocalStorage::new().await);
    let (source, target) = (carrier(&from), carrier(&to));
    for (file, content) in files() {
        let mut writer = source.create(&file).await.unwrap();
        writer.write(content.clone()).await.unwrap();
        writer.finish(&sha256(&content)).await.unwrap();

        // A repetition is success.
        for _ in 0..2 {
            let mut reader = source.read(&file).await.unwrap().unwrap();
            assert_eq!(reader.size(), content.len() as u64);
            let mut writer = target.create(&file).await.unwrap();
            while let Some(piece) = reader.next().await.unwrap() {
                writer.write(piece).await.unwrap();
            }
            writer.finish(&sha256(&content)).await.unwrap();
        }
    }
    assert_eq!(from.files(), to.files());
    assert_eq!(to.files().len(), files().len());
}

#[tokio::test]
async fn content_that_is_not_the_files_own_is_never_put() {
    let local = LocalStorage::new().await;
    let carrier = carrier(&local);
    for (file, content) in files() {
        let mut altered = content.to_vec();
        let last = altered.len() - 2;
        altered[last] ^= 1;
        for wrong in [Bytes::new(), content.slice(..content.len() - 1), altered.into()] {
            let mut writer = carrier.create(&file).await.unwrap();
            writer.write(wrong.clone()).await.unwrap();
            // Also when the digest is right: the content itself is not.
            let error = writer.finish(&sha256(&wrong)).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{file}: {error}");
            assert_eq!(error.subject(), Some(carrier.place(&file).as_str()));
        }
        let mut writer = carrier.create(&file).await.unwrap();
        writer.write(content.clone()).await.unwrap();
        let error = writer.finish(&[0; 32]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        carrier.sweep_beside(&file).await.unwrap();
    }
    assert_eq!(local.files(), Vec::<String>::new());
}

#[tokio::test]
async fn another_content_that_is_there_is_left() {
    let local = LocalStorage::new().await;
    let carrier = carrier(&local);
    let (file, content) = files().swap_remove(0);
    let place = local.directory.path().join("c1").join(file.path().as_str());
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::write(&place, "other").unwrap();
    let mut writer = carrier.create(&file).await.unwrap();
    writer.write(content.clone()).await.unwrap();
    let error = writer.finish(&sha256(&content)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{error}");
    assert_eq!(std::fs::read_to_string(&place).unwrap(), "other");
}

#[test]
fn pieces_are_checked_as_the_whole_is() {
    for (file, content) in files() {
        for length in [1, 3, 100, content.len()] {
            let mut check = ContentCheck::of(&file);
            for piece in content.chunks(length) {
                check.update(piece);
            }
            assert_eq!(check.size(), content.len() as u64);
            assert_eq!(check.crc32c(), crc32c::crc32c(&content));
            assert_eq!(check.finish(&sha256(&content)), Ok(()), "{file}");
        }
    }
    let long = vec![b'x'; 200_000];
    let mut check = ContentCheck::of(&files()[0].0);
    check.update(&long);
    assert!(check.finish(&sha256(&long)).unwrap_err().contains("foreign"));
}
