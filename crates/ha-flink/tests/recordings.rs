//! What is read from recordings of running Flink clusters is what their descriptions say.

#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use std::collections::{BTreeMap, BTreeSet};

use ha_core::ids::JobId;
use ha_flink::{
    CHECKPOINT_PREFIX, CompletedCheckpoint, Component, JobGraph, LeaderInformation, Place, Pointer,
    RunningJobStatus, decode_checkpoint_id_counter,
};
use ha_testkit::FlinkRecording;

/// The znodes of a cluster by what they are, and its files by their paths.
struct Recording {
    znodes: Vec<(String, Place, Vec<u8>)>,
    files: BTreeMap<String, Vec<u8>>,
}

fn recording(of: &FlinkRecording) -> Recording {
    let znodes = of
        .znodes
        .iter()
        .filter(|znode| znode.path != "/flink")
        .map(|znode| {
            let segments: Vec<_> = znode.path.split('/').skip(3).collect();
            (znode.path.clone(), Place::of(&segments), znode.data())
        });
    Recording {
        znodes: znodes.collect(),
        files: of.files().into_iter().collect(),
    }
}

impl Recording {
    fn leaders(&self) -> BTreeMap<Component, LeaderInformation> {
        let of = |(_, place, data): &(String, Place, Vec<u8>)| match place {
            Place::LeaderInformation(component) => Some((
                component.clone(),
                LeaderInformation::decode(data).unwrap().unwrap(),
            )),
            _ => None,
        };
        self.znodes.iter().filter_map(of).collect()
    }

    fn count(&self, is_counted: fn(&Place) -> bool) -> usize {
        self.znodes
            .iter()
            .filter(|(_, place, _)| is_counted(place))
            .count()
    }

    /// The file of a pointer, which must be there and as long as it says.
    fn file(&self, data: &[u8]) -> &[u8] {
        let pointer = Pointer::decode(data).unwrap();
        let file = &self.files[pointer.file.strip_prefix("file:").unwrap()];
        assert_eq!(file.len() as u64, pointer.size);
        file
    }

    /// The ids of the checkpoints, each as its file says it too.
    fn checkpoints(&self) -> BTreeMap<u64, CompletedCheckpoint> {
        let of = |(_, place, data): &(String, Place, Vec<u8>)| {
            let &Place::Checkpoint(job, id) = place else {
                return None;
            };
            let file = self.file(data);
            let checkpoint = CompletedCheckpoint::decode_prefix(file).unwrap();
            assert_eq!((checkpoint.id, checkpoint.job), (id, Some(job)));
            Some((id, checkpoint))
        };
        self.znodes.iter().filter_map(of).collect()
    }

    fn expect_nothing_foreign(&self) {
        assert_eq!(self.count(|place| *place == Place::Foreign), 0);
    }
}

#[test]
fn an_idle_cluster_of_2_3_has_two_processes_and_three_leaders() {
    let recording = recording(&FlinkRecording::idle_2_3());
    recording.expect_nothing_foreign();
    assert_eq!(
        recording.count(|place| matches!(place, Place::LatchNode(None, _))),
        2
    );
    let leaders = recording.leaders();
    let names =
        ["dispatcher", "resource_manager", "rest_server"].map(|name| Component::Named(name.to_owned()));
    assert!(leaders.keys().eq(&names), "{leaders:?}");
    let sessions: BTreeSet<_> = leaders.values().map(|leader| leader.session_id).collect();
    assert_eq!(sessions.len(), 1, "all components of a process carry one id");
    assert_eq!(recording.count(|place| matches!(place, Place::JobGraph(_))), 0);
}

#[test]
fn a_running_job_of_2_3_has_its_plan_its_leader_and_three_checkpoints() {
    let recording = recording(&FlinkRecording::running_2_3());
    recording.expect_nothing_foreign();
    let job = JobId::from_name("871c6b3ce33cf24f843e42c417ff8b5f").unwrap();
    let leaders = recording.leaders();
    assert_eq!(leaders.len(), 4);
    let manager = &leaders[&Component::JobManager(job)];
    assert_eq!(
        manager.address,
        "pekko.tcp://flink@127.0.0.1:45271/user/rpc/jobmanager_2"
    );
    assert_eq!(
        manager.session_id.to_string(),
        "62930120-fcac-4e31-a2d1-4a7016038e6e"
    );
    let checkpoints = recording.checkpoints();
    assert!(checkpoints.keys().eq(&[6, 7, 8]), "{checkpoints:?}");
    let newest = &checkpoints[&8];
    let path = format!("file:/srv/flink/ha-data/live/2.3.0/chk/{job}/chk-8");
    assert_eq!(newest.external_path.as_deref(), Some(path.as_str()));
    assert!(newest.triggered_millis <= newest.completed_millis);
    assert!(newest.completed_millis > checkpoints[&7].completed_millis);
    for (path, place, data) in &recording.znodes {
        match place {
            Place::CheckpointIdCounter(of) => {
                assert_eq!((*of, decode_checkpoint_id_counter(data)), (job, Ok(9)), "{path}");
            }
            Place::JobGraph(of) => {
                assert_eq!(*of, job);
                let graph = JobGraph::decode_prefix(recording.file(data)).unwrap();
                assert_eq!((graph.job, graph.name.as_deref()), (job, Some("live-job")));
            }
            _ => {}
        }
    }
    assert_eq!(recording.count(|place| *place == Place::Lock), 4);
}

