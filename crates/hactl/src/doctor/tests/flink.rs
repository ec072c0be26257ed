//! Recordings of running Flink clusters have no finding; and for each check something wrong that it finds, and no
//! other.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ha_core::environment::Environment;
use ha_core::ids::JobId;
use ha_testkit::FlinkRecording;
use ha_zookeeper::client::ZooKeeperClient as _;
use tempfile::TempDir;

use super::flink_world::World;
use super::world::{DIRTY_AFTER, expect, ids, server};
use crate::cluster::Nodes;
use crate::doctor::check::judge;
use crate::doctor::finding::Severity;
use crate::doctor::read_tree::TreeReader;

/// The job of the recording that runs on 2.3.0.
const JOB: &str = "871c6b3ce33cf24f843e42c417ff8b5f";
const GARBAGE: &[u8] = b"\xac\xed\x00\x05\x70";

fn plan() -> String {
    format!("execution-plans/{JOB}")
}

fn checkpoint(id: u64) -> String {
    format!("jobs/{JOB}/checkpoints/{id:019}")
}

fn counter() -> String {
    format!("jobs/{JOB}/checkpoint_id_counter")
}

#[tokio::test]
async fn recordings_have_no_finding_and_every_check_is_made() {
    for recording in [
        FlinkRecording::running_1_14(),
        FlinkRecording::ended_1_14(),
        FlinkRecording::running_1_20(),
        FlinkRecording::ended_1_20(),
        FlinkRecording::idle_2_3(),
        FlinkRecording::running_2_3(),
        FlinkRecording::ended_2_3(),
    ] {
        let world = World::load(recording).await;
        world.server.take_requests();
        let verdict = world.verdict().await;
        assert!(
            verdict.findings.is_empty() && verdict.skipped.is_empty(),
            "{}: {verdict:?}",
            world.id()
        );
        let reads = ["get", "list", "sync"];
        let requests = world.server.take_requests();
        let written = requests.iter().find(|request| !reads.contains(&request.as_str()));
        assert_eq!(written, None);
    }
}

#[tokio::test]
async fn nobody_stands() {
    let world = World::load(FlinkRecording::idle_2_3()).await;
    for name in world.names("leader/latch").await {
        world.delete(&format!("leader/latch/{name}")).await;
    }
    for component in world.names("leader").await {
        if component != "latch" {
            world.delete(&format!("leader/{component}/connection_info")).await;
        }
    }
    world.expect("no-leader", "leader/latch", None).await;
    world.delete("leader/latch").await;
    world.expect("no-leader", "leader/latch", None).await;

    let world = World::load(FlinkRecording::ended_1_14()).await;
    for name in world.names("leader/rest_server/latch").await {
        world.delete(&format!("leader/rest_server/latch/{name}")).await;
    }
    world.delete("leader/rest_server/connection_info").await;
    world.expect("no-leader", "leader/rest_server/latch", None).await;
}

#[tokio::test]
async fn components_that_nobody_is_published_for() {
    let id = "component-without-leader";
    for (recording, place) in [
        (FlinkRecording::idle_2_3(), "leader/dispatcher".to_owned()),
        (FlinkRecording::running_2_3(), format!("leader/job-{JOB}")),
        (FlinkRecording::ended_1_14(), "leader/dispatcher".to_owned()),
        (
            FlinkRecording::running_1_14(),
            "jobs/454c0ae7bd7ba4cbc16fee2728ee099d/leader".to_owned(),
        ),
    ] {
        let world = World::load(recording).await;
        let place = format!("{place}/connection_info");
        world.write(&place, b"").await;
        let verdict = world.expect(id, &place, None).await;
        assert_eq!(verdict.findings[0].severity, Severity::Info);
        world.delete(&place).await;
        world.expect(id, &place, None).await;
    }
    // What an ended job leaves is none.
    let world = World::load(FlinkRecording::ended_2_3()).await;
    world.write(&format!("leader/job-{JOB}"), b"").await;
    assert!(ids(&world.verdict().await).is_empty());
}

