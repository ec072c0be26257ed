use std::sync::Arc;
use std::time::Duration;

use ha_core::ids::LeaderSessionId;
use ha_testkit::fakes::ContenderCall;
use ha_zookeeper::client::ClientSource as _;
use ha_zookeeper::paths::ClusterPaths;
use ha_zookeeper::session::SessionOptions;
use integration_tests::leadership::{Interval, Intervals, LeadershipRecorder};
use integration_tests::{broken_invariant, eventually, scaled};
use tempfile::TempDir;

use crate::zookeeper::{Process, close_all, new_cluster, one_leads};

/// How soon leadership moves where no session has to expire, on a busy machine.
pub(crate) const SOON: Duration = Duration::from_secs(20);
/// What waits this long fails for another reason than a slow machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// The processes of one cluster, all inside the test process, each with a session of its own. The first one leads
/// at the beginning.
pub(crate) struct Group {
    pub(crate) paths: ClusterPaths,
    pub(crate) processes: Vec<Process>,
    recorders: Vec<LeadershipRecorder>,
    records: TempDir,
}

/// How a process stood before something happened to the servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Before {
    connects: Vec<u64>,
    calls: Vec<Vec<ContenderCall>>,
    term: Option<LeaderSessionId>,
}

impl Before {
    /// How often each process's connection had been made.
    pub(crate) fn connects(&self) -> &[u64] {
        &self.connects
    }
}

impl Group {
    /// Starts `size` processes and waits until the first leads and all stand.
    pub(crate) async fn start(size: usize, options: &SessionOptions) -> Self {
        let paths = new_cluster();
        let mut group = Self {
            paths,
            processes: Vec::new(),
            recorders: Vec::new(),
            records: TempDir::new().unwrap(),
        };
        for index in 0..size {
            let name = format!("p{index}");
            let process = Process::connect(&name, &group.paths, options.clone()).await;
            let service = Arc::clone(&process.service);
            let recorder = LeadershipRecorder::start(group.records.path(), &name, "dispatcher", service);
            group.recorders.push(recorder.unwrap());
            process.contender.contend(&process.service).await;
            group.processes.push(process);
            if index == 0 {
                group.one_leads(SOON).await;
            }
        }
        eventually("all stand", SOON, async || {
            let client = group.processes[0].session.client().await?;
            let (names, _) = client.list(&group.paths.latches()).await?;
            anyhow::ensure!(names.len() == size, "{names:?}");
            Ok(())
        })
        .await
        .unwrap();
        group
    }

    /// Waits until exactly one process leads, and gives its index.
    pub(crate) async fn one_leads(&self, within: Duration) -> usize {
        one_leads(&self.processes, within).await
    }

    /// The indices of those that say that they lead, asked one after another.
    pub(crate) async fn leading(&self) -> Vec<usize> {
        let mut leading = Vec::new();
        for (index, process) in self.processes.iter().enumerate() {
            if process.leads().await {
                leading.push(index);
            }
        }
        leading
    }

    /// The present state, to compare with later.
    pub(crate) async fn before(&self) -> Before {
        let leading = self.leading().await;
        let term = match leading.first() {
            Some(leader) => self.processes[*leader].term().await,
            None => None,
        };
        Before {
            connects: self.connects(),
            calls: self.calls(),
            term,
        }
    }

    /// Fails unless nobody was called back since, and the same term is led in.
    pub(crate) async fn expect_untouched(&self, before: &Before) {
        let after = self.before().await;
        assert_eq!(after.calls, before.calls, "a contender was called");
        assert_eq!(after.term, before.term);
    }

    /// How often each process's connection was made.
    pub(crate) fn connects(&self) -> Vec<u64> {
        let connects = |process: &Process| process.session.status().latest().connects;
        self.processes.iter().map(connects).collect()
    }

    fn calls(&self) -> Vec<Vec<ContenderCall>> {
        let calls = |process: &Process| process.contender.calls();
        self.processes.iter().map(calls).collect()
    }

    /// How many terms were granted, and how many revoked, over all processes.
    pub(crate) fn grants_and_revocations(&self) -> (usize, usize) {
        self.processes
            .iter()
            .map(grants_and_revocations)
            .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// Waits until a server answers each process.
    pub(crate) async fn answered(&self) {
        for process in &self.processes {
            eventually("a server answers", LONG, async || {
                process.session.client().await?.sync("/").await?;
                Ok(())
            })
            .await
            .unwrap();
        }
    }

    /// Waits until each process has connected again since `before`, and a server answers it.
    pub(crate) async fn reconnected(&self, before: &Before) {
        for (process, connects) in self.processes.iter().zip(&before.connects) {
            let mut status = process.session.status();
            let again = status.wait_for(|now| now.is_connected() && now.connects > *connects);
            tokio::time::timeout(scaled(LONG), again).await.unwrap().unwrap();
        }
        self.answered().await;
    }

    /// All leave, in order, and close their sessions; fails if two ever led at once. Gives all terms.
    pub(crate) async fn close(self) -> Vec<Interval> {
        close_all(&self.processes).await;
        drop(self.recorders);
        let terms = Intervals::read(self.records.path()).unwrap();
        if let Err(error) = terms.check_no_overlap() {
            broken_invariant(&format!("{error:#}"));
        }
        if let Some(closest) = terms.closest_hand_over() {
            eprintln!(
                "the closest hand-over: {:.3} ms between two leaders",
                closest.distance_millis()
            );
        }
        terms.all().to_vec()
    }
}

/// How many terms were granted to a process, and how many revoked.
pub(crate) fn grants_and_revocations(process: &Process) -> (usize, usize) {
    let calls = process.contender.calls();
    let count = |wanted: fn(&ContenderCall) -> bool| calls.iter().filter(|call| wanted(call)).count();
    (
        count(|call| matches!(call, ContenderCall::Granted { .. })),
        count(|call| matches!(call, ContenderCall::Revoked { .. })),
    )
}
