//! A rolling restart (B12) under a running job with `tolerate-suspended-connections: false`: one revocation and one
//! grant for each real disconnection, and the job ends right.
//!
//! What that means: a term of leadership ends by the first disconnection of the leading process's own client, whatever
//! the other clients do, and by nothing else; and for each term that has ended one more is granted. To whom is not
//! said: to the same process when it is back, for its latch stands on, or to another one when it is not. So, for
//! each process and each of its terms, from the grant to the revocation in its log:
//!
//! - exactly one connection of this process's client ended in a term that is over, and none in the one that is not;
//! - over all processes there are as many revocations as such disconnections, and one grant more;
//! - the terms never overlap, and no leader session id comes twice.
//!
//! Disconnections are counted where neither the processes nor the servers have a say: each process reaches each server
//! through a proxy of its own, which records the connections that the server accepted and when each of them ended,
//! before the client is told. A connection of a standby that ends is none of a leader, and costs nothing.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Result, ensure};
use ha_core::environment::BootInstant;
use integration_tests::leadership::{Interval, Intervals};
use integration_tests::proxy::FaultProxy;
use integration_tests::{
    AdminClient, CheckpointWatch, ClusterProcess, TestCluster, TestJob, broken_invariant, eventually, scaled,
    unstalled,
};

use crate::group::LONG;
use crate::rolling::{
    COMPONENTS, JOB_DURATION, ORDER, TICK, TIMEOUT, ensemble, events, outlasting, restart,
    wait_for_checkpoint_after,
};

/// How often ZooKeeper's leader is restarted at the least: all other servers drop their clients then.
const LEADER_RESTARTS: usize = 2;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b12_without_tolerance_each_disconnection_is_one_revocation_and_one_grant() {
    unstalled(run).await.unwrap();
}

async fn run() -> Result<()> {
    let (mut ensemble, started_in) = ensemble().await;
    let servers = ensemble.connect_string();
    let admin = AdminClient::connect(&servers).await?;
    let cluster = TestCluster::new(&servers, outlasting(started_in, TIMEOUT))?
        .with(
            "high-availability.zookeeper.server-tick-time",
            &format!("{} ms", TICK.as_millis()),
        )
        .with(
            "high-availability.zookeeper.client.tolerate-suspended-connections",
            "false",
        );
    let job = TestJob::create(
        cluster.folder(),
        "strict",
        13,
        2_000_000,
        scaled(JOB_DURATION) + started_in * 4,
    )?;
    let mut clients = Vec::new();
    for name in ["one", "two", "three"] {
        clients.push(Client::start(name, &cluster, &servers).await?);
    }
    let standing: Vec<_> = clients.iter().map(|client| &client.process).collect();
    cluster.wait_until_standing(&admin, &standing).await?;
    cluster.submit(&job).await?;
    let watch = cluster.watch_checkpoints(&admin, &job);
    wait_for_checkpoint_after(&watch, 0).await;

    for next in ORDER {
        let newest = watch.newest().await?.id;
        restart(&mut ensemble, next).await;
        // The next disconnection is one of a leader again, and of standbys.
        settle(&cluster, &admin, &clients, &watch, newest).await?;
    }

    cluster.wait_until_cleaned_up(&admin, &job, LONG * 3).await?;
    job.verify_output()?;
    watch.expect_strictly_increasing()?;
    judge(&clients)
}

/// A process, and its ways to the servers.
struct Client {
    process: ClusterProcess,
    ways: Vec<FaultProxy>,
}

impl Client {
    async fn start(name: &str, cluster: &TestCluster, servers: &str) -> Result<Self> {
        let mut ways = Vec::new();
        for server in servers.split(',') {
            ways.push(FaultProxy::start(server).await?);
        }
        let quorum: Vec<_> = ways.iter().map(FaultProxy::address).collect();
        let quorum = format!("-Dhigh-availability.zookeeper.quorum={}", quorum.join(","));
        Ok(Self {
            process: cluster.spawn(name, &[&quorum])?,
            ways,
        })
    }

    fn is_connected(&self) -> bool {
        let mut links = self.ways.iter().flat_map(FaultProxy::links);
        links.any(|link| link.until.is_none())
    }

