//! B58, the library's side: what the detection of orphans calls one is what nothing needs, beside a leader that works
//! and whatever else lies there; and where tree and files do not fit it calls nothing so.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ha_core::ids::CheckpointId;
use ha_core::jobs::{ApplicationStatus, JobGraphStore};
use ha_core::lease::LeaseTerms;
use ha_core::services::HighAvailabilityServices as _;
use ha_storage::{FileKind, Orphan, OrphanReport, OrphanRules, Refusal, StateKind};
use ha_testkit::contract::{checkpoint, ended, graph, job};
use ha_testkit::fakes::RecordingJobGraphListener;
use ha_zookeeper::services::ZooKeeperHaServices;

use crate::cleanup::fill;
use crate::rig::Rig;

/// Lets every file look as if it had been written an hour ago.
fn age_all(rig: &Rig) {
    for path in rig.files() {
        age(&path);
    }
}

fn age(path: &Path) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    let now = file.metadata().unwrap().modified().unwrap();
    let old = now
        .checked_sub(Duration::from_secs(3600))
        .unwrap_or(SystemTime::UNIX_EPOCH);
    file.set_modified(old).unwrap();
}

/// Finds orphans of 10 minutes. No process dies here, so the observations may follow each other closely.
async fn find(services: &ZooKeeperHaServices) -> OrphanReport {
    let terms = LeaseTerms::new(Duration::from_secs(1), Some(Duration::from_millis(100))).unwrap();
    let rules = OrphanRules::new(Duration::ZERO, &terms);
    services.orphan_detection_by(rules).find().await.unwrap()
}

async fn started_graphs(services: &ZooKeeperHaServices) -> Arc<dyn JobGraphStore> {
    let graphs = services.job_graph_store();
    graphs
        .start(Arc::new(RecordingJobGraphListener::new()))
        .await
        .unwrap();
    graphs
}

