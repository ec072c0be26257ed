//! B48: no name and no path, wherever it comes from, leads out of the cluster's folder: not for reading, and not for
//! deleting. What leads there is refused, reported and left.

use std::path::{Path, PathBuf};

use ha_core::ErrorKind;
use ha_core::configuration::{Configuration, HighAvailabilityOptions};
use ha_core::ids::{BlobKey, CheckpointId, ClusterId, ComponentId, JobId};
use ha_core::jobs::{ApplicationStatus, JobGraphStore as _, JobStatus};
use ha_core::services::HighAvailabilityServices as _;
use ha_storage::StateKind;
use ha_testkit::contract::{checkpoint, ended, graph, job};
use ha_zookeeper::codec::Pointer;
use integration_tests::AdminClient;

use crate::cleanup::fill;
use crate::rig::Rig;

/// Whether a text is accepted as an id of one kind.
type Accepts = fn(&str) -> bool;

#[test]
fn b48_no_id_that_becomes_a_path_is_taken_from_a_text_that_leads_elsewhere() {
    let hostile = [
        "",
        ".",
        "..",
        "../x",
        "../../x",
        "/etc/passwd",
        "a/b",
        "a\\b",
        "a/../b",
        "%2e%2e",
        "file:///etc/passwd",
        "a\0b",
        "a\nb",
        "~",
        "a b",
    ];
    let ids: [(&str, Accepts); 5] = [
        ("cluster id", |text| ClusterId::new(text).is_ok()),
        ("component", |text| {
            ComponentId::custom(text).is_ok() || ComponentId::parse(text).is_ok()
        }),
        ("job id", |text| {
            text.parse::<JobId>().is_ok() || JobId::from_name(text).is_some()
        }),
        ("checkpoint id", |text| CheckpointId::from_name(text).is_some()),
        ("blob key", |text| text.parse::<BlobKey>().is_ok()),
    ];
    for text in hostile {
        for (what, is_taken) in ids {
            assert!(!is_taken(text), "{text:?} was taken for a {what}");
        }
    }
    for text in ["../../x", "/a/b", "a/../b", ".."] {
        let configuration = Configuration::new().with("high-availability.cluster-id", text);
        let error = HighAvailabilityOptions::validate(&configuration).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{text}");
    }
}

/// What lies outside of the cluster's folder and must stay as it is.
struct Outside {
    folder: tempfile::TempDir,
    files: Vec<PathBuf>,
}

impl Outside {
    fn with(names: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files: Vec<_> = names.iter().map(|name| folder.path().join(name)).collect();
        for file in &files {
            std::fs::write(file, "mine").unwrap();
        }
        Self { folder, files }
    }

    fn expect_untouched(&self) {
        for file in &self.files {
            assert_eq!(
                std::fs::read_to_string(file).unwrap(),
                "mine",
                "{}",
                file.display()
            );
        }
    }
}

