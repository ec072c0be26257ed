use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use ha_core::environment::{Environment, FatalErrorHandler};
use ha_core::health::HealthMonitor;
use ha_core::{Error, ErrorKind, Result};
use ha_storage::{ClusterIdentity, HaStorage};
use uuid::Uuid;

use super::LeadershipPrecondition;
use crate::client::{ClientSource, CreateMode, ZkCode, ZooKeeperClient};
use crate::codec::IdentityData;
use crate::paths::ClusterPaths;

/// How often the tree is looked at again while others make it.
const ATTEMPTS: usize = 5;
/// The condition of a cluster whose tree was lost.
const TREE_LOST: &str = "cluster tree";
/// The name of the identity below the cluster node.
const IDENTITY: &str = "identity";

/// Makes the identity of the cluster in tree and storage, and refuses where the two are not of one cluster.
///
/// The file comes first and is created only if it is absent; the znode is made from it. Nothing is touched where
/// they do not fit: a mismatch, a znode without its file, a cluster node that is not ours.
pub struct IdentityGuard {
    clients: Arc<dyn ClientSource>,
    paths: ClusterPaths,
    storage: Arc<HaStorage>,
    health: HealthMonitor,
    fatal: Arc<dyn FatalErrorHandler>,
    /// The archive whose import may be under way.
    importing: Option<String>,
    /// The fatal handler is told once.
    refused: AtomicBool,
}

impl IdentityGuard {
    /// A guard of the cluster at `paths` with `storage`.
    pub fn new(
        clients: Arc<dyn ClientSource>,
        paths: ClusterPaths,
        storage: Arc<HaStorage>,
        health: HealthMonitor,
        environment: &Environment,
    ) -> Self {
        Self {
            clients,
            paths,
            storage,
            health,
            fatal: Arc::clone(&environment.fatal_error_handler),
            importing: None,
            refused: AtomicBool::new(false),
        }
    }

    /// The same for the import of an archive, which everybody else refuses to lead until it is whole.
    #[must_use]
    pub fn for_import(mut self, archive: &str) -> Self {
        self.importing = Some(archive.to_owned());
        self
    }

    /// The uuid of the cluster, made where there is none yet.
    ///
    /// # Errors
    /// `Unavailable`; `Conflict` when tree and storage are of two clusters, or the tree is not ours; `Corrupt`
    /// when one of the two cannot be read. Nothing was touched then.
    pub async fn establish(&self) -> Result<Uuid> {
        for _ in 0..ATTEMPTS {
            let client = self.clients.client().await?;
            if let Some(node) = self.read_node(&client).await? {
                return self.compare(&node).await;
            }
            let children = self.children(&client).await?;
            if children.iter().any(|name| name == IDENTITY) {
                // Made in between.
                continue;
            }
            if !children.is_empty() {
                return Err(self.foreign(&children));
            }
            self.make(&client).await?;
        }
        Err(
            Error::new(ErrorKind::Unavailable, "the identity appears and disappears")
                .at(self.paths.identity())
                .not_applied(),
        )
    }

    /// Makes the identity of a cluster that is imported, where there is neither tree nor folder, or goes on.
    ///
    /// # Errors
    /// As [`IdentityGuard::establish`]; `Conflict` when there is anything else: nothing was changed.
    pub(crate) async fn begin_import(&self, archive: &str) -> Result<Uuid> {
        let tree = Some(self.paths.cluster());
        if !self.storage.expect_importable(tree, archive).await? {
            let client = self.clients.client().await?;
            self.read_node(&client).await?;
            let children = self.children(&client).await?;
            if !children.is_empty() {
                return Err(Error::new(
                    ErrorKind::Conflict,
                    format!("the cluster node is not empty: it holds {}", children.join(", ")),
                )
                .at(self.paths.cluster())
                .advise("import into another root or cluster-id")
                .not_applied());
            }
        }
        self.storage.begin_import(tree, archive).await?;
        self.establish().await
    }

    /// The uuid of a cluster that is there; makes nothing.
    ///
    /// # Errors
    /// As [`IdentityGuard::establish`], and `NotFound` when there is no tree.
    pub(crate) async fn expect(&self) -> Result<Uuid> {
        let client = self.clients.client().await?;
        if let Some(node) = self.read_node(&client).await? {
            return self.compare(&node).await;
        }
        let children = self.children(&client).await?;
        if !children.is_empty() {
            return Err(self.foreign(&children));
        }
        Err(
            Error::new(ErrorKind::NotFound, "there is no such cluster in ZooKeeper")
                .at(self.paths.cluster())
                .not_applied()
                .advise("check chroot, root and cluster id"),
        )
    }