#[tokio::test]
async fn latches() {
    let world = World::running().await;
    world.write("leader/latch/README", b"").await;
    world.expect("foreign-latch", "leader/latch/README", None).await;
    world.delete("leader/latch/README").await;

    let [first, second] = world.names("leader/latch").await.try_into().unwrap();
    let (first, second) = (format!("leader/latch/{first}"), format!("leader/latch/{second}"));
    let owner = world
        .admin
        .get(&world.at(&first))
        .await
        .unwrap()
        .1
        .ephemeral_owner;
    let other = world
        .admin
        .get(&world.at(&second))
        .await
        .unwrap()
        .1
        .ephemeral_owner;
    world.own(&second, owner).await;
    world.expect("several-latches-of-a-session", &second, None).await;
    world.own(&second, other).await;
    assert!(ids(&world.verdict().await).is_empty());

    world.delete(&second).await;
    world.write(&second, b"").await;
    let verdict = world.expect("latch-of-a-dead-session", &second, None).await;
    assert_eq!(verdict.findings[0].severity, Severity::Error);
    world.own(&second, other).await;
    let mut snapshot = world.snapshot().await;
    let tree = snapshot.tree.as_mut().unwrap();
    tree.servers = vec![("h:1".to_owned(), Ok(server(Duration::from_secs(2), [owner])))];
    let verdict = judge(&snapshot);
    expect(
        &verdict,
        "latch-of-a-dead-session",
        Some(&world.at(&second)),
        None,
    );
}

#[tokio::test]
async fn leader_information() {
    for recording in [FlinkRecording::running_2_3(), FlinkRecording::running_1_14()] {
        let world = World::load(recording).await;
        let place = "leader/rest_server/connection_info";
        let kept = world.read(place).await;
        world.write(place, GARBAGE).await;
        world.expect("unreadable-leader-information", place, None).await;
        world.write(place, &kept).await;
        world.own(place, 77).await;
        let verdict = world.expect("leader-information-of-another", place, None).await;
        assert!(verdict.findings[0].found.contains("0x4d"), "{verdict:?}");
    }
}

#[tokio::test]
async fn pointers_that_are_garbage() {
    let world = World::running().await;
    for place in [plan(), checkpoint(8)] {
        let kept = world.read(&place).await;
        world.write(&place, GARBAGE).await;
        world.expect("unreadable-pointer", &place, None).await;
        world.write(&place, &kept).await;
    }
}

#[tokio::test]
async fn files_that_pointers_name() {
    let world = World::running().await;
    let [file] = world.files("submittedExecutionPlan").try_into().unwrap();
    let kept = std::fs::read(&file).unwrap();
    std::fs::write(&file, &kept[..100]).unwrap();
    let verdict = world.expect("pointer-to-torn-file", &plan(), Some(&file)).await;
    assert!(
        verdict.findings[0]
            .found
            .contains("has 100 bytes instead of 26800"),
        "{verdict:?}"
    );
    std::fs::remove_file(&file).unwrap();
    let verdict = world
        .expect("pointer-to-missing-file", &plan(), Some(&file))
        .await;
    assert!(verdict.findings[0].why.contains("JobManager"));
    std::fs::create_dir(&file).unwrap();
    world.expect("pointer-to-torn-file", &plan(), Some(&file)).await;
    std::fs::remove_dir(&file).unwrap();
    std::fs::write(&file, &kept).unwrap();

    // Of one length, and of the right one each: which file it is stands in the file.
    let data = world.read(&checkpoint(6)).await;
    world.write(&checkpoint(7), &data).await;
    let verdict = world.verdict().await;
    assert_eq!(ids(&verdict), ["pointer-to-foreign-file"], "{verdict:?}");
    assert_eq!(verdict.findings[0].znode, Some(world.at(&checkpoint(7))));
    assert!(verdict.findings[0].found.contains("checkpoint 6"), "{verdict:?}");
}

