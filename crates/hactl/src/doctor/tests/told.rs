//! Findings of what cannot be provoked without a real server or another user: here it is told.

use std::time::Duration;

use super::world::{World, expect, ids, latch_data, server};
use crate::doctor::check::judge;
use crate::doctor::finding::Severity;
use crate::doctor::snapshot::{Placed, ServerSettings, SessionFacts, Unreached};

#[tokio::test]
async fn storage_unreachable() {
    let world = World::healthy().await;
    let unreached = Unreached {
        place: "/gone".to_owned(),
        reason: "the directory is missing".to_owned(),
    };
    let verdict = judge(&world.snapshot_with(Err(unreached)).await);
    expect(&verdict, "storage-unreachable", None, Some("/gone".to_owned()));
    let skipped = |id| verdict.skipped.iter().any(|skipped| skipped.id == id);
    assert!(
        skipped("file-without-pointer") && skipped("dirty-result-old"),
        "{verdict:?}"
    );
    assert!(!skipped("counter-behind"));
}

#[tokio::test]
async fn storage_not_writable() {
    let world = World::healthy().await;
    let mut snapshot = world.snapshot().await;
    snapshot.storage.as_mut().unwrap().unwritable = Ok(vec![Placed {
        place: "/ha/c".to_owned(),
        what: "Permission denied".to_owned(),
    }]);
    expect(
        &judge(&snapshot),
        "storage-not-writable",
        None,
        Some("/ha/c".to_owned()),
    );
}

#[tokio::test]
async fn sizes_near_the_limit() {
    let world = World::healthy().await;
    let path = world.paths.configuration();
    world.create(&path, vec![b' '; 900_000]).await;
    let verdict = world.verdict().await;
    expect(&verdict, "data-near-limit", Some(&path), None);
    assert_eq!(verdict.findings[0].severity, Severity::Warning);
    world.write(&path, "").await;

    let mut snapshot = world.snapshot().await;
    let sizes = &mut snapshot.tree.as_mut().unwrap().sizes;
    let names = |count| vec!["0".repeat(32); count];
    sizes.add_children("/few", &names(20_000));
    sizes.add_children("/many", &names(33_000));
    let verdict = judge(&snapshot);
    expect(&verdict, "children-near-limit", Some("/many"), None);
    assert!(verdict.findings[0].found.contains("33000"));
}

#[tokio::test]
async fn acl_differs() {
    let world = World::healthy().await;
    let mut snapshot = world.snapshot().await;
    let acls = snapshot.tree.as_mut().unwrap().acls.as_mut().unwrap();
    acls.insert("digest:a:READ".to_owned(), (1, "/flink/c/jobs".to_owned()));
    expect(&judge(&snapshot), "acl-differs", Some("/flink/c/jobs"), None);
}

#[tokio::test]
async fn session_timeout_shortened() {
    let world = World::healthy().await;
    let mut snapshot = world.snapshot().await;
    snapshot.tree.as_mut().unwrap().session = Ok(SessionFacts {
        asked: Duration::from_secs(60),
        granted: Duration::from_secs(40),
    });
    expect(&judge(&snapshot), "session-timeout-shortened", None, None);
}

#[tokio::test]
async fn server_tick() {
    let world = World::healthy().await;
    let mut snapshot = world.snapshot().await;
    let tell = |tick| {
        let connected = [0x10, 0x20];
        (
            "h:2".to_owned(),
            Ok(server(Duration::from_millis(tick), connected)),
        )
    };
    snapshot.tree.as_mut().unwrap().servers.push(tell(3000));
    let verdict = judge(&snapshot);
    expect(&verdict, "server-tick", None, None);
    assert_eq!(verdict.findings[0].severity, Severity::Error);
    assert!(verdict.findings[0].found.contains("h:2"));
    // Where nothing is configured the longest is assumed; what is configured is to be right.
    let tree = snapshot.tree.as_mut().unwrap();
    tree.servers = vec![tell(500)];
    assert!(ids(&judge(&snapshot)).is_empty());
    snapshot.tree.as_mut().unwrap().configured_tick = Some(Duration::from_secs(2));
    let verdict = judge(&snapshot);
    expect(&verdict, "server-tick", None, None);
    assert_eq!(verdict.findings[0].severity, Severity::Warning);
    let tree = snapshot.tree.as_mut().unwrap();
    tree.servers = vec![("h:1".to_owned(), Err("not in its whitelist".to_owned()))];
    let verdict = judge(&snapshot);
    assert!(verdict.findings.is_empty());
    let skipped = verdict.skipped.iter().find(|skipped| skipped.id == "server-tick");
    assert!(skipped.unwrap().reason.contains("h:1: not in its whitelist"));
}

#[tokio::test]
async fn latch_of_a_dead_session() {
    let world = World::healthy().await;
    let id = "latch-of-a-dead-session";
    let tick = Duration::from_secs(2);
    let mut snapshot = world.snapshot().await;
    let mut told_by = |servers: Vec<(&str, Result<ServerSettings, String>)>| {
        let servers = servers.into_iter().map(|(name, told)| (name.to_owned(), told));
        snapshot.tree.as_mut().unwrap().servers = servers.collect();
        judge(&snapshot)
    };
    let verdict = told_by(vec![("h:1", Ok(server(tick, [0x10])))]);
    expect(&verdict, id, Some(&world.standby_latch), None);
    assert_eq!(verdict.findings[0].severity, Severity::Warning);
    // It may be connected to another server.
    let two = |connected: i64| ServerSettings {
        members: 2,
        ..server(tick, [connected])
    };
    let verdict = told_by(vec![("h:1", Ok(two(0x10))), ("h:2", Ok(two(0x20)))]);
    assert!(
        verdict.findings.is_empty() && verdict.checks.contains(&id),
        "{verdict:?}"
    );
    let silent = ServerSettings {
        connected: Err("not in its whitelist".to_owned()),
        ..two(0x10)
    };
    for (servers, reason) in [
        (vec![("h:1", Ok(two(0x10)))], "one of 2 servers"),
        (
            vec![("h:1", Ok(two(0x10))), ("h:2", Ok(silent))],
            "not in its whitelist",
        ),
        (vec![("h:1", Ok(server(tick, [])))], "no server told"),
    ] {
        let verdict = told_by(servers);
        assert!(verdict.findings.is_empty(), "{verdict:?}");
        let skipped = verdict.skipped.iter().find(|skipped| skipped.id == id);
        assert!(skipped.unwrap().reason.contains(reason), "{verdict:?}");
    }
}

#[tokio::test]
async fn latch_that_no_session_owns() {
    let world = World::healthy().await;
    let path = world
        .paths
        .latch("99999999-2222-3333-4444-555555555555-latch-0000000099");
    world.create(&path, latch_data(None)).await;
    let verdict = world.verdict().await;
    expect(&verdict, "latch-of-a-dead-session", Some(&path), None);
    assert_eq!(verdict.findings[0].severity, Severity::Error);
    // Two of them are not two latches of one session.
    let path = world
        .paths
        .latch("99999999-2222-3333-4444-555555555555-latch-0000000100");
    world.create(&path, latch_data(None)).await;
    assert_eq!(ids(&world.verdict().await), ["latch-of-a-dead-session"; 2]);
}
