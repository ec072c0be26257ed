//! What the ZooKeeper tests share: an HA process inside the test process.
#![allow(dead_code, unused_imports, reason = "each test binary uses a part")]

mod leaders;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ha_core::election::{DefaultLeaderElectionService, LeaderContender, LeaderElectionService};
use ha_core::environment::Environment;
use ha_core::health::HealthMonitor;
use ha_core::ids::{ClusterId, ComponentId, LeaderSessionId};
use ha_core::retrieval::LeaderRetrievalService;
use ha_core::{Error, ErrorKind};
use ha_testkit::fakes::RecordingContender;
use ha_zookeeper::client::{ClientSource as _, CreateMode, ZkCode};
use ha_zookeeper::codec::LatchData;
use ha_zookeeper::election::ZooKeeperLeaderElectionDriverFactory;
use ha_zookeeper::fence::LeadershipFence;
use ha_zookeeper::identity::LeadershipPrecondition;
use ha_zookeeper::paths::ClusterPaths;
use ha_zookeeper::retrieval::LeaderWatches;
use ha_zookeeper::session::{SessionOptions, ZooKeeperSession};
use integration_tests::proxy::{RequestFilter, RequestKind};
use integration_tests::unique_name;
use tokio::sync::watch;

pub(crate) use leaders::{AT_ONCE, close_all, eventually_led, leading, one_leads, wait_until_leads};

/// The paths of a cluster that no other test uses.
pub(crate) fn new_cluster() -> ClusterPaths {
    let id = ClusterId::new(&unique_name("election")).unwrap();
    ClusterPaths::new("", "/ha-test", &id).unwrap()
}

/// The requests that make a latch of the cluster.
pub(crate) fn creation_of_a_latch(paths: &ClusterPaths) -> RequestFilter {
    let latches = format!("{}/", paths.latches());
    RequestFilter::matching(move |request| {
        let path = request.path.as_deref().unwrap_or_default();
        request.kind == RequestKind::Create && path.starts_with(&latches)
    })
}

/// A session timeout `timeout` on servers with a tick of half a second.
pub(crate) fn options(servers: &str, timeout: Duration) -> SessionOptions {
    SessionOptions {
        session_timeout: timeout,
        connection_timeout: Duration::from_secs(10),
        retry_wait: Duration::from_millis(200),
        server_tick_time: Some(Duration::from_millis(500)),
        ..SessionOptions::new(servers)
    }
}

/// Makes the tree down to the cluster node; who the cluster is, is other tests' business.
struct Tree {
    session: ZooKeeperSession,
    paths: ClusterPaths,
    answers: watch::Receiver<Answers>,
}

/// How a process answers when its election asks whether it may lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    Yes,
    /// Its storage is away.
    No,
    /// Its storage hangs.
    Never,
}

#[async_trait]
impl LeadershipPrecondition for Tree {
    async fn ensure(&self) -> ha_core::Result<()> {
        let answers = *self.answers.borrow();
        match answers {
            Answers::Yes => {}
            Answers::No => return Err(Error::new(ErrorKind::Unavailable, "the storage is away")),
            Answers::Never => std::future::pending().await,
        }
        let client = self.session.client().await?;
        for path in self
            .paths
            .roots()
            .iter()
            .chain([&self.paths.cluster().to_owned()])
        {
            match client.create(path, "".into(), CreateMode::Persistent).await {
                Err(error) if error.code != ZkCode::NodeExists => return Err(error.at(path)),
                _ => {}
            }
        }
        Ok(())
    }
}

/// What one HA process holds: a session, and one contender for the dispatcher.
pub(crate) struct Process {
    pub(crate) session: ZooKeeperSession,
    pub(crate) health: HealthMonitor,
    pub(crate) answers: watch::Sender<Answers>,
    pub(crate) fence: LeadershipFence,
    pub(crate) paths: ClusterPaths,
    pub(crate) environment: Environment,
    pub(crate) watches: LeaderWatches,
    factory: Arc<ZooKeeperLeaderElectionDriverFactory>,
    pub(crate) election: Arc<DefaultLeaderElectionService>,
    pub(crate) contender: Arc<RecordingContender>,
    pub(crate) service: Arc<dyn LeaderElectionService>,
}