    /// When each connection that is over ended.
    fn disconnections(&self) -> Vec<BootInstant> {
        let links = self.ways.iter().flat_map(FaultProxy::links);
        let mut ends: Vec<_> = links.filter_map(|link| link.until).collect();
        ends.sort();
        ends
    }
}

/// Waits until all clients are connected, one process leads and says so, and the job goes on.
async fn settle(
    cluster: &TestCluster,
    admin: &AdminClient,
    clients: &[Client],
    watch: &CheckpointWatch,
    newest: u64,
) -> Result<()> {
    eventually("all are connected and one leads", LONG, async || {
        ensure!(clients.iter().all(Client::is_connected), "not all are connected");
        let leader = cluster.leader_now(admin).await?;
        let terms = terms(clients)?;
        let open = terms.all().iter().filter(|term| term.end.is_none());
        let open: Vec<_> = open.map(|term| term.term.as_str()).collect();
        ensure!(
            open == [leader.session_id.as_str()],
            "{leader:?} is published, {open:?} hold"
        );
        Ok(())
    })
    .await?;
    wait_for_checkpoint_after(watch, newest).await;
    Ok(())
}

/// The terms of all processes, as their logs tell.
fn terms(clients: &[Client]) -> Result<Intervals> {
    let logs = clients.iter().map(|client| {
        let process = &client.process;
        (process.name(), process.output().stderr())
    });
    Intervals::of_logs(logs)
}

fn judge(clients: &[Client]) -> Result<()> {
    let terms = terms(clients)?;
    if let Err(error) = terms.check_no_overlap() {
        broken_invariant(&format!("{error:#}"));
    }
    let ids: BTreeSet<_> = terms.all().iter().map(|term| &term.term).collect();
    ensure!(
        ids.len() == terms.all().len(),
        "a leader session id came twice: {ids:?}"
    );

    let mut of_leaders = 0;
    let mut of_all = 0;
    for client in clients {
        let ends = client.disconnections();
        of_all += ends.len();
        let name = client.process.name();
        for term in terms.all().iter().filter(|term| term.process == name) {
            let meanwhile = ends.iter().filter(|end| is_in(term, **end)).count();
            ensure!(
                meanwhile == usize::from(term.end.is_some()),
                "{meanwhile} disconnections in: {term}, ended at {:?}; all of {name}: {ends:?}",
                term.end
            );
            of_leaders += meanwhile;
        }
    }
    let grants = terms.all().len();
    let revocations = terms.all().iter().filter(|term| term.end.is_some()).count();
    let moves = terms.hand_overs().len();
    eprintln!(
        "{of_all} disconnections, {of_leaders} of them of leaders: {revocations} revocations, {grants} grants, \
         {moves} of them to another process"
    );
    ensure!(of_leaders >= LEADER_RESTARTS, "the restarts hardly met a leader");
    ensure!((revocations, grants) == (of_leaders, of_leaders + 1));

    // What the processes do with it: each component is told, and the job stops and goes on.
    let processes = || clients.iter().map(|client| &client.process);
    for component in COMPONENTS {
        let count = |name| {
            let all = processes().flat_map(ClusterProcess::events);
            all.filter(|event| event.name == name && event.text("component") == component)
                .count()
        };
        let told = (count("leadershipRevoked"), count("leadershipGranted"));
        ensure!(told == (revocations, grants), "{component} was told {told:?}");
    }
    let suspended = events(processes(), "jobSuspended");
    let restored = events(processes(), "checkpointRestored");
    ensure!(events(processes(), "jobStarted") == 1, "the job began anew");
    ensure!(
        suspended == revocations && restored == revocations,
        "the job was suspended {suspended} times and restored {restored} times"
    );
    Ok(())
}

/// Whether the process led, or had not yet been revoked, at this time. Logs tell whole milliseconds.
fn is_in(term: &Interval, at: BootInstant) -> bool {
    let at = Duration::from_millis(u64::try_from(at.since_boot().as_millis()).unwrap_or(u64::MAX));
    term.begin.latest.since_boot() <= at && term.end.is_none_or(|end| at <= end.since_boot())
}