#[tokio::test]
async fn files_that_lie_elsewhere() {
    let mut world = World::running().await;
    // Beside the folder that the configuration names.
    let copy = TempDir::new().unwrap();
    let own = std::mem::replace(&mut world.folder, copy);
    let verdict = world.verdict().await;
    assert_eq!(ids(&verdict), ["pointer-to-misplaced-file"; 4], "{verdict:?}");
    world.folder = own;
    assert!(ids(&world.verdict().await).is_empty());

    let text = world.read(&plan()).await;
    // As long as the path that it replaces.
    let remote: Vec<_> = String::from_utf8_lossy(&text)
        .find("file:/srv")
        .into_iter()
        .collect();
    assert!(!remote.is_empty());
    let mut data = text.to_vec();
    let at = data.windows(6).position(|bytes| bytes == b"file:/").unwrap();
    data[at..at + 6].copy_from_slice(b"s3p://");
    world.write(&plan(), &data).await;
    let verdict = world.verdict().await;
    assert_eq!(ids(&verdict), ["flink-file-elsewhere"], "{verdict:?}");
    assert_eq!(verdict.findings[0].severity, Severity::Info);
    assert!(verdict.findings[0].file.as_ref().unwrap().starts_with("s3p://"));
}

#[tokio::test]
async fn znodes_that_are_not_of_the_layout_are_told_once_each() {
    let world = World::running().await;
    for path in [
        "jobs/README",
        "jobs/README/below",
        &format!("{}/x", checkpoint(7)),
    ] {
        world.write(path, b"").await;
    }
    let verdict = world.verdict().await;
    let places: Vec<_> = verdict
        .findings
        .iter()
        .map(|finding| finding.znode.clone())
        .collect();
    assert_eq!(ids(&verdict), ["foreign-znode"; 2], "{verdict:?}");
    let expected = [format!("{}/x", checkpoint(7)), "jobs/README".to_owned()];
    assert_eq!(places.len(), 2);
    for place in expected {
        assert!(places.contains(&Some(world.at(&place))), "{places:?}");
    }
    let world = World::running().await;
    world.write("leader/job-x", b"").await;
    world.write("leader/job-x/connection_info", b"").await;
    world.expect("foreign-znode", "leader/job-x", None).await;
}

#[tokio::test]
async fn counters() {
    let world = World::running().await;
    world.write(&counter(), &[0, 0, 0, 8]).await;
    let verdict = world.expect("counter-behind", &counter(), None).await;
    assert!(
        verdict.findings[0].found.contains("newest checkpoint has 8"),
        "{verdict:?}"
    );
    world.write(&counter(), b"x").await;
    let verdict = world.expect("unreadable-counter", &counter(), None).await;
    assert!(verdict.findings[0].advice.contains("four bytes"), "{verdict:?}");
}

#[tokio::test]
async fn a_checkpoint_that_is_completed_while_all_is_read_is_not_ahead_of_its_counter() {
    let world = World::running().await;
    // As it was a moment before.
    world.write(&counter(), &[0, 0, 0, 8]).await;
    let nodes = Nodes::new(Arc::new(world.server.client(99)));
    let mut reader = TreeReader::new(&nodes, &world.paths, None);
    reader.read_flinks_once(world.generation).await.unwrap();
    world.write(&counter(), &[0, 0, 0, 9]).await;
    reader.read_counters_again().await.unwrap();
    let jobs = reader.into_read().jobs;
    let [job] = jobs.values().collect::<Vec<_>>().try_into().unwrap();
    let next = job.next_checkpoint.as_ref().unwrap().what;
    assert!(next > job.newest_checkpoint.unwrap(), "{job:?}");
}

#[tokio::test]
async fn the_registry_of_1_14() {
    let world = World::load(FlinkRecording::running_1_14()).await;
    let place = "running_job_registry/454c0ae7bd7ba4cbc16fee2728ee099d";
    world.write(place, b"").await;
    world.expect("unreadable-registry-entry", place, None).await;
}

