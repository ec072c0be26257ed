use std::sync::Arc;
use std::time::Duration;

use ha_core::ErrorKind;
use ha_core::environment::Environment;
use ha_core::ids::{ClusterId, LeaderSessionId};
use ha_zookeeper::client::memory::MemoryServer;
use ha_zookeeper::client::{CreateMode, ZooKeeperClient as _};
use ha_zookeeper::codec::LatchData;
use ha_zookeeper::paths::ClusterPaths;
use uuid::Uuid;

use super::moves::moves;
use super::run::Election;
use super::{Switchover, SwitchoverOptions};
use crate::cluster::ClusterHeader;
use crate::commands::{Contender, Process};
use crate::render::View;
use crate::report::{Report, text_of};
use crate::writes::{Action, Change, Outcome};

fn process(name: &str) -> Process {
    Process {
        name: name.to_owned(),
        host: "h".to_owned(),
        pid: 7,
    }
}

fn contender(name: &str, leading: bool) -> Contender {
    Contender {
        process: Some(process(name)),
        leading,
        tool: None,
        election: None,
        since: 0,
        zookeeper_session: "0x1".to_owned(),
        session_id: None,
        path: format!("/l/{name}"),
    }
}

#[test]
fn those_before_the_wanted_one_are_asked_first_and_then_the_leader() {
    let all = [
        contender("a", true),
        contender("b", false),
        contender("c", false),
        contender("d", false),
    ];
    let latches = |to| moves(&all, to).unwrap().unwrap().latches;
    assert_eq!(latches(None), ["/l/a"]);
    assert_eq!(latches(Some("b")), ["/l/a"]);
    assert_eq!(latches(Some("d")), ["/l/b", "/l/c", "/l/a"]);
    assert_eq!(latches(Some("a")), [""; 0]);
}

#[test]
fn a_name_that_fits_none_or_several_is_wrong_usage_and_a_tool_is_no_process() {
    let mut tool = contender("t", false);
    tool.tool = Some("gc".to_owned());
    let all = [
        contender("a", true),
        contender("b", false),
        contender("b", false),
        tool,
    ];
    for to in ["b", "t", "x"] {
        assert_eq!(
            moves(&all, Some(to)).unwrap_err().kind(),
            ErrorKind::Invalid,
            "{to}"
        );
    }
    let alone = moves(&all[..1], None).unwrap_err();
    assert_eq!(alone.kind(), ErrorKind::Conflict);
    let nobody = [contender("a", false), contender("b", false)];
    assert!(moves(&nobody, None).unwrap().is_none() && moves(&[], None).unwrap().is_none());
}

fn election() -> (MemoryServer, Election) {
    let id = ClusterId::new("c").unwrap();
    let paths = ClusterPaths::new("", "/", &id).unwrap();
    let server = MemoryServer::with(&[paths.cluster(), &paths.leader(), &paths.latches()]);
    let election = Election {
        client: Arc::new(server.client(9)),
        paths,
        environment: Environment::system(),
    };
    (server, election)
}

async fn latch(server: &MemoryServer, paths: &ClusterPaths, name: &str, leads: bool) -> String {
    let data = LatchData {
        process: name.to_owned(),
        host: "h".to_owned(),
        pid: 7,
        tool: None,
        leader_session_id: leads.then(|| LeaderSessionId::from_bits(0, 1)),
    };
    let client = server.client(1);
    let prefix = paths.latch_prefix(Uuid::from_u128(5));
    let data = data.encode("/l").unwrap();
    client
        .create(&prefix, data, CreateMode::EphemeralSequential)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_dry_run_changes_nothing_and_nobody_who_leads_is_waited_for_no_longer_than_asked() {
    let (server, election) = election();
    let options = |to: Option<&str>, millis| SwitchoverOptions {
        to: to.map(str::to_owned),
        force: false,
        timeout: Duration::from_millis(millis),
    };
    let error = election.switch_over(&options(None, 0), None).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    let leader = latch(&server, &election.paths, "a", true).await;
    let standby = latch(&server, &election.paths, "b", false).await;
    latch(&server, &election.paths, "c", false).await;
    let zxid = server.zxid();
    let (shown, ended) = election.switch_over(&options(Some("c"), 0), None).await.unwrap();
    assert!(ended.is_none() && server.zxid() == zxid);
    let paths: Vec<_> = shown.changes.iter().map(|change| change.path.clone()).collect();
    assert_eq!(paths, [standby, leader]);
    assert_eq!(shown.leads.map(|process| process.name), None);
}

/// The expected texts stand in `snapshots/`; the document is part of the help.
#[test]
fn the_table_and_the_document() {
    let latch = "/flink/c/leader/latch/11111111-2222-3333-4444-555555555555-latch-0000000004";
    let mut change = Change::new(Action::SetZnode, latch, 120, None);
    let body = Switchover {
        command: "switchover",
        applied: false,
        led: process("a"),
        leads: None,
        changes: vec![change.clone()],
        notes: Vec::new(),
    };
    change.outcome = Outcome::Applied;
    let moved = Switchover {
        applied: true,
        leads: Some(process("b")),
        changes: vec![change],
        ..body.clone()
    };
    for (name, body) in [("planned", body), ("switchover", moved)] {
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
        let table = text_of(&report, &View::plain(0));
        insta::assert_snapshot!(format!("{name}_table"), table);
        let json = serde_json::to_string_pretty(&report).unwrap();
        insta::assert_snapshot!(format!("{name}_json"), json);
    }
}
