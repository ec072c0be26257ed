//! Recordings of running Flink clusters, on the server in memory, with their files in a folder of the test's own.

use std::path::PathBuf;
use std::sync::Arc;

use ha_core::health::BrokenEntry;
use ha_core::ids::{CheckpointId, ClusterId, JobId};
use ha_testkit::FlinkRecording;
use ha_zookeeper::client::memory::MemoryServer;
use ha_zookeeper::client::{CreateMode, ZooKeeperClient as _};
use ha_zookeeper::paths::ClusterPaths;
use tempfile::TempDir;

use crate::cluster::Nodes;
use crate::cluster::layout_detection::detect;
use crate::layout::{Layout, LayoutChoice, PathMappings};

struct Cluster {
    nodes: Nodes,
    paths: ClusterPaths,
    mappings: PathMappings,
    folder: TempDir,
    server: MemoryServer,
}

impl Cluster {
    async fn load(recording: FlinkRecording) -> Self {
        let server = MemoryServer::with(&[]);
        for znode in &recording.znodes {
            let owner = znode.ephemeral_owner();
            let mode = match owner {
                0 => CreateMode::Persistent,
                _ => CreateMode::Ephemeral,
            };
            let client = server.client(owner);
            client
                .create(&znode.path, znode.data().into(), mode)
                .await
                .unwrap();
        }
        let folder = TempDir::new().unwrap();
        for (path, content) in recording.files() {
            let below = path.strip_prefix(&recording.storage_dir).unwrap();
            let path = folder.path().join(below.trim_start_matches('/'));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let id = ClusterId::new(recording.cluster_id()).unwrap();
        let mapping = format!("{}={}", recording.storage_dir, folder.path().display());
        Self {
            nodes: Nodes::new(Arc::new(server.client(99))),
            paths: ClusterPaths::new("", "/flink", &id).unwrap(),
            mappings: PathMappings(vec![mapping.parse().unwrap()]),
            folder,
            server,
        }
    }

    fn files(&self, prefix: &str) -> Vec<PathBuf> {
        let folder = self
            .folder
            .path()
            .join(self.paths.cluster().strip_prefix("/flink/").unwrap());
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(prefix))
            .collect();
        files.sort();
        files
    }

    async fn layout(&self, choice: LayoutChoice) -> Layout {
        detect(&self.nodes, &self.paths, choice).await.unwrap()
    }

    /// The components that have a leader, each with its address, and the elections of those who stand in one, the
    /// leading ones marked.
    async fn leaders(&self) -> (Vec<(String, Option<String>)>, Vec<(Option<String>, bool)>) {
        let mut broken = Vec::new();
        let (leaders, contenders) = super::leaders(&self.nodes, &self.paths, &mut broken)
            .await
            .unwrap();
        assert_eq!(broken, []);
        let leaders = leaders
            .into_iter()
            .map(|leader| {
                (
                    leader.component,
                    leader.information.map(|information| information.address),
                )
            })
            .collect();
        let contenders = contenders
            .into_iter()
            .map(|contender| (contender.election, contender.leading))
            .collect();
        (leaders, contenders)
    }

    async fn checkpoints(&self, job: JobId) -> (Vec<(u64, Option<bool>, Option<String>)>, Vec<BrokenEntry>) {
        let mut broken = Vec::new();
        let found = super::checkpoints(&self.nodes, &self.paths, job, &self.mappings, &mut broken)
            .await
            .unwrap();
        let shown = found
            .unwrap()
            .into_iter()
            .map(|one| (one.id.get(), one.readable, one.external_path));
        (shown.collect(), broken)
    }
}

fn names(leaders: &[(String, Option<String>)]) -> Vec<&str> {
    leaders.iter().map(|(component, _)| component.as_str()).collect()
}

#[tokio::test]
async fn the_layout_is_told_by_what_is_there_unless_it_is_given() {
    use ha_flink::Generation::{LatchPerComponent, OneLatch};
    for (recording, generation) in [
        (FlinkRecording::running_1_14(), LatchPerComponent),
        (FlinkRecording::ended_1_14(), LatchPerComponent),
        (FlinkRecording::running_2_3(), OneLatch),
        (FlinkRecording::idle_2_3(), OneLatch),
        (FlinkRecording::ended_2_3(), OneLatch),
    ] {
        let cluster = Cluster::load(recording).await;
        assert_eq!(
            cluster.layout(LayoutChoice::Auto).await,
            Layout::Flink(generation)
        );
        assert_eq!(
            cluster.layout(LayoutChoice::Flink).await,
            Layout::Flink(generation)
        );
        assert_eq!(cluster.layout(LayoutChoice::Native).await, Layout::Native);
    }
    let cluster = Cluster::load(FlinkRecording::idle_2_3()).await;
    let identity = cluster.paths.identity();
    cluster
        .server
        .client(99)
        .create(&identity, "{}".into(), CreateMode::Persistent)
        .await
        .unwrap();
    assert_eq!(cluster.layout(LayoutChoice::Auto).await, Layout::Native);
}

