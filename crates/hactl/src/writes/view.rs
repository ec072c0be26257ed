use std::sync::Arc;

use async_trait::async_trait;
use ha_core::configuration::HighAvailabilityOptions;
use ha_core::environment::Environment;
use ha_core::lease::LeaseTerms;
use ha_core::{Error, Result};
use ha_storage::{
    Dating, FileKind, FileSystemJobResultStore, HaStorage, JobResultStoreSettings, ObservedFile,
    OrphanReport, OrphanRules, Survey, decide_orphans, observe_file_backed,
};
use ha_zookeeper::client::{ClientSource, ZooKeeperClient};
use ha_zookeeper::paths::ClusterPaths;
use ha_zookeeper::services::Maintenance;
use ha_zookeeper::session::SessionOptions;
use ha_zookeeper::stores::OrphanDetection;

use super::Progress;
use crate::cluster::{Backend, Cluster, Nodes};

/// What a plan is made from: the same things before a grant, where nothing is written, and under it.
pub(crate) struct View {
    /// `None` in the mode `filesystem`.
    pub(super) tree: Option<TreeView>,
    pub(super) storage: Arc<HaStorage>,
    pub(super) results: Arc<FileSystemJobResultStore>,
    /// Other clusters may keep their results in the same folder.
    pub(super) shares_results: bool,
    pub(super) environment: Environment,
    rules: OrphanRules,
    dating: Dating,
}

/// The tree of the cluster.
pub(super) struct TreeView {
    pub(super) clients: Arc<dyn ClientSource>,
    pub(super) paths: ClusterPaths,
}

/// The one client of a reading command.
struct OneClient(Arc<dyn ZooKeeperClient>);

#[async_trait]
impl ClientSource for OneClient {
    async fn client(&self) -> Result<Arc<dyn ZooKeeperClient>> {
        Ok(Arc::clone(&self.0))
    }
}

impl View {
    /// Of a cluster that is only read.
    pub(super) async fn reading(cluster: &Cluster) -> Result<Self> {
        let configuration = cluster.configuration();
        let age = HighAvailabilityOptions::orphan_age(configuration)?;
        let (tree, rules) = match cluster.backend() {
            Backend::ZooKeeper { client, paths, .. } => {
                let tick = SessionOptions::from_configuration(configuration)?.server_tick_time;
                let terms = LeaseTerms::new(client.session_timeout(), tick)?;
                let clients = Arc::new(OneClient(Arc::clone(client) as _));
                let paths = paths.clone();
                (Some(TreeView { clients, paths }), OrphanRules::new(age, &terms))
            }
            Backend::Files => (None, OrphanRules::of_one_process(age)),
        };
        Ok(Self {
            tree,
            storage: cluster.storage().await?,
            results: cluster.results_of_this_program().await?,
            shares_results: shares_results(cluster)?,
            environment: cluster.environment().clone(),
            rules,
            dating: Dating::ThisHost,
        })
    }

    /// Of a tree and a storage of a test's own.
    #[cfg(test)]
    pub(super) fn of_a_test(
        client: Arc<dyn ZooKeeperClient>,
        paths: ClusterPaths,
        storage: Arc<HaStorage>,
        results: Arc<FileSystemJobResultStore>,
    ) -> Self {
        let clients = Arc::new(OneClient(client));
        Self {
            tree: Some(TreeView { clients, paths }),
            storage,
            results,
            shares_results: false,
            environment: Environment::system(),
            rules: OrphanRules::of_one_process(std::time::Duration::ZERO),
            dating: Dating::ThisHost,
        }
    }

    /// Under the grant of `maintenance`.
    pub(super) fn granted(cluster: &Cluster, maintenance: &Maintenance) -> Result<Self> {
        Ok(Self {
            tree: Some(TreeView {
                clients: Arc::clone(maintenance.clients()),
                paths: maintenance.paths().clone(),
            }),
            storage: Arc::clone(maintenance.storage()),
            results: Arc::clone(maintenance.results()),
            shares_results: shares_results(cluster)?,
            environment: cluster.environment().clone(),
            rules: maintenance.orphan_rules()?,
            dating: Dating::Store,
        })
    }

    /// The same under the lock of the folder.
    pub(super) fn locked(mut self) -> Self {
        self.dating = Dating::Store;
        self
    }

    /// The znodes, at least as new as all that was written before the call.
    pub(super) async fn nodes(&self) -> Result<Option<(Nodes, &ClusterPaths)>> {
        let Some(TreeView { clients, paths }) = &self.tree else {
            return Ok(None);
        };
        let nodes = Nodes::new(clients.client().await?);
        nodes.sync(paths.cluster()).await?;
        Ok(Some((nodes, paths)))
    }

    /// The znodes, for a command that is for the mode `zookeeper` only.
    pub(super) async fn expect_nodes(&self, command: &str) -> Result<(Nodes, &ClusterPaths)> {
        self.nodes().await?.ok_or_else(|| {
            Error::invalid(format!(
                "{command} works on clusters on ZooKeeper only, not in the mode filesystem"
            ))
            .at(HighAvailabilityOptions::HA_MODE.key())
        })
    }

    /// All files, unread.
    pub(super) async fn survey(&self) -> Result<Survey> {
        Survey::undated(&self.storage, &self.results).await
    }

    /// What the files are dated by, for people.
    pub(super) fn is_dated_by_this_host(&self) -> bool {
        self.dating == Dating::ThisHost
    }

    /// Looks for orphans: twice, as far apart as the rules say.
    pub(super) async fn orphans(
        &self,
        accepts_no_pointers: bool,
        progress: &Progress,
    ) -> Result<OrphanReport> {
        let rules = match accepts_no_pointers {
            true => self.rules.accepting_an_empty_tree(),
            false => self.rules,
        };
        let detection = self.tree.as_ref().map(|tree| {
            OrphanDetection::new(
                Arc::clone(&tree.clients),
                tree.paths.clone(),
                Arc::clone(&self.storage),
                Arc::clone(&self.results),
                self.environment.clone(),
                rules,
            )
            .dated_by(self.dating)
        });
        let observe = async || match &detection {
            Some(detection) => detection.observe().await,
            None => observe_file_backed(self.dating, &self.storage, &self.results, &self.environment).await,
        };
        let first = progress
            .doing("looking at files and pointers, 1 of 2", observe())
            .await?;
        progress
            .waiting(
                "waiting before the second look",
                rules.interval(),
                &self.environment,
            )
            .await;
        let second = progress
            .doing("looking at files and pointers, 2 of 2", observe())
            .await?;
        Ok(decide_orphans(&rules, &first, &second))
    }
}

impl View {
    /// Whether a file lies where other clusters may keep their results, too.
    pub(super) fn is_in_shared_results(&self, file: &ObservedFile) -> bool {
        self.shares_results
            && (file.kind == FileKind::Result || self.storage.display(&file.path) != file.place)
    }
}

pub(crate) fn shares_results(cluster: &Cluster) -> Result<bool> {
    let settings = JobResultStoreSettings::from_configuration(cluster.configuration())?;
    Ok(settings.storage_path.is_some())
}
