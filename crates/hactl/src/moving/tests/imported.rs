//! Imports, in the mode `filesystem`; on ZooKeeper they are tested beside a real server.

use std::path::Path;

use ha_core::ErrorKind;
use ha_core::configuration::Configuration;
use ha_zookeeper::client::Operation;

use super::*;
use crate::cluster::{Cluster, ReadingOptions};
use crate::moving::import_plan::creations;
use crate::moving::{Export, import};
use crate::render::View;
use crate::report::text_of;
use crate::writes::{Outcome, WriteOptions, Written, settled};

fn configuration(directory: &Path, cluster_id: &str) -> Configuration {
    Configuration::new()
        .with("high-availability", "filesystem")
        .with("high-availability.storageDir", directory.display().to_string())
        .with("high-availability.cluster-id", cluster_id)
}

/// Imports into a cluster in a folder of one's own.
async fn import_into(
    directory: &Path,
    cluster_id: &str,
    archive: &Path,
    apply: bool,
) -> ha_core::Result<Written> {
    let configuration = configuration(directory, cluster_id);
    let environment = Environment::system();
    let cluster = Cluster::open_for_import(&configuration, ReadingOptions::default(), &environment).await?;
    let audit = directory.with_file_name("audit");
    let options = WriteOptions {
        apply,
        audit: apply.then_some(audit),
    };
    import(&cluster, archive, &options).await
}

/// The files below a folder with their content, identities left out.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for file in crate::cluster::walk(folder, u64::MAX, &mut Vec::new()) {
        let name = file.path.strip_prefix(folder).unwrap().display().to_string();
        if !file.is_folder && !name.ends_with("identity.json") {
            found.insert(name, file.data);
        }
    }
    found
}

/// A cluster of files, and its archive.
async fn archived() -> (World, PathBuf) {
    let world = World::new().await;
    let registry =
        ha_storage::FileSystemRunningJobsRegistry::new(Arc::clone(&world.storage), HealthMonitor::default());
    ha_core::jobs::RunningJobsRegistry::set_job_running(&*registry, JOB)
        .await
        .unwrap();
    let environment = Environment::system();
    let source = Cluster::open(
        &configuration(&world.directory.path().join("ha"), "c"),
        &environment,
    )
    .await
    .unwrap();
    let archive = world.directory.path().join("files.tar");
    let report = Export::write(&source, &archive).await.unwrap();
    assert!(report.broken.is_empty(), "{:?}", report.broken);
    (world, archive)
}

fn target(world: &World) -> PathBuf {
    let target = world.directory.path().join("target");
    std::fs::create_dir_all(&target).unwrap();
    target
}

#[tokio::test]
async fn what_was_exported_is_there_under_a_new_uuid() {
    let (world, archive) = archived().await;
    let target = target(&world);
    let (dry, ended) = import_into(&target, "d", &archive, false).await.unwrap();
    assert!(ended.is_none() && !dry.body.applied);
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0);

    let (report, ended) = import_into(&target, "d", &archive, true).await.unwrap();
    assert!(ended.is_none(), "{ended:?}");
    assert_eq!(report.body.changes.len(), dry.body.changes.len());
    let outcomes = report.body.changes.iter().map(|change| change.outcome);
    assert!(outcomes.into_iter().all(|outcome| outcome == Outcome::Applied));
    let audit = std::fs::read_to_string(world.directory.path().join("audit")).unwrap();
    assert_eq!(audit.lines().count(), report.body.changes.len());
    let source = world.directory.path().join("ha");
    assert_eq!(files(&source.join("c")), files(&target.join("d")));
    let results = "job-results-store";
    assert_eq!(
        files(&source.join(results).join("c")),
        files(&target.join(results).join("d"))
    );
    let id = ClusterId::new("d").unwrap();
    let uri = target.display().to_string();
    let storage = HaStorage::open(&uri, &id, &Environment::system()).await.unwrap();
    let identity = storage.read_identity().await.unwrap().unwrap();
    assert_eq!((identity.importing, identity.tree), (None, None));

    // Not twice, and nothing is changed then.
    let before = files(&target);
    for apply in [false, true] {
        let error = import_into(&target, "d", &archive, apply).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    }
    assert_eq!(files(&target), before);
}