#[tokio::test]
async fn an_idle_cluster_has_three_leaders_and_two_processes_in_one_latch() {
    let cluster = Cluster::load(FlinkRecording::idle_2_3()).await;
    let (leaders, contenders) = cluster.leaders().await;
    assert_eq!(names(&leaders), ["dispatcher", "resource_manager", "rest_server"]);
    assert!(
        leaders.iter().all(|(_, address)| address.is_some()),
        "{leaders:?}"
    );
    assert_eq!(contenders, [(None, true), (None, false)]);
    let mut broken = Vec::new();
    let jobs = super::jobs(&cluster.nodes, &cluster.paths, &cluster.mappings, &mut broken)
        .await
        .unwrap();
    assert!(jobs.graphs.is_empty() && broken.is_empty());
}

#[tokio::test]
async fn a_running_job_has_a_leader_a_graph_a_counter_and_its_checkpoints() {
    for (recording, id, ids, next, registered) in [
        (
            FlinkRecording::running_2_3(),
            "871c6b3ce33cf24f843e42c417ff8b5f",
            [6, 7, 8],
            9,
            None,
        ),
        (
            FlinkRecording::running_1_14(),
            "454c0ae7bd7ba4cbc16fee2728ee099d",
            [12, 13, 14],
            15,
            Some("RUNNING"),
        ),
    ] {
        let cluster = Cluster::load(recording).await;
        let job = JobId::from_name(id).unwrap();
        let (leaders, contenders) = cluster.leaders().await;
        let component = format!("job-{id}");
        assert_eq!(
            names(&leaders),
            ["dispatcher", &component, "resource_manager", "rest_server"]
        );
        let elections = contenders
            .iter()
            .filter(|(election, _)| election.is_some())
            .count();
        assert_eq!(
            elections > 0,
            registered.is_some(),
            "one latch a component before 1.15"
        );

        let mut broken = Vec::new();
        let jobs = super::jobs(&cluster.nodes, &cluster.paths, &cluster.mappings, &mut broken)
            .await
            .unwrap();
        assert_eq!(broken, []);
        let graph = &jobs.graphs[&job];
        assert_eq!(
            (graph.name.as_deref(), graph.readable),
            (Some("live-job"), Some(true))
        );
        assert_eq!(jobs.next_checkpoint[&job].get(), next);
        assert!(jobs.checkpoints[&job].iter().map(|id| id.get()).eq(ids));
        assert_eq!(jobs.has_registry, registered.is_some());
        assert_eq!(jobs.registry.get(&job).map(|status| status.name()), registered);

        let (checkpoints, broken) = cluster.checkpoints(job).await;
        assert_eq!(broken, []);
        for ((found, readable, external), id) in checkpoints.into_iter().zip(ids) {
            assert_eq!((found, readable), (id, Some(true)));
            assert!(external.unwrap().ends_with(&format!("/chk/{job}/chk-{id}")));
        }
        let place = super::job_place(&cluster.nodes, &cluster.paths, job, &mut Vec::new())
            .await
            .unwrap();
        assert!(place.has_graph);
        let other = JobId::from_bytes([1; 16]);
        let place = super::job_place(&cluster.nodes, &cluster.paths, other, &mut Vec::new()).await;
        assert!(!place.unwrap().has_graph);
    }
}

#[tokio::test]
async fn every_pointer_whose_file_is_missing_torn_or_another_one_is_told_and_the_others_are_read() {
    let cluster = Cluster::load(FlinkRecording::running_2_3()).await;
    let job = JobId::from_name("871c6b3ce33cf24f843e42c417ff8b5f").unwrap();
    let files = cluster.files("completedCheckpoint");
    let [missing, torn, other] = files.as_slice() else {
        panic!("{files:?}")
    };
    std::fs::remove_file(missing).unwrap();
    std::fs::write(torn, &std::fs::read(torn).unwrap()[..100]).unwrap();
    let whole = cluster.checkpoints(job).await;
    let reasons = |broken: &[BrokenEntry]| {
        broken
            .iter()
            .map(|entry| entry.reason.clone())
            .collect::<Vec<_>>()
    };
    let told = reasons(&whole.1);
    assert_eq!(told.len(), 2, "{told:?}");
    for (path, reason) in [(missing, "is missing"), (torn, "100 bytes instead of 9182")] {
        let is_told = |told: &String| told.contains(path.to_str().unwrap()) && told.contains(reason);
        assert!(told.iter().any(is_told), "{told:?}");
    }
    assert_eq!(
        whole
            .0
            .iter()
            .filter(|(_, readable, _)| *readable == Some(true))
            .count(),
        1
    );
    // The file of another checkpoint has the same size.
    std::fs::copy(other, torn).unwrap();
    let told = reasons(&cluster.checkpoints(job).await.1);
    assert!(
        told.iter()
            .any(|reason| reason.contains("its file is the checkpoint")),
        "{told:?}"
    );

    let plan = cluster.files("submittedExecutionPlan").pop().unwrap();
    std::fs::remove_file(&plan).unwrap();
    let mut broken = Vec::new();
    let jobs = super::jobs(&cluster.nodes, &cluster.paths, &cluster.mappings, &mut broken)
        .await
        .unwrap();
    assert_eq!(jobs.graphs[&job].readable, Some(false));
    assert!(
        broken.iter().any(|entry| entry.path.ends_with(&job.to_string())),
        "{broken:?}"
    );
}

