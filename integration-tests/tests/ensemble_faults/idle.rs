//! What an idle cluster costs the servers (I10): nothing but its leader's proofs, whatever the number of processes and
//! retrievers.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use ha_core::ids::{ClusterId, ComponentId};
use ha_core::retrieval::LeaderRetrievalService;
use ha_testkit::fakes::RecordingListener;
use ha_zookeeper::paths::ClusterPaths;
use integration_tests::ensemble::{Transaction, four_letter_word};
use integration_tests::waiting::now;
use integration_tests::{
    AdminClient, Ensemble, EnsembleOptions, LeaderSnapshot, TestCluster, eventually, full_form, pause,
    scaled, unstalled_case,
};

use crate::group::LONG;
use crate::latch_log::parts;
use crate::zookeeper::{Process, options};

const TIMEOUT: Duration = Duration::from_secs(10);
const PROCESSES: usize = 10;
/// The sessions that the retrievers are spread over.
const SESSIONS: usize = 10;
const RETRIEVERS: usize = 1000;

/// What is retrieved: what the processes lead, and one that nobody leads.
fn components() -> [ComponentId; 4] {
    [
        ComponentId::dispatcher(),
        ComponentId::resource_manager(),
        ComponentId::rest_server(),
        ComponentId::custom("nobodys").unwrap(),
    ]
}

/// Ten `ha-cluster` processes and 1,000 retrievers in ten sessions beside them. A minute in the full form
/// (`HA_TEST_FULL=1`), one session timeout else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_processes_and_a_thousand_retrievers_cost_the_leaders_proofs_alone() {
    unstalled_case(async || {
        let ensemble = Ensemble::start(EnsembleOptions::standalone()).await.unwrap();
        let servers = ensemble.connect_string();
        let server: SocketAddr = servers.parse().unwrap();
        let timeout = scaled(TIMEOUT);
        let admin = AdminClient::connect(&servers).await.unwrap();
        let cluster = TestCluster::new(&servers, timeout).unwrap();
        let processes: Vec<_> = (0..PROCESSES)
            .map(|index| cluster.spawn(&format!("p{index}"), &[]).unwrap())
            .collect();
        let standing: Vec<_> = processes.iter().collect();
        let leader = cluster.wait_until_standing(&admin, &standing).await.unwrap();
        wait_until_published(&cluster, &admin).await;

        let (root, below) = cluster
            .znode("")
            .rsplit_once('/')
            .map(|(root, id)| (root.to_owned(), id.to_owned()))
            .unwrap();
        let paths = ClusterPaths::new("", &root, &ClusterId::new(&below).unwrap()).unwrap();
        let mut followers = Vec::new();
        for index in 0..SESSIONS {
            followers.push(Process::connect(&format!("f{index}"), &paths, options(&servers, timeout)).await);
        }
        // One retriever a component and session; what a thousand add to that is nothing.
        let mut retrievers = retrieve(&followers, SESSIONS * components().len(), &leader).await;
        let few = eventually("every retriever watches", LONG, async || {
            let watches = watches(server)?;
            for session in followers.iter().map(session_of) {
                let watched = watches.get(&session).map_or(0, BTreeSet::len);
                anyhow::ensure!(watched == components().len(), "{watches:?}");
            }
            Ok(watches)
        })
        .await
        .unwrap();
        retrievers.extend(retrieve(&followers, RETRIEVERS - retrievers.len(), &leader).await);
        // The processes may still arm the last of theirs, of which only the followers have none.
        let many = eventually("every process watches", LONG, async || {
            let watches = watches(server)?;
            expect_watches(&watches, &paths, &leader, &followers)?;
            Ok(watches)
        })
        .await
        .unwrap();
        for session in followers.iter().map(session_of) {
            assert_eq!(many[&session], few[&session], "more retrievers, other watches");
        }

        let before = admin.walk(&root).await.unwrap();
        let log_before = ensemble.transactions().unwrap();
        let (first, started) = (zxid(server), now());
        pause(if full_form() {
            Duration::from_secs(60).max(timeout)
        } else {
            timeout
        })
        .await;
        let (last, elapsed) = (zxid(server), now().saturating_since(started));
        let log_after = ensemble.transactions().unwrap();
        AdminClient::expect_unchanged(&before, &admin.walk(&root).await.unwrap()).unwrap();

        let timeouts = elapsed.as_secs_f64() / timeout.as_secs_f64();
        let made = (last - first) as f64;
        eprintln!(
            "{PROCESSES} processes and {} retrievers idle for {elapsed:?}: {made} transactions, {:.2} a session timeout; {} watches",
            retrievers.len(),
            made / timeouts,
            many.values().map(BTreeSet::len).sum::<usize>(),
        );
        assert!(
            made <= timeouts * 8.0 + 1.0,
            "{made} transactions in {timeouts} session timeouts"
        );
        // Beside other tests the machine may be too busy for all of them.
        let least = if full_form() { 7.0 } else { 4.0 };
        assert!(
            made >= timeouts * least - 1.0,
            "{made} transactions in {timeouts} session timeouts"
        );
        expect_proofs_alone(&log_after[log_before.len()..], &leader);
        for retriever in retrievers {
            retriever.stop().await.unwrap();
        }
        for follower in followers {
            follower.close().await;
        }
    })
    .await;
}

