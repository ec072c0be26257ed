//! Cancelling through a leader that answers as it is told to.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ha_core::ErrorKind;
use ha_core::environment::Environment;
use ha_core::ids::{ClusterId, ComponentId, JobId};
use ha_core::jobs::JobStatus;
use ha_zookeeper::client::memory::MemoryServer;
use ha_zookeeper::client::{CreateMode, ZooKeeperClient as _};
use ha_zookeeper::paths::ClusterPaths;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::cancelling::Cancelling;
use super::rest_leader::RestLeader;
use super::{Cancellation, CancelledJob};
use crate::cluster::ClusterHeader;
use crate::render::View;
use crate::report::{Report, text_of};
use crate::writes::{Action, Audit, Change, Outcome};

const JOB: JobId = JobId::from_bytes([1; 16]);
const TIMEOUT: Duration = Duration::from_secs(20);

/// A REST endpoint: answers every `GET` with the next of its statuses, the last one for good, and takes every `DELETE`.
struct FakeLeader {
    address: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl FakeLeader {
    /// `None` stands for a job of which nothing is known.
    fn start(statuses: &[Option<JobStatus>]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, statuses) = (Arc::clone(&requests), statuses.to_vec());
        std::thread::spawn(move || {
            let mut asked = 0;
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                let first = lines.next().unwrap().unwrap();
                while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
                let status = statuses.get(asked).or_else(|| statuses.last()).unwrap();
                let (code, body) = match (first.starts_with("DELETE"), status) {
                    (true, _) => (202, json!({"id": JOB})),
                    (false, Some(status)) => (200, json!({"id": JOB, "name": "words", "status": status})),
                    (false, None) => (
                        404,
                        json!({"error": {"kind": "notFound", "message": "nothing is known", "path": null}}),
                    ),
                };
                if first.starts_with("GET") {
                    asked += 1;
                }
                seen.lock().unwrap().push(first);
                let body = body.to_string();
                let length = body.len();
                let answer = format!(
                    "HTTP/1.1 {code} X\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
                );
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        Self { address, requests }
    }

    fn deletions(&self) -> usize {
        let requests = self.requests.lock().unwrap();
        requests.iter().filter(|line| line.starts_with("DELETE")).count()
    }
}

/// A tree in which `leader` leads, and what cancels a job of it.
struct World {
    server: MemoryServer,
    cancelling: Cancelling,
    directory: TempDir,
}

impl World {
    async fn led_by(leader: Option<&FakeLeader>) -> Self {
        let id = ClusterId::new("c").unwrap();
        let paths = ClusterPaths::new("", "/flink", &id).unwrap();
        let component = ComponentId::rest_server();
        let parents = [
            "/flink".to_owned(),
            paths.cluster().to_owned(),
            paths.leader(),
            paths.leader_of(&component),
        ];
        let server = MemoryServer::with(&parents.each_ref().map(String::as_str));
        let world = Self {
            cancelling: Cancelling {
                client: Arc::new(server.client(9)),
                paths,
                environment: Environment::system(),
                rest: RestLeader::new().unwrap(),
                job: JOB,
            },
            server,
            directory: TempDir::new().unwrap(),
        };
        if let Some(leader) = leader {
            world.publish(leader).await;
        }
        world
    }

    async fn publish(&self, leader: &FakeLeader) {
        let path = self.cancelling.paths.connection_info(&ComponentId::rest_server());
        let client = self.server.client(1);
        let _ = client.delete(&path, None).await;
        let information = json!({
            "format": 1,
            "leaderAddress": leader.address,
            "leaderSessionId": "11111111-2222-3333-4444-555555555555",
            "epoch": 7,
        });
        let data = information.to_string().into();
        client.create(&path, data, CreateMode::Persistent).await.unwrap();
    }

    async fn cancel(
        &self,
        timeout: Duration,
        apply: bool,
    ) -> ha_core::Result<(Cancellation, Option<ha_core::Error>)> {
        let path = self.directory.path().join("audit");
        let environment = Environment::system();
        let mut audit =
            apply.then(|| Audit::open(Some(&path), "job cancel", "x".to_owned(), &environment).unwrap());
        self.cancelling.run(timeout, audit.as_mut()).await
    }

    fn audited(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.directory.path().join("audit")).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

#[tokio::test]
async fn a_dry_run_asks_how_the_job_stands_and_nothing_else() {
    let leader = FakeLeader::start(&[Some(JobStatus::Running)]);
    let world = World::led_by(Some(&leader)).await;
    let zxid = world.server.zxid();
    let (shown, ended) = world.cancel(TIMEOUT, false).await.unwrap();
    assert!(ended.is_none() && !shown.applied);
    assert_eq!(
        shown.changes[0].path,
        format!("DELETE {}/v1/jobs/{JOB}", leader.address)
    );
    assert_eq!(shown.changes[0].outcome, Outcome::Planned);
    assert_eq!((leader.deletions(), world.server.zxid()), (0, zxid));
}

#[tokio::test]
async fn a_job_is_asked_to_end_once_a_leader_and_waited_for() {
    let next = FakeLeader::start(&[Some(JobStatus::Running), Some(JobStatus::Canceled)]);
    let leader = FakeLeader::start(&[Some(JobStatus::Running), Some(JobStatus::Cancelling)]);
    let world = World::led_by(Some(&leader)).await;
    let changed = async {
        while leader.requests.lock().unwrap().len() < 4 {
            Environment::system().clock.sleep(Duration::from_millis(10)).await;
        }
        world.publish(&next).await;
    };
    let (cancelled, ()) = tokio::join!(world.cancel(TIMEOUT, true), changed);
    let (shown, ended) = cancelled.unwrap();
    assert!(ended.is_none(), "{ended:?}");
    assert_eq!(shown.job.status, JobStatus::Canceled);
    assert_eq!((leader.deletions(), next.deletions()), (1, 1));
    assert!(
        shown
            .changes
            .iter()
            .all(|change| change.outcome == Outcome::Applied)
    );
    let audited = world.audited();
    assert_eq!(audited.len(), 2);
    assert_eq!(audited[0]["change"]["action"], "sendRequest");
    assert_eq!(audited[0]["command"], "job cancel");
}

#[tokio::test]
async fn what_has_ended_otherwise_or_is_not_known_is_told() {
    let leader = FakeLeader::start(&[Some(JobStatus::Finished)]);
    let world = World::led_by(Some(&leader)).await;
    let (_, ended) = world.cancel(TIMEOUT, false).await.unwrap();
    assert!(ended.is_none());
    let (shown, ended) = world.cancel(TIMEOUT, true).await.unwrap();
    assert_eq!(ended.unwrap().kind(), ErrorKind::Conflict);
    assert!(shown.changes.is_empty() && leader.deletions() == 0);
    let leader = FakeLeader::start(&[Some(JobStatus::Canceled)]);
    let world = World::led_by(Some(&leader)).await;
    let (_, ended) = world.cancel(TIMEOUT, true).await.unwrap();
    assert!(ended.is_none() && leader.deletions() == 0);
    let leader = FakeLeader::start(&[None]);
    let world = World::led_by(Some(&leader)).await;
    let error = world.cancel(TIMEOUT, true).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(leader.deletions(), 0);
    // Its result is deleted when it is cleaned up.
    let leader = FakeLeader::start(&[Some(JobStatus::Running), None]);
    let world = World::led_by(Some(&leader)).await;
    let (shown, ended) = world.cancel(TIMEOUT, true).await.unwrap();
    assert!(ended.is_none() && shown.notes[0].contains("it has ended"));
}

#[tokio::test]
async fn nobody_who_leads_or_answers_is_waited_for_no_longer_than_asked() {
    let world = World::led_by(None).await;
    let error = world.cancel(Duration::ZERO, true).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.message().contains("nobody leads"), "{error}");
    let mut gone = FakeLeader::start(&[None]);
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    gone.address = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let world = World::led_by(Some(&gone)).await;
    let error = world.cancel(Duration::ZERO, true).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    let leader = FakeLeader::start(&[Some(JobStatus::Running)]);
    let world = World::led_by(Some(&leader)).await;
    let (_, ended) = world.cancel(Duration::from_millis(1), true).await.unwrap();
    assert_eq!(ended.unwrap().kind(), ErrorKind::Unavailable);
}

/// The expected texts stand in `snapshots/`; the document is part of the help.
#[test]
fn the_table_and_the_document() {
    let resource = format!("DELETE http://10.0.0.1:8081/v1/jobs/{JOB}");
    let mut change = Change::new(Action::SendRequest, resource, 0, Some(JOB));
    change.size = None;
    let job = |status| CancelledJob {
        id: JOB,
        name: "wordcount".to_owned(),
        status,
    };
    let planned = Cancellation {
        command: "job cancel",
        applied: false,
        job: job(JobStatus::Running),
        changes: vec![change.clone()],
        notes: Vec::new(),
    };
    change.outcome = Outcome::Applied;
    let done = Cancellation {
        applied: true,
        job: job(JobStatus::Canceled),
        changes: vec![change],
        ..planned.clone()
    };
    for (name, body) in [("planned", planned), ("cancel", done)] {
        let cluster = ClusterHeader {
            cluster_id: "c".to_owned(),
            mode: "zookeeper".to_owned(),
            location: "zk-1:2181,zk-2:2181,zk-3:2181/flink/c".to_owned(),
        };
        let broken = Vec::new();
        let report = Report {
            cluster,
            body,
            broken,
        };
        insta::assert_snapshot!(format!("{name}_table"), text_of(&report, &View::plain(0)));
        let json = serde_json::to_string_pretty(&report).unwrap();
        insta::assert_snapshot!(format!("{name}_json"), json);
    }
}