    /// As [`IdentityGuard::expect`], for the removal of the whole cluster: what a removal that was cut off leaves is there
    /// too, a tree without any job whose file is gone from the storage that it names.
    ///
    /// # Errors
    /// As [`IdentityGuard::expect`].
    pub(crate) async fn expect_for_removal(&self) -> Result<()> {
        let client = self.clients.client().await?;
        if let Some(node) = self.read_node(&client).await?
            && node.storage_dir == self.storage.uri()
            && self.storage.read_identity().await?.is_none()
        {
            let children = self.children(&client).await?;
            let left = [self.paths.identity(), self.paths.leader()];
            let path = |name| ClusterPaths::child(self.paths.cluster(), name);
            if children.iter().all(|name| left.contains(&path(name))) {
                return Ok(());
            }
        }
        self.expect().await.map(drop)
    }

    /// Whether there is a tree, and it may be removed with the storage. Makes nothing. A tree whose file is missing
    /// is what an interrupted clean-up leaves; `false` means neither tree nor file.
    ///
    /// # Errors
    /// As [`IdentityGuard::establish`]; `Conflict` too when the tree of the storage is not here: it may be alive
    /// elsewhere, and its pointers name the files.
    pub(crate) async fn is_removable(&self) -> Result<bool> {
        let client = self.clients.client().await?;
        let node = self.read_node(&client).await?;
        if node.is_none() {
            let children = self.children(&client).await?;
            if !children.is_empty() {
                return Err(self.foreign(&children));
            }
        }
        match (node, self.storage.read_identity().await?) {
            (Some(node), Some(file)) if file.cluster_uuid != node.cluster_uuid => {
                Err(self.mismatch(&node, &file))
            }
            (Some(_), Some(file)) if self.is_of_another_tree(&file) => Err(self.two_trees(&file)),
            (Some(node), _) if node.tree_lost => Err(self.elsewhere(
                "the tree was found empty although state files were there, and nobody has accepted that",
            )),
            (Some(_), _) => Ok(true),
            (None, Some(_)) => Err(self.elsewhere("the storage belongs to a cluster, and no tree is here")),
            (None, None) => Ok(false),
        }
    }

    async fn read_node(&self, client: &Arc<dyn ZooKeeperClient>) -> Result<Option<IdentityData>> {
        let path = self.paths.identity();
        let (synced, read) = futures::join!(client.sync(&path), client.get(&path));
        synced.map_err(|error| error.at(&path).not_applied())?;
        match read {
            Ok((data, _)) => IdentityData::decode(&path, &data).map(Some),
            Err(error) if error.code == ZkCode::NoNode => Ok(None),
            Err(error) => Err(error.at(&path).not_applied()),
        }
    }

    async fn children(&self, client: &Arc<dyn ZooKeeperClient>) -> Result<Vec<String>> {
        match client.list(self.paths.cluster()).await {
            Ok((mut names, _)) => {
                names.sort_unstable();
                Ok(names)
            }
            Err(error) if error.code == ZkCode::NoNode => Ok(Vec::new()),
            Err(error) => Err(error.at(self.paths.cluster()).not_applied()),
        }
    }

    async fn compare(&self, node: &IdentityData) -> Result<Uuid> {
        match self.storage.read_identity().await? {
            Some(file) if file.cluster_uuid == node.cluster_uuid && self.is_of_another_tree(&file) => {
                Err(self.two_trees(&file))
            }
            Some(file) if file.cluster_uuid == node.cluster_uuid => {
                self.expect_whole(&file)?;
                self.health.set_condition(
                    TREE_LOST,
                    node.tree_lost.then(|| {
                        format!(
                            "the tree was lost once: state files of jobs may be all that is left of them; compare the files of the storage with `hactl jobs`, keep what is needed, then say so with `hactl doctor --accept-empty-tree --apply`, which takes \"treeLost\" out of {}",
                            self.paths.identity()
                        )
                    }),
                );
                Ok(node.cluster_uuid)
            }
            Some(file) => Err(self.mismatch(node, &file)),
            None => Err(Error::new(
                ErrorKind::Conflict,
                format!(
                    "the tree belongs to the cluster {}, made for the storage {}, and the storage {} has no identity.json",
                    node.cluster_uuid,
                    node.storage_dir,
                    self.storage.uri()
                ),
            )
            .at(self.paths.identity())
            .not_applied()
            .advise("correct high-availability.storageDir or cluster-id, restore the storage, or repeat a clean-up that was interrupted")),
        }
    }

