//! The mode `filesystem`: what a dry run leaves, and what `--apply` does under the lock of the folder.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ha_core::ErrorKind;
use ha_core::configuration::Configuration;
use ha_core::environment::Environment;
use ha_core::ids::ClusterId;
use ha_embedded::FilesystemHaServices;
use ha_storage::{HaStorage, StateKind};
use serde_json::Value;
use tempfile::TempDir;

use super::world::{JOB, files};
use crate::cluster::Cluster;
use crate::writes::frame::Written;
use crate::writes::{Outcome, WriteOptions, WritingCommand, write};

const GC: WritingCommand = WritingCommand::Gc {
    accepts_no_pointers: false,
};

fn configuration(directory: &Path) -> Configuration {
    Configuration::new()
        .with("high-availability", "filesystem")
        .with("high-availability.storageDir", directory.display().to_string())
        .with("high-availability.cluster-id", "one")
}

/// A cluster with a checkpoint, an old temporary file, and a young one; the old one's path.
async fn populated(directory: &TempDir) -> PathBuf {
    let uri = directory.path().display().to_string();
    let id = ClusterId::new("one").unwrap();
    let storage = HaStorage::open(&uri, &id, &Environment::system()).await.unwrap();
    storage.identity().await.unwrap();
    let payload = "x".into();
    let name = "0000000000000000001";
    storage
        .put_state(StateKind::Checkpoint, JOB, name, Default::default(), payload)
        .await
        .unwrap();
    let folder = storage
        .local_folder()
        .unwrap()
        .join(format!("jobs/{JOB}/checkpoints"));
    let [old, young] = ["old", "young"].map(|name| folder.join(format!(".upload-{name}")));
    std::fs::write(&young, "x").unwrap();
    std::fs::write(&old, "left").unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    File::options()
        .write(true)
        .open(&old)
        .unwrap()
        .set_modified(long_ago)
        .unwrap();
    old
}

async fn run(command: &WritingCommand, directory: &TempDir, apply: bool) -> ha_core::Result<Written> {
    let options = WriteOptions {
        apply,
        audit: apply.then(|| directory.path().with_extension("audit")),
    };
    let cluster = Cluster::open(&configuration(directory.path()), &Environment::system()).await?;
    write(command, &cluster, &options).await
}

fn audited(directory: &TempDir) -> Vec<Value> {
    let path = directory.path().with_extension("audit");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test]
async fn a_dry_run_shows_the_orphan_and_apply_deletes_it_alone_and_writes_that_down() {
    let directory = TempDir::new().unwrap();
    let old = populated(&directory).await;
    let before = files(directory.path());
    let (shown, ended) = run(&GC, &directory, false).await.unwrap();
    assert!(ended.is_none());
    let [change] = shown.body.changes.as_slice() else {
        panic!("{shown:?}")
    };
    assert_eq!((Path::new(&change.path), change.size), (old.as_path(), Some(4)));
    assert_eq!(change.outcome, Outcome::Planned);
    assert_eq!(files(directory.path()), before);

    let (done, ended) = run(&GC, &directory, true).await.unwrap();
    assert!(ended.is_none());
    assert_eq!(done.body.changes[0].outcome, Outcome::Applied);
    let expected: Vec<_> = before
        .into_iter()
        .filter(|(path, _)| Path::new(path) != old)
        .collect();
    assert_eq!(files(directory.path()), expected);
    let [line] = audited(&directory).try_into().unwrap();
    assert_eq!(line["command"], "gc");
    assert_eq!(line["change"]["outcome"], "applied");
    assert_eq!(line["change"]["action"], "deleteFile");
    assert_eq!(line["who"]["pid"], std::process::id());
}

#[tokio::test]
async fn while_another_process_has_the_folder_nothing_is_changed() {
    let directory = TempDir::new().unwrap();
    populated(&directory).await;
    let other = FilesystemHaServices::open(&configuration(directory.path()), Environment::system())
        .await
        .unwrap();
    let before = files(directory.path());
    let error = run(&WritingCommand::Forget(JOB), &directory, true)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert_eq!(files(directory.path()), before);
    assert!(audited(&directory).is_empty());
    drop(other);
    // Now it is this one's.
    let (done, ended) = run(&WritingCommand::Forget(JOB), &directory, true).await.unwrap();
    assert!(ended.is_none() && !done.body.changes.is_empty());
}

#[tokio::test]
async fn an_audit_file_that_cannot_be_opened_keeps_everything_as_it_is() {
    let directory = TempDir::new().unwrap();
    populated(&directory).await;
    let before = files(directory.path());
    let options = WriteOptions {
        apply: true,
        audit: Some(directory.path().join("nowhere/audit")),
    };
    let cluster = Cluster::open(&configuration(directory.path()), &Environment::system())
        .await
        .unwrap();
    let error = write(&WritingCommand::Forget(JOB), &cluster, &options)
        .await
        .unwrap_err();
    assert!(error.subject().unwrap().ends_with("nowhere/audit"), "{error}");
    assert_eq!(files(directory.path()), before);
}

#[tokio::test]
async fn a_cleanup_leaves_nothing_of_the_cluster_and_all_of_its_neighbour() {
    let directory = TempDir::new().unwrap();
    populated(&directory).await;
    std::fs::create_dir(directory.path().join("two")).unwrap();
    std::fs::write(directory.path().join("two/identity.json"), "neighbour").unwrap();
    let cleanup = WritingCommand::Cleanup { ended_jobs: false };
    let (done, ended) = run(&cleanup, &directory, true).await.unwrap();
    assert!(ended.is_none(), "{ended:?}");
    assert!(
        done.body
            .changes
            .iter()
            .all(|change| change.outcome == Outcome::Applied)
    );
    assert_eq!(audited(&directory).len(), done.body.changes.len());
    let left = files(directory.path());
    assert_eq!(left.len(), 1);
    assert!(left[0].0.ends_with("two/identity.json"));
    assert!(!directory.path().join("one").exists());
}