/// Lets the pointer of a znode name another path. Nothing else is wrong with it.
async fn lead_to(rig: &Rig, node: &str, kind: StateKind, path: &str) {
    let data = rig.admin.get(node).await.unwrap().unwrap();
    let mut pointer = Pointer::decode(node, kind, &data).unwrap();
    path.clone_into(&mut pointer.file.path);
    rig.admin.set(node, &pointer.encode(node).unwrap()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn b48_pointers_that_lead_elsewhere_are_neither_read_nor_followed_by_a_deletion() {
    let rig = Rig::new().await;
    let neighbour = Rig::new().await;
    let outside = Outside::with(&["passwd"]);
    let leader = rig.leader().await;
    // A file of another cluster in the same storage directory, which a path could reach.
    let theirs = rig
        .directory
        .path()
        .join(neighbour.cluster_id.as_str())
        .join("jobgraphs/x");
    std::fs::create_dir_all(theirs.parent().unwrap()).unwrap();
    std::fs::write(&theirs, "theirs").unwrap();
    let hostile = [
        outside.files[0].display().to_string(),
        "../../../../../../../../etc/passwd".to_owned(),
        format!("../{}/jobgraphs/x", neighbour.cluster_id),
        format!("jobgraphs/../../{}/jobgraphs/x", neighbour.cluster_id),
        format!("file://{}", outside.files[0].display()),
        "identity.json".to_owned(),
        String::new(),
    ];
    for path in &hostile {
        let graphs = leader.job_graphs().await;
        graphs.put_job_graph(&graph(job(1), "a")).await.unwrap();
        let store = leader.checkpoints(job(1), 1).await;
        store.add_and_subsume(checkpoint(job(1), 1)).await.unwrap();
        let (graph_node, checkpoint_node) = (
            rig.paths.job_graph(job(1)),
            rig.paths.checkpoint(job(1), CheckpointId::FIRST),
        );
        lead_to(&rig, &graph_node, StateKind::JobGraph, path).await;
        lead_to(&rig, &checkpoint_node, StateKind::Checkpoint, path).await;

        // Not read.
        let error = leader
            .job_graphs()
            .await
            .recover_job_graph(job(1))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{path}: {error}");
        let error = leader.try_checkpoints(job(1), 1).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{path}: {error}");
        assert!(leader.context.health.snapshot().broken.contains_key(&graph_node));

        // Not deleted, whichever way the pointers go: the checkpoint is subsumed by one that was added by who knew it
        // before, or shut down; the graph is replaced, or removed by hand.
        store.add_and_subsume(checkpoint(job(1), 2)).await.unwrap();
        assert_eq!(rig.admin.get(&checkpoint_node).await.unwrap(), None, "{path}");
        let second = rig.paths.checkpoint(job(1), CheckpointId::new(2).unwrap());
        lead_to(&rig, &second, StateKind::Checkpoint, path).await;
        store.shutdown(JobStatus::Finished).await.unwrap();
        assert_eq!(rig.admin.get(&second).await.unwrap(), None, "{path}");
        if graphs.remove_job_graph(job(1)).await.is_err() {
            // It is not what this store knows.
            rig.admin.delete(&graph_node).await.unwrap();
        }
        graphs.stop().await.unwrap();
        outside.expect_untouched();
        assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "theirs", "{path}");
        assert_eq!(rig.files_with("identity.json").len(), 1, "{path}");
        for file in rig.files_with(&job(1).to_string()) {
            std::fs::remove_file(file).unwrap();
        }
    }
    leader.session.close().await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn b48_symbolic_links_are_followed_by_no_clean_up() {
    use std::os::unix::fs::symlink;
    let rig = Rig::new().await;
    let services = rig.leading_services().await;
    fill(&services, 1).await;
    let folder = rig.directory.path().join(rig.cluster_id.as_str());
    // The folders of checkpoints and blobs lie elsewhere, with files of the right names in them, and so does a graph.
    let outside = Outside::with(&["graph"]);
    let moved = |from: &Path, name: &str| {
        let to = outside.folder.path().join(name);
        std::fs::rename(from, &to).unwrap();
        symlink(&to, from).unwrap();
        std::fs::read_dir(&to).map_or(1, Iterator::count)
    };
    let checkpoints = folder.join(format!("jobs/{}/checkpoints", job(1)));
    let blobs = folder.join(format!("blobs/{}", job(1)));
    let counts = [moved(&checkpoints, "checkpoints"), moved(&blobs, "blobs")];
    assert_eq!(counts, [3, 1]);
    let graph = rig.files_with("/jobgraphs/").remove(0);
    std::fs::remove_file(&graph).unwrap();
    symlink(&outside.files[0], &graph).unwrap();

    services
        .job_result_store()
        .create_dirty_result(&ended(job(1), ApplicationStatus::Failed))
        .await
        .unwrap();
    // It may say so, and must not do it.
    let cleaned = services.global_cleanup(job(1)).await;
    let all = services.close_and_cleanup_all_data().await;
    assert!(cleaned.is_err() && all.is_err(), "{cleaned:?}, {all:?}");
    let left = |name: &str| {
        std::fs::read_dir(outside.folder.path().join(name))
            .unwrap()
            .count()
    };
    assert_eq!([left("checkpoints"), left("blobs")], counts);
    outside.expect_untouched();
    services.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn b48_hostile_names_of_znodes_are_reported_and_left() {
    let rig = Rig::new().await;
    let services = rig.leading_services().await;
    fill(&services, 1).await;
    services.close().await.unwrap();
    let names = ["..x", "...", "%2e%2e%2fx", "x..y", "C:", "-rf"];
    let folders = [
        rig.paths.job_graphs(),
        rig.paths.jobs(),
        rig.paths.checkpoints(job(1)),
        rig.paths.running_jobs(),
    ];
    for folder in &folders {
        for name in names {
            rig.admin.create(&format!("{folder}/{name}"), b"x").await.unwrap();
        }
    }
    let (znodes, files) = (rig.znodes().await, rig.files());
    let reader = rig.process().await;
    let graphs = reader.job_graphs().await;
    let recovered = graphs.recover_job_graphs().await.unwrap();
    assert_eq!(
        (recovered.entries.len(), recovered.broken.len()),
        (1, names.len())
    );
    assert_eq!(graphs.job_ids().await.unwrap(), [job(1)]);
    assert_eq!(reader.checkpoints(job(1), 3).await.num_retained().await, 3);
    AdminClient::expect_unchanged(&znodes, &rig.znodes().await).unwrap();
    assert_eq!(rig.files(), files);
    reader.session.close().await;
}