    /// Makes the parents and the znode from the file, which is made first.
    async fn make(&self, client: &Arc<dyn ZooKeeperClient>) -> Result<()> {
        let tree_lost = self.storage.has_state_files().await?;
        let file = self.storage.identity_of_tree(Some(self.paths.cluster())).await?;
        if self.is_of_another_tree(&file) {
            return Err(self.two_trees(&file));
        }
        self.expect_whole(&file)?;
        let path = self.paths.identity();
        let data = IdentityData {
            cluster_uuid: file.cluster_uuid,
            storage_dir: file.storage_dir,
            created_by: file.created_by,
            tree_lost,
        }
        .encode(&path)?;
        for parent in self
            .paths
            .roots()
            .into_iter()
            .chain([self.paths.cluster().to_owned()])
        {
            create(client, &parent, Bytes::new()).await?;
        }
        // It is read, and compared with the file once more, whoever made it.
        create(client, &path, data).await
    }

    fn mismatch(&self, node: &IdentityData, file: &ClusterIdentity) -> Error {
        Error::new(
            ErrorKind::Conflict,
            format!(
                "the tree belongs to the cluster {}, made for the storage {}, and identity.json in the storage {} to the cluster {}",
                node.cluster_uuid,
                node.storage_dir,
                self.storage.uri(),
                file.cluster_uuid
            ),
        )
        .at(self.paths.identity())
        .not_applied()
        .advise("give each cluster a root and cluster-id, and a storageDir, of its own")
    }

    /// Whether the storage was made for another cluster node than this one. One that says nothing fits.
    fn is_of_another_tree(&self, file: &ClusterIdentity) -> bool {
        file.tree
            .as_deref()
            .is_some_and(|tree| tree != self.paths.cluster())
    }

    fn expect_whole(&self, file: &ClusterIdentity) -> Result<()> {
        file.expect_whole(self.importing.as_deref(), self.storage.display("identity.json"))
    }

    /// Two trees with pointers to one folder: each would take the other's files for its own, or for nobody's.
    fn two_trees(&self, file: &ClusterIdentity) -> Error {
        Error::new(
            ErrorKind::Conflict,
            format!(
                "the storage {} belongs to the tree {}, and this process uses the tree {}",
                self.storage.uri(),
                file.tree.as_deref().unwrap_or_default(),
                self.paths.cluster()
            ),
        )
        .at(self.paths.identity())
        .not_applied()
        .advise("give each cluster a storageDir or a cluster-id of its own; where the tree was moved here for good, take \"tree\" out of the storage's identity.json by hand")
    }

    /// Perhaps the tree is alive under another root or quorum.
    fn elsewhere(&self, reason: &str) -> Error {
        Error::new(
            ErrorKind::Conflict,
            format!("{reason}: the storage {} may be in use by a tree elsewhere", self.storage.uri()),
        )
        .at(self.paths.identity())
        .not_applied()
        .advise("check high-availability.zookeeper.quorum and path.root; if the tree is lost, let a process of the cluster make it anew, accept its loss with `hactl doctor --accept-empty-tree --apply`, then repeat the clean-up")
    }

    fn foreign(&self, children: &[String]) -> Error {
        Error::new(
            ErrorKind::Conflict,
            format!(
                "this node has children but no identity: it is not a cluster of this program, perhaps Flink's own; it holds {}",
                children.join(", ")
            ),
        )
        .at(self.paths.cluster())
        .not_applied()
        .advise("choose another root or cluster-id; nothing was touched")
    }
}

#[async_trait]
impl LeadershipPrecondition for IdentityGuard {
    async fn ensure(&self) -> Result<()> {
        self.establish().await.map(drop).inspect_err(|error| {
            let lasting = !matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Closed);
            if lasting && !self.refused.swap(true, Ordering::AcqRel) {
                self.fatal.on_fatal_error(error.clone());
            }
        })
    }
}

/// Creates a node unless it is there. A lost reply is seen when it is read.
async fn create(client: &Arc<dyn ZooKeeperClient>, path: &str, data: Bytes) -> Result<()> {
    match client.create(path, data, CreateMode::Persistent).await {
        Ok(_) => {
            tracing::info!(path, "made");
            Ok(())
        }
        Err(error) if error.code == ZkCode::NodeExists => Ok(()),
        Err(error) => Err(error.at(path)),
    }
}

#[cfg(test)]
mod tests;
