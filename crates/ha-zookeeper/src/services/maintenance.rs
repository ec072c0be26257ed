use std::sync::Arc;

use ha_core::configuration::Configuration;
use ha_core::environment::Environment;
use ha_core::health::HealthMonitor;
use ha_core::ids::JobId;
use ha_core::{ErrorKind, Follower, Result};
use ha_storage::{FileSystemJobResultStore, HaStorage, OrphanRules};

use super::cluster_cleanup::ClusterCleanup;
use super::describe_this_process;
use super::settings::Settings;
use super::sole_contender::contend_alone;
use crate::client::{ClientSource, Operation};
use crate::codec::LatchData;
use crate::fence::{Commit, FencedWriter, LeadershipFence, Proof, Term};
use crate::identity::IdentityGuard;
use crate::latch::LeaderLatch;
use crate::paths::ClusterPaths;
use crate::session::{SessionOptions, SessionStatus, ZooKeeperSession};
use crate::stores::{CheckpointReads, JobGraphChanges, JobLocks, StoreContext, ZooKeeperJobResultStore};

/// What an operator's tool changes a cluster's data by: as its leader, for no component, while no process of the cluster
/// stands in the election. Every write carries the fence of the grant.
///
/// Nothing is made that is not there: a cluster without a tree, or without a storage directory, is not found.
pub struct Maintenance {
    session: ZooKeeperSession,
    context: StoreContext,
    clients: Arc<dyn ClientSource>,
    identity: Arc<IdentityGuard>,
    results: Arc<FileSystemJobResultStore>,
    latch: LeaderLatch,
    term: Term,
}

impl Maintenance {
    /// Opens a session and the storage, and contends as the tool of this name: the grant is there when this returns, and
    /// lasts until [`Maintenance::end`] or until somebody takes it.
    ///
    /// # Errors
    /// `NotLeader` (nothing changed) when another process stands in the election; `NotFound` when there is no such
    /// cluster; `Conflict` when tree and storage are of two clusters; `Invalid`, `Unavailable`, `Denied`.
    pub async fn begin(configuration: &Configuration, tool: &str, environment: &Environment) -> Result<Self> {
        Self::open(configuration, tool, environment, Purpose::Change).await
    }

    /// The same for the removal of the whole cluster, which goes on where one was cut off.
    ///
    /// # Errors
    /// As [`Maintenance::begin`].
    pub async fn begin_removal(
        configuration: &Configuration,
        tool: &str,
        environment: &Environment,
    ) -> Result<Self> {
        Self::open(configuration, tool, environment, Purpose::Removal).await
    }

    /// The same for a cluster that is imported from `archive`, and is made here: in an empty cluster node and folder, or
    /// where the import of that archive was cut off. Its identity says that until [`Maintenance::finish_import`], and
    /// everybody else refuses to lead it.
    ///
    /// # Errors
    /// As [`Maintenance::begin`]; `Conflict` when there is anything else.
    pub async fn begin_import(
        configuration: &Configuration,
        tool: &str,
        archive: &str,
        environment: &Environment,
    ) -> Result<Self> {
        Self::open(configuration, tool, environment, Purpose::Import(archive)).await
    }

    async fn open(
        configuration: &Configuration,
        tool: &str,
        environment: &Environment,
        purpose: Purpose<'_>,
    ) -> Result<Self> {
        let settings = Settings::read(configuration)?;
        let options = SessionOptions::from_configuration(configuration)?;
        let health = HealthMonitor::default();
        let session = ZooKeeperSession::connect(options, environment.clone(), health).await?;
        let granted = Self::contend(session.clone(), settings, tool, environment, purpose).await;
        if granted.is_err() {
            session.close().await;
        }
        granted
    }

    async fn contend(
        session: ZooKeeperSession,
        settings: Settings,
        tool: &str,
        environment: &Environment,
        purpose: Purpose<'_>,
    ) -> Result<Self> {
        let storage = match purpose {
            Purpose::Change | Purpose::Removal => settings.open_existing_storage(environment).await?,
            // It is tried out, too.
            Purpose::Import(_) => settings.open_storage(environment).await?,
        };
        let health = session.health();
        let results = FileSystemJobResultStore::open_existing(
            Arc::clone(&storage),
            settings.results.clone(),
            health.clone(),
        )
        .await?;
        let clients: Arc<dyn ClientSource> = Arc::new(session.clone());
        let mut identity = IdentityGuard::new(
            Arc::clone(&clients),
            settings.paths.clone(),
            Arc::clone(&storage),
            health.clone(),
            environment,
        );
        match purpose {
            Purpose::Change => drop(identity.expect().await?),
            Purpose::Removal => identity.expect_for_removal().await?,
            Purpose::Import(archive) => {
                identity = identity.for_import(archive);
                identity.begin_import(archive).await?;
            }
        }
        let identity = Arc::new(identity);
        let contender = LatchData {
            tool: Some(tool.to_owned()),
            ..describe_this_process(None)
        };
        let mut latch = LeaderLatch::new(settings.paths.clone(), contender, Arc::clone(&environment.ids));
        let client = clients.client().await?;
        let ids = &*environment.ids;
        let fence = match contend_alone(&mut latch, client.as_ref(), &settings.paths, ids).await {
            Ok((_, fence)) => fence,
            Err(error) => {
                // At the latest it goes with the session, which ends now.
                let _ = latch.leave(client.as_ref(), &[]).await;
                return Err(error);
            }
        };
        let context = context(
            &clients,
            fence,
            &settings,
            &identity,
            storage,
            health,
            environment,
            session.status(),
        );
        let term = context.writer.begin().await?;
        Ok(Self {
            session,
            context,
            clients,
            identity,
            results,
            latch,
            term,
        })
    }