async fn wait_until_published(cluster: &TestCluster, admin: &AdminClient) {
    eventually("every component has its leader", LONG, async || {
        for component in ["dispatcher", "resource_manager", "rest_server"] {
            let path = cluster.znode(&format!("leader/{component}/connection_info"));
            anyhow::ensure!(admin.get(&path).await?.is_some(), "{component} has none");
        }
        Ok(())
    })
    .await
    .unwrap();
}

/// Starts `count` retrievers, spread over the components and the sessions, and waits until each knows its leader.
async fn retrieve(
    followers: &[Process],
    count: usize,
    leader: &LeaderSnapshot,
) -> Vec<Arc<dyn LeaderRetrievalService>> {
    let mut started = Vec::new();
    for index in 0..count {
        let component = components()[index / followers.len() % components().len()].clone();
        let service = followers[index % followers.len()].retriever_of(component.clone(), true);
        let listener = RecordingListener::new();
        listener.listen(&service).await;
        started.push((component, listener, service));
    }
    let mut services = Vec::new();
    for (component, listener, service) in started {
        if component.as_str() != "nobodys" {
            let known = listener
                .wait_for_latest("told the leader", Option::is_some)
                .await
                .unwrap();
            assert_eq!(known.leader_session_id.to_string(), leader.session_id);
        }
        services.push(service);
    }
    services
}

/// The paths of nodes that each session watches, as the server says.
fn watches(server: SocketAddr) -> Result<BTreeMap<i64, BTreeSet<String>>> {
    let mut watches: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    let mut session = 0;
    for line in four_letter_word(server, "wchc")?.lines() {
        if let Some(id) = line.strip_prefix("0x") {
            session = i64::from_str_radix(id, 16)?;
        } else if let Some(path) = line.strip_prefix('\t') {
            watches.entry(session).or_default().insert(path.to_owned());
        }
    }
    Ok(watches)
}

fn session_of(process: &Process) -> i64 {
    process.session.status().latest().session.unwrap().0
}

/// A follower watches one node a component. A process watches what it follows in the same way, its own latch and, a
/// standby, the one before: no herd. The leader watches the jobs beside.
fn expect_watches(
    watches: &BTreeMap<i64, BTreeSet<String>>,
    paths: &ClusterPaths,
    leader: &LeaderSnapshot,
    followers: &[Process],
) -> Result<()> {
    let latches = format!("{}/", paths.latches());
    let information: BTreeSet<_> = components()
        .iter()
        .map(|component| paths.connection_info(component))
        .collect();
    for follower in followers {
        let watched = watches.get(&session_of(follower));
        ensure!(watched == Some(&information), "of a follower: {watched:?}");
    }
    let jobs = paths.job_graphs();
    let contenders: Vec<_> = watches
        .iter()
        .filter(|(_, watched)| watched.iter().any(|path| path.starts_with(&latches)))
        .collect();
    ensure!(contenders.len() == PROCESSES, "{contenders:?}");
    let mut of_latches: BTreeMap<&str, usize> = BTreeMap::new();
    for (session, watched) in contenders {
        let (of_latch, others): (Vec<&String>, Vec<_>) =
            watched.iter().partition(|path| path.starts_with(&latches));
        let leads = *session == leader.zookeeper_session;
        ensure!(of_latch.len() == if leads { 1 } else { 2 }, "{of_latch:?}");
        let unexpected: Vec<_> = others
            .iter()
            .filter(|path| !(information.contains(**path) || leads && ***path == jobs))
            .collect();
        ensure!(unexpected.is_empty(), "{unexpected:?}");
        for path in of_latch {
            *of_latches.entry(path).or_default() += 1;
        }
    }
    ensure!(of_latches.len() == PROCESSES, "{of_latches:?}");
    ensure!(of_latches.values().all(|count| *count <= 2), "{of_latches:?}");
    Ok(())
}

/// The number of the server's newest transaction; asking for it makes none.
fn zxid(server: SocketAddr) -> u64 {
    let answer = four_letter_word(server, "srvr").unwrap();
    let zxid = answer
        .lines()
        .find_map(|line| line.strip_prefix("Zxid: 0x"))
        .unwrap();
    u64::from_str_radix(zxid.trim(), 16).unwrap()
}

/// Each is a check of the leader's latch, and nothing else.
fn expect_proofs_alone(transactions: &[Transaction], leader: &LeaderSnapshot) {
    assert!(!transactions.is_empty());
    for transaction in transactions {
        assert_eq!(transaction.session, leader.zookeeper_session, "{transaction:?}");
        let multi = transaction.action.strip_prefix("multi ").unwrap_or_default();
        assert_eq!(parts(multi), [("check", leader.latch.clone())], "{transaction:?}");
    }
}