#[tokio::test(flavor = "multi_thread")]
async fn b58_only_files_that_nothing_needs_are_called_orphans() {
    let rig = Rig::new().await;
    let services = rig.leading_services().await;
    // A job with everything, one without any checkpoint, and one that has ended and is not cleaned up yet.
    fill(&services, 1).await;
    let graphs = started_graphs(&services).await;
    graphs
        .put_job_graph(&graph(job(2), "no checkpoint yet"))
        .await
        .unwrap();
    fill(&services, 3).await;
    services
        .job_result_store()
        .create_dirty_result(&ended(job(3), ApplicationStatus::Failed))
        .await
        .unwrap();
    // One that was replaced, and checkpoints that were subsumed: their files are gone with their pointers.
    graphs.put_job_graph(&graph(job(2), "replaced")).await.unwrap();
    let factory = services.checkpoint_recovery_factory();
    let store = factory
        .create_recovered_completed_checkpoint_store(job(1), 1)
        .await
        .unwrap();
    store.add_and_subsume(checkpoint(job(1), 9)).await.unwrap();
    age_all(&rig);
    assert_eq!(find(&services).await, OrphanReport::default());

    // What crashes leave: files whose pointers were never published.
    let storage = services.storage();
    let mut expected = Vec::new();
    for (kind, number, name) in [
        (StateKind::JobGraph, 2, job(2).to_string()),
        (StateKind::JobGraph, 8, job(8).to_string()),
        (StateKind::Checkpoint, 1, CheckpointId::new(10).unwrap().to_name()),
        (StateKind::Checkpoint, 8, CheckpointId::FIRST.to_name()),
    ] {
        let file = storage
            .put_state(kind, job(number), &name, Default::default(), "x".into())
            .await
            .unwrap();
        expected.push(file.path);
    }
    let folder = storage.local_folder().unwrap();
    let temporary = format!("jobs/{}/checkpoints/x#7", job(1));
    std::fs::write(folder.join(&temporary), "torn").unwrap();
    expected.push(temporary);
    expected.sort();
    // And what is somebody else's.
    let foreign = ["README", "jobgraphs/notes.txt", "backup/x"].map(|path| folder.join(path));
    for path in &foreign {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "mine").unwrap();
    }
    assert_eq!(find(&services).await.orphans, [], "all of it is young");
    age_all(&rig);
    let (znodes, files) = (rig.znodes().await, rig.files());

    // While the leader goes on.
    let working = async {
        for id in 11..=15 {
            store.add_and_subsume(checkpoint(job(1), id)).await.unwrap();
        }
    };
    let (report, ()) = tokio::join!(find(&services), working);
    let found: Vec<_> = report.orphans.iter().map(|orphan| orphan.path.clone()).collect();
    assert_eq!((report.refusal, found), (None, expected));
    let places: Vec<_> = report.foreign.iter().map(|file| file.place.clone()).collect();
    let mut expected =
        [&foreign[0], &foreign[1], &folder.join("backup")].map(|path| path.display().to_string());
    expected.sort();
    assert_eq!(places, expected);

    // A process that does not lead finds the same, but for what it sweeps when it opens its services; and nothing was
    // written or deleted but by the leader.
    let other = rig.services().await;
    let again = find(&other).await.orphans;
    let states = |orphans: &[Orphan]| -> Vec<_> {
        let states = orphans.iter().filter(|orphan| orphan.kind != FileKind::Temporary);
        states.map(|orphan| orphan.path.clone()).collect()
    };
    assert_eq!(states(&again), states(&report.orphans));
    other.close().await.unwrap();
    let is_gone = |path: &&PathBuf| !path.exists() && !path.display().to_string().contains('#');
    let gone: Vec<_> = files.iter().filter(is_gone).collect();
    assert_eq!(gone.len(), 1, "the checkpoint that was subsumed: {gone:?}");
    assert_eq!(rig.znodes().await.len(), znodes.len());
    graphs.stop().await.unwrap();
    services.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn b58_a_tree_that_was_lost_calls_nothing_an_orphan() {
    let rig = Rig::new().await;
    let services = rig.leading_services().await;
    fill(&services, 1).await;
    services.close().await.unwrap();
    rig.admin.delete_tree(rig.paths.cluster()).await.unwrap();
    age_all(&rig);
    // Nobody has made it again.
    let reader = rig.services().await;
    let report = find(&reader).await;
    assert!(
        matches!(report.refusal, Some(Refusal::NoTree { .. })),
        "{report:?}"
    );
    reader.close().await.unwrap();
    // It was made again; new jobs do not make the old ones' files orphans.
    let services = rig.leading_services().await;
    fill(&services, 2).await;
    let report = find(&services).await;
    assert!(
        matches!(report.refusal, Some(Refusal::TreeLost { .. })),
        "{report:?}"
    );
    assert!(report.orphans.is_empty());
    // Somebody has looked, and accepts the loss.
    let identity = rig.admin.text(&rig.paths.identity()).await.unwrap().unwrap();
    let accepted = identity.replace(r#","treeLost":true"#, "");
    assert_ne!(accepted, identity);
    rig.admin
        .set(&rig.paths.identity(), accepted.as_bytes())
        .await
        .unwrap();
    let report = find(&services).await;
    assert_eq!(report.refusal, None);
    // The graph and three checkpoints; the blob, of which nothing is known any more.
    let owners: Vec<_> = report.orphans.iter().map(|orphan| orphan.owner).collect();
    assert_eq!(owners, [Some(job(1)); 5], "{report:#?}");
    services.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn b58_a_pointer_that_somebody_spoiled_keeps_the_files_of_its_job() {
    let rig = Rig::new().await;
    let services = rig.leading_services().await;
    fill(&services, 1).await;
    fill(&services, 2).await;
    rig.admin
        .set(&rig.paths.job_graph(job(1)), b"spoiled")
        .await
        .unwrap();
    // A pointer of the job is gone: without the other one's trouble its file would be an orphan.
    for number in [1, 2] {
        let path = rig.paths.checkpoint(job(number), CheckpointId::FIRST);
        rig.admin.delete(&path).await.unwrap();
    }
    age_all(&rig);
    let report = find(&services).await;
    let owners: Vec<_> = report.orphans.iter().map(|orphan| orphan.owner).collect();
    assert_eq!((report.refusal, owners), (None, vec![Some(job(2))]));
    assert_eq!(report.unreadable.len(), 1);
    services.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_configured_rules_are_those_of_the_negotiated_timeout() {
    let rig = Rig::new().await;
    let services = rig.services().await;
    let terms = services.session().lease_terms().unwrap();
    let rules = OrphanRules::new(Duration::ZERO, &terms);
    assert_eq!(
        rules.interval(),
        services.session().session_timeout() + 2 * terms.tick()
    );
    assert!(rules.age() >= Duration::from_secs(600));
    services.orphan_detection().unwrap();
    services.close().await.unwrap();
    assert!(services.orphan_detection().is_err());
}
