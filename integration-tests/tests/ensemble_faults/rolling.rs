//! What rolling restarts share: every server once, then the ensemble's leader twice, one at a time; each time the server
//! serves again, and the ensemble has a leader, before the next.

use std::time::Duration;

use integration_tests::ensemble::ServerRole;
use integration_tests::waiting::now;
use integration_tests::{CheckpointWatch, ClusterProcess, Ensemble, EnsembleOptions, eventually, scaled};

use crate::group::LONG;

pub(crate) const TICK: Duration = Duration::from_secs(2);
/// Ten ticks. (At least six are recommended; a machine that stalls takes some.)
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);
/// The job goes on for this long besides what the restarts take.
pub(crate) const JOB_DURATION: Duration = Duration::from_secs(15);
pub(crate) const COMPONENTS: [&str; 3] = ["dispatcher", "resource_manager", "rest_server"];

/// Three servers, and how long they took to start: a measure of how long a restart takes on this machine now.
pub(crate) async fn ensemble() -> (Ensemble, Duration) {
    let options = EnsembleOptions::three()
        .with_tick_time(TICK)
        .with_max_session_timeout(LONG * 2);
    let starting = now();
    let ensemble = Ensemble::start(options).await.unwrap();
    (ensemble, now().saturating_since(starting))
}

/// A session timeout that outlasts the election of the ensemble's leader and the clients' backoff, which are longer on
/// a busy machine.
pub(crate) fn outlasting(restart: Duration, at_least: Duration) -> Duration {
    let timeout = scaled(at_least).max(restart * 3);
    eprintln!("the servers started in {restart:?}; the session timeout is {timeout:?}");
    timeout
}

/// What is restarted next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Next {
    Server(usize),
    Leader,
}

pub(crate) const ORDER: [Next; 5] = [
    Next::Server(0),
    Next::Server(1),
    Next::Server(2),
    Next::Leader,
    Next::Leader,
];

/// kill -9 and start; it serves, and the ensemble has a leader, when this returns.
pub(crate) async fn restart(ensemble: &mut Ensemble, next: Next) {
    let leader = ensemble.leader().await.unwrap();
    let index = match next {
        Next::Server(index) => index,
        Next::Leader => leader,
    };
    let started = now();
    ensemble.server(index).unwrap().restart().await.unwrap();
    let new = ensemble.leader().await.unwrap();
    let role = if index == leader {
        ServerRole::Leader
    } else {
        ServerRole::Follower
    };
    eprintln!(
        "server {index}, {role:?}, restarted in {:?}; server {new} leads",
        now().saturating_since(started)
    );
}

pub(crate) async fn wait_for_checkpoint_after(watch: &CheckpointWatch, id: u64) {
    eventually("checkpoints go on", LONG, async || {
        let newest = watch.newest().await?;
        anyhow::ensure!(newest.id > id, "{newest:?}");
        Ok(())
    })
    .await
    .unwrap();
}

/// How often the processes logged an event.
pub(crate) fn events<'a>(processes: impl IntoIterator<Item = &'a ClusterProcess>, name: &str) -> usize {
    let all = processes.into_iter().flat_map(ClusterProcess::events);
    all.filter(|event| event.name == name).count()
}