#[test]
fn a_running_job_of_1_14_has_latches_of_its_own_and_is_in_the_registry() {
    let recording = recording(&FlinkRecording::running_1_14());
    recording.expect_nothing_foreign();
    let job = JobId::from_name("454c0ae7bd7ba4cbc16fee2728ee099d").unwrap();
    let leaders = recording.leaders();
    assert_eq!(leaders.len(), 4);
    assert!(leaders.contains_key(&Component::JobManager(job)), "{leaders:?}");
    let sessions: BTreeSet<_> = leaders.values().map(|leader| leader.session_id).collect();
    assert_eq!(sessions.len(), 4, "each component carries its own id");
    assert_eq!(
        recording.count(|place| matches!(place, Place::LatchNode(None, _))),
        0
    );
    assert!(recording.count(|place| matches!(place, Place::LatchNode(Some(_), _))) >= 4);
    assert!(recording.checkpoints().keys().eq(&[12, 13, 14]));
    let running = recording.znodes.iter().find_map(|(_, place, data)| match place {
        Place::RunningJob(of) => Some((*of, RunningJobStatus::decode(data).unwrap())),
        _ => None,
    });
    assert_eq!(running, Some((job, RunningJobStatus::Running)));
    let graph = recording.znodes.iter().find_map(|(_, place, data)| match place {
        Place::JobGraph(_) => Some(JobGraph::decode_prefix(recording.file(data)).unwrap()),
        _ => None,
    });
    let name = Some("live-job".to_owned());
    assert_eq!(graph, Some(JobGraph { job, name }));
}

#[test]
fn a_running_job_of_1_20_has_its_graph_where_1_14_has_it_and_all_else_where_2_3_has_it() {
    let recording = recording(&FlinkRecording::running_1_20());
    recording.expect_nothing_foreign();
    let job = JobId::from_name("2a01c0bf650974ae212bd16756254086").unwrap();
    let leaders = recording.leaders();
    assert_eq!(leaders.len(), 4);
    assert!(leaders.contains_key(&Component::JobManager(job)), "{leaders:?}");
    let sessions: BTreeSet<_> = leaders.values().map(|leader| leader.session_id).collect();
    assert_eq!(sessions.len(), 1, "all components of a process carry one id");
    assert_eq!(
        recording.count(|place| matches!(place, Place::LatchNode(None, _))),
        2
    );
    assert!(recording.checkpoints().keys().eq(&[69, 70, 71]));
    let graph = recording
        .znodes
        .iter()
        .find_map(|(path, place, data)| match place {
            Place::JobGraph(_) => Some((path, JobGraph::decode_prefix(recording.file(data)).unwrap())),
            _ => None,
        });
    let (path, graph) = graph.unwrap();
    assert!(path.contains("/jobgraphs/"), "{path}");
    assert_eq!((graph.job, graph.name.as_deref()), (job, Some("live-job")));
    assert_eq!(recording.count(|place| *place == Place::Lock), 4);
}

#[test]
fn clusters_whose_jobs_have_ended_have_leaders_and_no_jobs() {
    for of in [
        FlinkRecording::ended_1_14(),
        FlinkRecording::ended_1_20(),
        FlinkRecording::ended_2_3(),
    ] {
        let recording = recording(&of);
        recording.expect_nothing_foreign();
        assert_eq!(recording.leaders().len(), 3);
        assert_eq!(
            recording.count(|place| matches!(place, Place::JobGraph(_) | Place::Checkpoint(..))),
            0
        );
    }
}

#[test]
fn the_first_bytes_of_a_checkpoints_file_are_enough() {
    for of in [
        FlinkRecording::running_1_14(),
        FlinkRecording::running_1_20(),
        FlinkRecording::running_2_3(),
    ] {
        let recording = recording(&of);
        for (path, file) in &recording.files {
            if !path.contains("completedCheckpoint") {
                continue;
            }
            let whole = CompletedCheckpoint::decode_prefix(file).unwrap();
            let least =
                (1..file.len()).find(|&length| CompletedCheckpoint::decode_prefix(&file[..length]).is_ok());
            let least = least.unwrap();
            assert!(least < 2048, "{least} bytes, {CHECKPOINT_PREFIX} are read");
            for length in [least, least + 1, file.len() - 1] {
                assert_eq!(
                    CompletedCheckpoint::decode_prefix(&file[..length]).unwrap(),
                    whole
                );
            }
        }
    }
}