#[tokio::test]
async fn an_import_that_was_cut_off_goes_on_with_the_same_archive_only() {
    let (world, archive) = archived().await;
    let target = target(&world);
    import_into(&target, "d", &archive, true).await.unwrap();
    let whole = files(&target);
    // As if it had been killed: the mark stands, a file is missing, another one is half-written.
    let contents = ArchiveReader::open(&archive).unwrap().verify().unwrap();
    let path = target.join("d/identity.json");
    let mut identity: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    identity["importing"] = contents.sha256.clone().into();
    std::fs::write(&path, identity.to_string()).unwrap();
    std::fs::remove_dir_all(target.join("d/jobgraphs")).unwrap();
    let blobs = target.join(format!("d/blobs/{JOB}"));
    std::fs::write(blobs.join(".upload-1"), "half").unwrap();

    let other = world.directory.path().join("other.tar");
    let source = configuration(&world.directory.path().join("ha"), "c");
    std::fs::remove_file(world.result(&format!("{DONE}.json"))).unwrap();
    let cluster = Cluster::open(&source, &Environment::system()).await.unwrap();
    Export::write(&cluster, &other).await.unwrap();
    let error = import_into(&target, "d", &other, true).await.err().unwrap();
    assert!(error.advice().contains("same archive"), "{error}");
    let (report, ended) = import_into(&target, "d", &archive, true).await.unwrap();
    assert!(ended.is_none(), "{ended:?} {report:?}");
    assert_eq!(files(&target), whole);
    let uuid: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(uuid["clusterUuid"], identity["clusterUuid"]);
    assert_eq!(uuid["importing"], serde_json::Value::Null);
}

#[tokio::test]
async fn nothing_is_changed_where_something_is_or_the_archive_cannot_be_used() {
    let (world, archive) = archived().await;
    let target = target(&world);
    let refused = async |archive: &Path| {
        let before = files(world.directory.path());
        let error = import_into(&target, "d", archive, true).await.err().unwrap();
        let mut after = files(world.directory.path());
        after.remove("audit");
        assert_eq!(before, after, "{error}");
        error
    };
    let bytes = std::fs::read(&archive).unwrap();
    let torn = world.directory.path().join("torn.tar");
    std::fs::write(&torn, &bytes[..bytes.len() / 2]).unwrap();
    assert_eq!(refused(&torn).await.kind(), ErrorKind::Corrupt);
    let (_, _) = world.export().await;
    let of_a_tree = world.directory.path().join("export.tar");
    let error = refused(&of_a_tree).await;
    assert!(error.message().contains("mode zookeeper"), "{error}");

    let results = target.join("job-results-store/d");
    std::fs::create_dir_all(&results).unwrap();
    std::fs::write(results.join(format!("{DONE}.json")), "{}").unwrap();
    let error = refused(&archive).await;
    assert!(error.message().contains("result"), "{error}");
    std::fs::remove_dir_all(&results).unwrap();
    std::fs::create_dir_all(target.join("d/anything")).unwrap();
    let error = refused(&archive).await;
    assert!(error.message().contains("anything"), "{error}");
}

#[test]
fn the_counter_is_never_behind_a_checkpoint() {
    let id = ClusterId::new("d").unwrap();
    let paths = ClusterPaths::new("", "/moved", &id).unwrap();
    let checkpoint = |number| CheckpointId::new(number).unwrap();
    let pointer = Pointer {
        file: StateFile {
            kind: StateKind::Checkpoint,
            path: "x".to_owned(),
            size: 1,
            crc32c: 1,
        },
        write_id: Uuid::from_u128(1),
        name: None,
        terminal: None,
    };
    for (next, expected) in [(3, "8"), (8, "8"), (9, "9")] {
        let znodes = [
            Znode::Counter(JOB, checkpoint(next)),
            Znode::Checkpoint(JOB, checkpoint(7), pointer.clone()),
            Znode::Checkpoint(JOB, checkpoint(5), pointer.clone()),
        ];
        let made = creations(&paths, &znodes).unwrap();
        let Operation::Create { path, data, .. } = &made[0] else {
            panic!("{made:?}");
        };
        assert_eq!(*path, format!("/moved/d/jobs/{JOB}/checkpoint_id_counter"));
        assert_eq!(data, expected);
    }
}

/// The expected texts stand in `snapshots/`; the document is part of the help.
#[tokio::test]
async fn the_table_and_the_document() {
    let (world, archive) = archived().await;
    let target = target(&world);
    let (mut report, _) = import_into(&target, "d", &archive, false).await.unwrap();
    let folder = world.directory.path().display().to_string();
    let shown = |text: &str| settled(text, &folder);
    report.cluster.location = shown(&report.cluster.location);
    for note in &mut report.body.notes {
        *note = shown(note);
    }
    for change in &mut report.body.changes {
        change.path = shown(&change.path);
        // Half of a key is by chance.
        if let Some((folder, _)) = change.path.rsplit_once("/p-") {
            change.path = format!("{folder}/p-<a key>");
        }
    }
    insta::assert_snapshot!("import_table", text_of(&report, &View::plain(0)));
    let json = serde_json::to_string_pretty(&report).unwrap();
    insta::assert_snapshot!("import_json", json);
}
