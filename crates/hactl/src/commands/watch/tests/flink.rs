//! Clusters of Flink: recordings, and what may come after them.

use ha_core::ids::JobId;
use ha_flink::{Generation, Pointer};
use ha_testkit::FlinkRecording;

use super::fixture::Watched;
use crate::layout::Layout;

const ONE_LATCH: Layout = Layout::Flink(Generation::OneLatch);
const LATCH_PER_COMPONENT: Layout = Layout::Flink(Generation::LatchPerComponent);
const GARBAGE: &[u8] = b"\xac\xed\x00\x05\x70";

/// Loads a recording as the cluster that is watched, and records the name of its job.
fn load(watched: &Watched, recording: &FlinkRecording) {
    for znode in &recording.znodes {
        if let Some(path) = below(recording, &znode.path) {
            watched.put_bytes(path, znode.data().into());
        }
        if let Ok(pointer) = Pointer::decode(&znode.data()) {
            let mut names = watched.ends.names.lock().unwrap();
            names.insert(pointer.file, "live-job".to_owned());
        }
    }
}

fn below<'p>(recording: &FlinkRecording, path: &'p str) -> Option<&'p str> {
    path.strip_prefix(recording.cluster())?.strip_prefix('/')
}

/// The data of a znode of a recording.
fn data(recording: &FlinkRecording, path: &str) -> Vec<u8> {
    let mut znodes = recording.znodes.iter();
    let znode = znodes.find(|znode| below(recording, &znode.path) == Some(path));
    znode.unwrap().data()
}

/// Leader information as a recording has it, with other last digits of its address.
fn moved(recording: &FlinkRecording, path: &str, digits: &str) -> Vec<u8> {
    let mut data = data(recording, path);
    let end = data
        .windows(3)
        .position(|bytes| bytes == b"\x73\x72\x00")
        .unwrap();
    data[end - digits.len()..end].copy_from_slice(digits.as_bytes());
    data
}

async fn told(watched: &mut Watched, prefixes: &[&str]) {
    for prefix in prefixes {
        let event = watched.next().await;
        assert!(event.starts_with(prefix), "{event} instead of {prefix}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_of_2_3_is_told_from_its_beginning_to_its_end() {
    let recording = FlinkRecording::running_2_3();
    let job: JobId = "871c6b3ce33cf24f843e42c417ff8b5f".parse().unwrap();
    let mut watched = Watched::of(ONE_LATCH, |watched| load(watched, &recording));
    let leader = format!("there: job-{job}=pekko.tcp://");
    let (added, newest) = (format!("there: +{job} live-job"), format!("there: {job}#8"));
    let present = [
        "there: dispatcher=pekko.tcp://",
        &leader,
        "there: resource_manager=pekko.tcp://",
        "there: rest_server=http://",
        &added,
        &newest,
    ];
    told(&mut watched, &present).await;
    watched.expect_nothing().await;

    let place = "leader/rest_server/connection_info";
    watched.put_bytes(place, moved(&recording, place, "99").into());
    let event = watched.next().await;
    assert!(
        event.starts_with("rest_server=http://") && event.ends_with("99"),
        "{event}"
    );
    watched.put(place, "");
    watched.expect(["rest_server=0"]).await;
    watched.put_bytes(place, GARBAGE.into());
    watched
        .expect(["unreadable /leader/rest_server/connection_info"])
        .await;

    watched.put(&format!("jobs/{job}/checkpoints/{:019}", 9), "");
    watched.expect([&*format!("{job}#9")]).await;
    watched
        .ends
        .recorded
        .lock()
        .unwrap()
        .insert(job, "FINISHED".to_owned());
    for path in [
        &*format!("leader/job-{job}/connection_info"),
        &format!("execution-plans/{job}/locks/ea2eb2ed-d85e-463f-89d5-c9f187d22d88"),
        &format!("execution-plans/{job}/locks"),
        &format!("execution-plans/{job}"),
    ] {
        watched.delete(path);
    }
    watched
        .expect([&*format!("job-{job}=0"), &format!("-{job} FINISHED")])
        .await;
    watched.expect_nothing().await;
}

#[tokio::test(start_paused = true)]
async fn the_leader_of_a_job_of_1_14_is_followed_beside_its_checkpoints() {
    let recording = FlinkRecording::running_1_14();
    let job = "454c0ae7bd7ba4cbc16fee2728ee099d";
    let mut watched = Watched::of(LATCH_PER_COMPONENT, |watched| load(watched, &recording));
    let leader = format!("there: job-{job}=akka.tcp://");
    let (added, newest) = (format!("there: +{job} live-job"), format!("there: {job}#14"));
    let present = [
        "there: dispatcher=akka.tcp://",
        &leader,
        "there: resource_manager=akka.tcp://",
        "there: rest_server=http://",
        &added,
        &newest,
    ];
    told(&mut watched, &present).await;
    let place = format!("jobs/{job}/leader/connection_info");
    watched.put_bytes(&place, moved(&recording, &place, "_77").into());
    let event = watched.next().await;
    assert!(
        event.starts_with(&format!("job-{job}=")) && event.ends_with("_77"),
        "{event}"
    );
    // With its graph the job is gone, and its leader is followed no more.
    watched.delete(&format!("jobgraphs/{job}/71f0fc1a-a0ad-4332-9f54-b5de4334d50f"));
    watched.delete(&format!("jobgraphs/{job}"));
    watched
        .expect([&*format!("job-{job}=0"), &format!("-{job} UNKNOWN")])
        .await;
    watched.delete(&place);
    watched.expect_nothing().await;
}

#[tokio::test(start_paused = true)]
async fn both_folders_of_job_graphs_are_followed_from_nothing_and_a_file_that_does_not_answer_costs_a_name() {
    let recording = FlinkRecording::running_2_3();
    let job = "871c6b3ce33cf24f843e42c417ff8b5f";
    let graph = data(&recording, &format!("execution-plans/{job}"));
    for folder in ["jobgraphs", "execution-plans"] {
        let mut watched = Watched::of(ONE_LATCH, |watched| {
            *watched.ends.hangs.lock().unwrap() = true;
        });
        watched.expect_nothing().await;
        watched.put_bytes(&format!("{folder}/{job}"), graph.clone().into());
        watched.expect([&*format!("+{job} -")]).await;
        watched.put_bytes(&format!("{folder}/README"), GARBAGE.into());
        watched.expect([&*format!("unreadable /{folder}/README")]).await;
        watched.expect_nothing().await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_happens_while_the_connection_is_down_is_told_when_it_is_back() {
    let recording = FlinkRecording::idle_2_3();
    let mut watched = Watched::of(ONE_LATCH, |watched| load(watched, &recording));
    let present = [
        "there: dispatcher",
        "there: resource_manager",
        "there: rest_server",
    ];
    told(&mut watched, &present).await;
    watched.cut();
    watched.expect(["lost"]).await;
    let running = FlinkRecording::running_2_3();
    load(&watched, &running);
    watched.reconnect();
    watched.expect(["back"]).await;
    let job = "871c6b3ce33cf24f843e42c417ff8b5f";
    let (leader, added, newest) = (
        format!("job-{job}="),
        format!("+{job} live-job"),
        format!("{job}#8"),
    );
    told(&mut watched, &[&leader, &added, &newest]).await;
    watched.expect_nothing().await;
}