impl Process {
    /// Connects; contends for nothing yet.
    pub(crate) async fn connect(name: &str, paths: &ClusterPaths, options: SessionOptions) -> Self {
        Self::connect_in(
            Environment::system(),
            Duration::from_secs(30),
            name,
            paths,
            options,
        )
        .await
    }

    /// Connects with another environment, and another bound on the callbacks of a revocation.
    pub(crate) async fn connect_in(
        environment: Environment,
        revoke_timeout: Duration,
        name: &str,
        paths: &ClusterPaths,
        options: SessionOptions,
    ) -> Self {
        let health = HealthMonitor::default();
        let answers = watch::Sender::new(Answers::Yes);
        let session = ZooKeeperSession::connect(options, environment.clone(), health.clone())
            .await
            .unwrap();
        let fence = LeadershipFence::new();
        let factory = ZooKeeperLeaderElectionDriverFactory::new(
            session.clone(),
            paths.clone(),
            fence.clone(),
            LatchData {
                process: name.to_owned(),
                host: "localhost".to_owned(),
                pid: std::process::id(),
                tool: None,
                leader_session_id: None,
            },
            Arc::new(Tree {
                session: session.clone(),
                paths: paths.clone(),
                answers: answers.subscribe(),
            }),
            environment.clone(),
        );
        let factory = Arc::new(factory);
        let election = new_election(&factory, &environment, revoke_timeout);
        Self {
            factory,
            watches: LeaderWatches::new(session.clone(), paths.clone(), environment.clone()),
            service: election.election(ComponentId::dispatcher()),
            contender: RecordingContender::confirming(&format!("http://{name}:1")),
            session,
            health,
            answers,
            fence,
            paths: paths.clone(),
            environment,
            election,
        }
    }

    /// Connects and contends.
    pub(crate) async fn start(name: &str, paths: &ClusterPaths, options: SessionOptions) -> Self {
        let process = Self::connect(name, paths, options).await;
        process.contender.contend(&process.service).await;
        process
    }

    /// Whether it leads now, in its newest term.
    pub(crate) async fn leads(&self) -> bool {
        match self.contender.sessions().last() {
            Some(session) => self.service.has_leadership(*session).await,
            None => false,
        }
    }

    /// The term that it leads in now.
    pub(crate) async fn term(&self) -> Option<LeaderSessionId> {
        let session = self.contender.sessions().last().copied()?;
        self.service.has_leadership(session).await.then_some(session)
    }

    /// The path of its latch, as the grant's fence says.
    pub(crate) fn latch(&self) -> String {
        self.fence.current().unwrap().unwrap().latch_path
    }

    /// After its contender was stopped: another one, in the same session.
    pub(crate) async fn stand_anew(&mut self) {
        let address = LeaderContender::address(self.contender.as_ref());
        self.contender = RecordingContender::confirming(&address);
        self.service = self.election.election(ComponentId::dispatcher());
        self.contender.contend(&self.service).await;
    }

    /// After its election was dropped or closed: another one, in the same session.
    pub(crate) fn new_election(&self) -> Arc<DefaultLeaderElectionService> {
        new_election(&self.factory, &self.environment, Duration::from_secs(30))
    }

    /// Gives up leadership and closes the session.
    pub(crate) async fn close(&self) {
        self.election.close().await.unwrap();
        self.session.close().await;
    }

    /// Follows the dispatcher.
    pub(crate) fn retriever(&self, tolerate_suspended: bool) -> Arc<dyn LeaderRetrievalService> {
        self.retriever_of(ComponentId::dispatcher(), tolerate_suspended)
    }

    /// Follows a component.
    pub(crate) fn retriever_of(
        &self,
        component: ComponentId,
        tolerate_suspended: bool,
    ) -> Arc<dyn LeaderRetrievalService> {
        let factory = ha_zookeeper::retrieval::ZooKeeperLeaderRetrievalDriverFactory::new(
            self.watches.clone(),
            component,
        );
        ha_core::retrieval::DefaultLeaderRetrievalService::new(
            Arc::new(factory),
            tolerate_suspended,
            self.environment.clone(),
        )
    }
}

fn new_election(
    factory: &Arc<ZooKeeperLeaderElectionDriverFactory>,
    environment: &Environment,
    revoke_timeout: Duration,
) -> Arc<DefaultLeaderElectionService> {
    let factory = Arc::<ZooKeeperLeaderElectionDriverFactory>::clone(factory);
    DefaultLeaderElectionService::new(factory, environment.clone(), revoke_timeout)
}
