use std::sync::Arc;

use ha_core::environment::Environment;
use ha_core::{ErrorKind, Result};
use ha_storage::{
    Dating, FileSystemJobResultStore, HaStorage, Observation, OrphanReport, OrphanRules, Refusal, Survey,
    decide_orphans,
};
use uuid::Uuid;

use super::tree::{self, Tree};
use crate::client::ClientSource;
use crate::paths::ClusterPaths;

/// Finds the orphans of a cluster on ZooKeeper.
///
/// It may be used beside a leader and while jobs run; it contends for nothing. What it finds proves that nobody
/// needed the file then. Who deletes it afterwards must lead, so that nobody else begins to; and must have led since
/// before the second observation, so that no job was put since whose blobs are among them.
pub struct OrphanDetection {
    clients: Arc<dyn ClientSource>,
    paths: ClusterPaths,
    storage: Arc<HaStorage>,
    results: Arc<FileSystemJobResultStore>,
    environment: Environment,
    rules: OrphanRules,
    dating: Dating,
}

impl OrphanDetection {
    /// A detection by `rules` in the tree of `paths`, its storage and its results.
    pub const fn new(
        clients: Arc<dyn ClientSource>,
        paths: ClusterPaths,
        storage: Arc<HaStorage>,
        results: Arc<FileSystemJobResultStore>,
        environment: Environment,
        rules: OrphanRules,
    ) -> Self {
        Self {
            clients,
            paths,
            storage,
            results,
            environment,
            rules,
            dating: Dating::Store,
        }
    }

    /// The same by another clock than the store's own.
    #[must_use]
    pub const fn dated_by(mut self, dating: Dating) -> Self {
        self.dating = dating;
        self
    }

    /// What two observations are judged by.
    pub const fn rules(&self) -> &OrphanRules {
        &self.rules
    }

    /// Observes twice, as far apart as the rules say, and decides.
    ///
    /// # Errors
    /// `Unavailable`, `Denied`, `Closed`: files or pointers could not be read, so nothing is known.
    pub async fn find(&self) -> Result<OrphanReport> {
        let first = self.observe().await?;
        self.environment.clock.sleep(self.rules.interval()).await;
        let second = self.observe().await?;
        Ok(decide_orphans(&self.rules, &first, &second))
    }

    /// Lists the files, then syncs, then reads what names them.
    ///
    /// # Errors
    /// Those of [`OrphanDetection::find`].
    pub async fn observe(&self) -> Result<Observation> {
        let began = self.environment.clock.now();
        let (cluster_uuid, survey, protection) = match self.belongings().await? {
            // Not even a marker is written into a storage that is not this tree's.
            Err(refusal) => (Uuid::nil(), Survey::nothing(), Err(refusal)),
            Ok(before) => {
                let survey = Survey::make_by(self.dating, &self.storage, &self.results).await?;
                let client = self.clients.client().await?;
                match tree::read(&client, &self.paths).await? {
                    Ok(tree) => self.protection(before, survey, tree).await?,
                    Err(refusal) => (before, survey, Err(refusal)),
                }
            }
        };
        let times = (began, self.environment.clock.now());
        Ok(Observation::of_pointers(times, cluster_uuid, survey, protection))
    }

    /// The cluster that tree and storage belong to, both.
    async fn belongings(&self) -> Result<Result<Uuid, Refusal>> {
        let client = self.clients.client().await?;
        let tree = match tree::identity(&client, &self.paths).await? {
            Ok(tree) => tree,
            Err(refusal) => return Ok(Err(refusal)),
        };
        self.compare(tree).await
    }

    /// The cluster, if the storage is that of the tree.
    async fn compare(&self, tree: Uuid) -> Result<Result<Uuid, Refusal>> {
        Ok(match self.storage.read_identity().await {
            Ok(Some(file)) if file.cluster_uuid == tree => match file.tree {
                Some(other) if other != self.paths.cluster() => Err(Refusal::AnotherTree {
                    path: self.paths.cluster().to_owned(),
                    tree: other,
                }),
                _ => Ok(tree),
            },
            Ok(Some(file)) => Err(Refusal::IdentityMismatch {
                path: self.paths.identity(),
                tree,
                storage: file.cluster_uuid,
            }),
            Ok(None) => Err(Refusal::no_storage(&self.storage)),
            Err(error) if error.kind() == ErrorKind::Corrupt => Err(Refusal::unreadable_identity(&error)),
            Err(error) => return Err(error),
        })
    }

    /// What the tree keeps, if it is still the one that the files were listed for.
    async fn protection(
        &self,
        before: Uuid,
        survey: Survey,
        tree: Tree,
    ) -> Result<(Uuid, Survey, Result<ha_storage::Protection, Refusal>)> {
        if tree.cluster_uuid != before {
            return Ok((before, survey, Err(Refusal::ClusterChanged)));
        }
        if let Err(refusal) = self.compare(before).await? {
            return Ok((before, survey, Err(refusal)));
        }
        let mut protection = tree.protection;
        // Their clean-up goes on.
        protection.known_jobs.extend(survey.dirty_jobs());
        Ok((before, survey, Ok(protection)))
    }
}