#[tokio::test]
async fn files_that_lie_on_another_file_system_are_not_checked_and_not_broken() {
    let cluster = Cluster::load(FlinkRecording::running_2_3()).await;
    let job = JobId::from_name("871c6b3ce33cf24f843e42c417ff8b5f").unwrap();
    let path = cluster.paths.checkpoint(job, CheckpointId::new(8).unwrap());
    let client = cluster.server.client(99);
    let (data, _) = client.get(&path).await.unwrap();
    // The same length: the stream stays whole.
    let local = b"file:/srv/flink/ha-data/live";
    let remote = b"hdfs://nn/f/a/ha-data/live/x";
    let at = data
        .windows(local.len())
        .position(|window| window == local)
        .unwrap();
    let mut data = data.to_vec();
    data[at..at + local.len()].copy_from_slice(remote);
    client.set(&path, data.into(), None).await.unwrap();
    let (checkpoints, broken) = cluster.checkpoints(job).await;
    assert_eq!(broken, []);
    assert_eq!(checkpoints[2], (8, None, None));
}

#[tokio::test]
async fn foreign_znodes_and_garbage_hide_nothing() {
    let cluster = Cluster::load(FlinkRecording::running_2_3()).await;
    let client = cluster.server.client(99);
    let job = "871c6b3ce33cf24f843e42c417ff8b5f";
    let at = |path: &str| format!("{}/{path}", cluster.paths.cluster());
    for path in [at("README"), at(&format!("jobs/{job}/checkpoints/x"))] {
        client
            .create(&path, "".into(), CreateMode::Persistent)
            .await
            .unwrap();
    }
    for path in [
        at(&format!("jobs/{job}/checkpoints/0000000000000000007")),
        at(&format!("jobs/{job}/checkpoint_id_counter")),
        at("leader/dispatcher/connection_info"),
    ] {
        client.set(&path, "\u{1b}[31m".into(), None).await.unwrap();
    }
    let mut broken = Vec::new();
    let (leaders, _) = super::leaders(&cluster.nodes, &cluster.paths, &mut broken)
        .await
        .unwrap();
    assert_eq!((leaders.len(), broken.len()), (3, 1), "{broken:?}");
    let (checkpoints, broken) = cluster.checkpoints(JobId::from_name(job).unwrap()).await;
    assert_eq!(checkpoints.iter().map(|one| one.0).collect::<Vec<_>>(), [6, 8]);
    assert_eq!(broken.len(), 2, "{broken:?}");
    let mut broken = Vec::new();
    let jobs = super::jobs(&cluster.nodes, &cluster.paths, &cluster.mappings, &mut broken)
        .await
        .unwrap();
    assert_eq!(jobs.graphs.len(), 1);
    assert_eq!(jobs.next_checkpoint.len(), 0);
    assert_eq!(
        broken.len(),
        3,
        "the two foreign ones and the counter: {broken:?}"
    );
}

#[tokio::test]
async fn what_is_binary_is_told_in_a_line() {
    let cluster = Cluster::load(FlinkRecording::running_2_3()).await;
    let mut said = Vec::new();
    for node in cluster
        .nodes
        .walk(cluster.paths.cluster(), &mut Vec::new())
        .await
        .unwrap()
    {
        said.extend(super::summary(&cluster.paths, &node));
    }
    for expected in [
        "next checkpoint id 9",
        "leader http://127.0.0.1:28081 with the session id 62930120-fcac-4e31-a2d1-4a7016038e6e",
        "submittedExecutionPlanfbb0b2b904e9 of 26800 bytes",
    ] {
        assert!(
            said.iter()
                .any(|line| line.ends_with(expected) || line == expected),
            "{said:#?}"
        );
    }
    assert_eq!(said.len(), 9);
}