    /// The paths of the cluster.
    pub const fn paths(&self) -> &ClusterPaths {
        self.context.writer.paths()
    }

    /// Where the clients of the session come from, for reading.
    pub const fn clients(&self) -> &Arc<dyn ClientSource> {
        &self.clients
    }

    /// The storage of the cluster.
    pub const fn storage(&self) -> &Arc<HaStorage> {
        &self.context.storage
    }

    /// The results of the cluster.
    pub const fn results(&self) -> &Arc<FileSystemJobResultStore> {
        &self.results
    }

    /// The ends of jobs, decided by pointers and recorded in files.
    pub fn ends(&self) -> ZooKeeperJobResultStore {
        ZooKeeperJobResultStore::new(self.context.clone(), Arc::clone(&self.results))
    }

    /// What makes a file without a pointer an orphan here. As this grant began before whatever is observed under it, what
    /// is found so may be deleted while the grant lasts.
    ///
    /// # Errors
    /// `Invalid` when the granted session timeout leaves no lease.
    pub fn orphan_rules(&self) -> Result<OrphanRules> {
        Ok(OrphanRules::new(
            self.context.orphan_age,
            &self.session.lease_terms()?,
        ))
    }

    /// Applies all `operations` or none, if the grant lasts. Missing parents are made with them.
    ///
    /// # Errors
    /// Those of [`FencedWriter::commit`].
    pub async fn commit(&self, operations: Vec<Operation>, proof: &Proof) -> Result<Commit> {
        self.context.writer.commit(&self.term, operations, proof).await
    }

    /// Proves that the grant lasts: to be asked right before a file is written or deleted.
    ///
    /// # Errors
    /// Those of [`FencedWriter::prove`].
    pub async fn prove(&self) -> Result<()> {
        self.context.writer.prove(&self.term).await
    }

    /// Writes the file of an end that a job graph's pointer records, where it is missing.
    ///
    /// # Errors
    /// `NotLeader` when the grant is over; `Denied`, `Unavailable`.
    pub async fn ensure_recorded(&self, job_id: JobId) -> Result<()> {
        self.ends().ensure_recorded(&self.term, job_id).await
    }

    /// The import that [`Maintenance::begin_import`] began is whole.
    ///
    /// # Errors
    /// `NotLeader` when the grant is over; `Denied`, `Unavailable`: repeat the import.
    pub async fn finish_import(&self) -> Result<()> {
        self.prove().await?;
        self.context.storage.finish_import().await
    }

    /// Removes what is left of the cluster: its tree, this grant with it, and its files.
    ///
    /// # Errors
    /// Those of `close_and_cleanup_all_data`.
    pub async fn remove_cluster(&mut self) -> Result<()> {
        let cleanup = ClusterCleanup {
            context: self.context.clone(),
            clients: Arc::clone(&self.clients),
            identity: Arc::clone(&self.identity),
            results: Arc::clone(&self.results),
        };
        cleanup.run(&mut self.latch).await
    }

    /// Leaves the election, and closes the session.
    ///
    /// # Errors
    /// `Unavailable`: the latch goes with the session.
    pub async fn end(mut self) -> Result<()> {
        let left = match self.clients.client().await {
            Ok(client) => self.latch.leave(client.as_ref(), &[]).await,
            Err(error) if error.kind() == ErrorKind::Closed => Ok(()),
            Err(error) => Err(error),
        };
        self.session.close().await;
        left
    }
}

/// What the cluster is contended for.
#[derive(Clone, Copy)]
enum Purpose<'a> {
    /// It is there, and is changed.
    Change,
    /// It is removed.
    Removal,
    /// It is made of this archive.
    Import(&'a str),
}

#[expect(clippy::too_many_arguments, reason = "they become the fields of one value")]
fn context(
    clients: &Arc<dyn ClientSource>,
    fence: LeadershipFence,
    settings: &Settings,
    identity: &Arc<IdentityGuard>,
    storage: Arc<HaStorage>,
    health: HealthMonitor,
    environment: &Environment,
    status: Follower<SessionStatus>,
) -> StoreContext {
    StoreContext {
        writer: FencedWriter::new(
            Arc::clone(clients),
            fence,
            settings.paths.clone(),
            Arc::clone(identity) as _,
        ),
        storage,
        health,
        environment: environment.clone(),
        status,
        orphan_age: settings.orphan_age,
        job_graph_changes: JobGraphChanges::default(),
        job_locks: JobLocks::default(),
        checkpoint_reads: CheckpointReads::default(),
    }
}