#[tokio::test]
async fn results() {
    let world = World::load(FlinkRecording::ended_2_3()).await;
    let job = "14ee2f690c05300aeeefcca844feceaa";
    let (clean, dirty) = (
        world.result(&format!("{job}.json")),
        world.result(&format!("{job}_DIRTY.json")),
    );
    let kept = std::fs::read(&clean).unwrap();
    std::fs::rename(&clean, &dirty).unwrap();
    assert!(ids(&world.verdict().await).is_empty());
    let old = std::fs::File::options().write(true).open(&dirty).unwrap();
    old.set_modified(SystemTime::UNIX_EPOCH + DIRTY_AFTER).unwrap();
    let told = |place: &PathBuf| Some(place.display().to_string());
    expect(&world.verdict().await, "dirty-result-old", None, told(&dirty));
    std::fs::write(&dirty, b"").unwrap();
    expect(&world.verdict().await, "unreadable-result", None, told(&dirty));
    std::fs::remove_file(&dirty).unwrap();

    let world = World::running().await;
    let clean = world.result(&format!("{JOB}.json"));
    let text = String::from_utf8(kept).unwrap().replace(job, JOB);
    std::fs::write(&clean, text).unwrap();
    world
        .expect("result-beside-job-graph", &plan(), Some(&clean))
        .await;
    // While it is dirty its job is being cleaned up.
    std::fs::rename(&clean, world.result(&format!("{JOB}_DIRTY.json"))).unwrap();
    assert!(ids(&world.verdict().await).is_empty());
}

#[tokio::test]
async fn a_result_that_is_written_at_this_moment_is_no_finding() {
    let world = World::load(FlinkRecording::ended_2_3()).await;
    let job: JobId = "14ee2f690c05300aeeefcca844feceaa".parse().unwrap();
    let clean = world.result(&format!("{job}.json"));
    let kept = std::fs::read(&clean).unwrap();
    std::fs::write(&clean, b"").unwrap();
    let finish = async {
        Environment::system()
            .clock
            .sleep(Duration::from_millis(100))
            .await;
        std::fs::write(&clean, kept).unwrap();
    };
    let (verdict, ()) = futures::join!(world.verdict(), finish);
    assert!(ids(&verdict).is_empty(), "{verdict:?}");
}

#[tokio::test]
async fn storage_sizes_acls_session_and_tick() {
    let world = World::running().await;
    let place = "applications/x";
    world.write(place, &vec![0; 900_000]).await;
    world.expect("data-near-limit", place, None).await;
    world.delete(place).await;

    let mut snapshot = world.snapshot().await;
    let many: Vec<_> = (0..33_000).map(|n| format!("/many/{n:032}")).collect();
    let sizes = &mut snapshot.tree.as_mut().unwrap().sizes;
    sizes.add_listings(many.iter().map(String::as_str));
    expect(&judge(&snapshot), "children-near-limit", Some("/many"), None);

    let mut snapshot = world.snapshot().await;
    let acls = snapshot.tree.as_mut().unwrap().acls.as_mut().unwrap();
    acls.insert("digest:a:READ".to_owned(), (1, "/flink/c/jobs".to_owned()));
    expect(&judge(&snapshot), "acl-differs", Some("/flink/c/jobs"), None);

    let mut snapshot = world.snapshot().await;
    let tree = snapshot.tree.as_mut().unwrap();
    tree.session.as_mut().unwrap().granted = Duration::from_secs(40);
    expect(&judge(&snapshot), "session-timeout-shortened", None, None);

    let mut snapshot = world.snapshot().await;
    let tree = snapshot.tree.as_mut().unwrap();
    // Flink has no leases that depend on it.
    tree.servers[0].1.as_mut().unwrap().tick = Duration::from_secs(3);
    assert!(ids(&judge(&snapshot)).is_empty());

    let world = World::load(FlinkRecording::idle_2_3()).await;
    std::fs::remove_dir_all(world.folder.path()).unwrap();
    let verdict = world.verdict().await;
    assert_eq!(ids(&verdict), ["storage-unreachable"], "{verdict:?}");
    assert!(
        verdict
            .skipped
            .iter()
            .any(|skipped| skipped.id == "dirty-result-old")
    );
}
