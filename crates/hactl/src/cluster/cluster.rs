use std::path::{Path, PathBuf};
use std::sync::Arc;

use ha_core::configuration::{
    Configuration, HighAvailabilityMode, HighAvailabilityOptions, JobResultStoreOptions,
};
use ha_core::environment::Environment;
use ha_core::health::BrokenEntry;
use ha_core::ids::{ClusterId, JobId};
use ha_core::jobs::{JobResultEntry, JobResultStore as _};
use ha_core::{Error, Result};
use ha_storage::{FileSystemJobResultStore, HaStorage};
use ha_zookeeper::client::WireClient;
use ha_zookeeper::paths::ClusterPaths;
use serde::Serialize;

use crate::layout::{Layout, LayoutChoice, PathMappings};
use crate::progress::Progress;

use super::opening::{connect, expect_cluster, expect_cluster_node, nothing_to_read, results_folder};
use super::places::{own_result_store, result_store, storage_dir};
use super::{
    FoundFile, JobPlace, Nodes, StoredCheckpoint, StoredJobs, flink, identity, stored_in_files,
    stored_in_zookeeper, walk,
};

/// The name of the factory of the mode `filesystem`.
const FILESYSTEM: &str = "filesystem";

/// What every answer begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterHeader {
    /// The cluster.
    pub cluster_id: String,
    /// `zookeeper` or `filesystem`.
    pub mode: String,
    /// The servers and the cluster node, or the storage folder: what was read.
    pub location: String,
}

/// A cluster, open for reading.
pub struct Cluster {
    cluster_id: ClusterId,
    configuration: Configuration,
    environment: Environment,
    backend: Backend,
    location: String,
    mappings: PathMappings,
}

/// How a cluster is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadingOptions {
    /// Whose layout it is.
    pub layout: LayoutChoice,
    /// Where the files lie that Flink's pointers and the configuration name.
    pub mappings: PathMappings,
}

/// Where pointers and leaders are.
pub enum Backend {
    /// In ZooKeeper, over a session of this command's own.
    ZooKeeper {
        /// The session.
        client: Arc<WireClient>,
        /// The cluster's paths.
        paths: ClusterPaths,
        /// Whose layout it is.
        layout: Layout,
    },
    /// In files.
    Files,
}

impl Cluster {
    /// Opens the cluster that the configuration names. Writes nothing; the caller closes it.
    ///
    /// # Errors
    /// `Invalid` for a wrong configuration and for a mode that keeps nothing; `Unavailable` when ZooKeeper or the
    /// storage cannot be reached.
    pub async fn open(configuration: &Configuration, environment: &Environment) -> Result<Self> {
        Self::open_with(configuration, ReadingOptions::default(), environment).await
    }

    /// The same, for a layout that is not told by what is there, and for files that lie elsewhere than pointers say.
    ///
    /// # Errors
    /// As [`Cluster::open`]; `Invalid` for Flink's layout in the mode `filesystem`.
    pub async fn open_with(
        configuration: &Configuration,
        options: ReadingOptions,
        environment: &Environment,
    ) -> Result<Self> {
        Self::open_place(configuration, options, environment, true).await
    }

    /// The same for a place where a cluster is to be made: nothing of it need be there.
    pub(crate) async fn open_for_import(
        configuration: &Configuration,
        options: ReadingOptions,
        environment: &Environment,
    ) -> Result<Self> {
        Self::open_place(configuration, options, environment, false).await
    }

    async fn open_place(
        configuration: &Configuration,
        options: ReadingOptions,
        environment: &Environment,
        is_expected: bool,
    ) -> Result<Self> {
        for warning in HighAvailabilityOptions::validate(configuration)? {
            tracing::warn!("{warning}");
        }
        let cluster_id = HighAvailabilityOptions::cluster_id(configuration)?;
        let mode = HighAvailabilityOptions::mode(configuration)?;
        let in_zookeeper = match &mode {
            HighAvailabilityMode::ZooKeeper => true,
            HighAvailabilityMode::Factory(name) if name.eq_ignore_ascii_case(FILESYSTEM) => false,
            other => return Err(nothing_to_read(other)),
        };
        let (backend, location) = if in_zookeeper {
            connect(configuration, &cluster_id, options.layout, environment).await?
        } else if options.layout == LayoutChoice::Flink {
            return Err(Error::invalid("Flink keeps nothing in the mode filesystem")
                .at("--layout")
                .advise("set high-availability to zookeeper, and its quorum to that of the Flink cluster"));
        } else {
            let directory = storage_dir(configuration, &options.mappings)?;
            let storage = HaStorage::open_existing(directory, &cluster_id, environment).await?;
            if is_expected && let Some(folder) = storage.local_folder() {
                expect_cluster(&folder, &cluster_id)?;
            }
            (Backend::Files, format!("{}/{cluster_id}", storage.uri()))
        };
        Ok(Self {
            cluster_id,
            configuration: configuration.clone(),
            environment: environment.clone(),
            backend,
            location,
            mappings: options.mappings,
        })
    }

    /// What was opened.
    pub fn header(&self) -> ClusterHeader {
        let mode = match self.backend {
            Backend::ZooKeeper { .. } => HighAvailabilityMode::ZooKeeper.value().to_owned(),
            Backend::Files => FILESYSTEM.to_owned(),
        };
        ClusterHeader {
            cluster_id: self.cluster_id.to_string(),
            mode,
            location: self.location.clone(),
        }
    }

    /// Where pointers and leaders are.
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// What it was opened by.
    pub(crate) const fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// Time and ids.
    pub(crate) const fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Where this program keeps results, open for reading.
    pub(crate) async fn results_of_this_program(&self) -> Result<Arc<FileSystemJobResultStore>> {
        own_result_store(&self.configuration, &self.mappings, self.storage().await?).await
    }

    /// Whether it is a cluster of Apache Flink.
    pub fn is_flinks(&self) -> bool {
        matches!(
            self.backend,
            Backend::ZooKeeper {
                layout: Layout::Flink(_),
                ..
            }
        )
    }

    /// Where the files lie that pointers and the configuration name.
    pub(crate) const fn mappings(&self) -> &PathMappings {
        &self.mappings
    }

    /// The folder of the cluster's files, as the configuration names it.
    pub(crate) fn folder(&self) -> Result<String> {
        let text = self
            .configuration
            .get(&HighAvailabilityOptions::HA_STORAGE_PATH)?;
        Ok(format!("{}/{}", text.trim_end_matches('/'), self.cluster_id))
    }

    /// Refuses to change a cluster of Apache Flink.
    pub(crate) fn refuse_flinks(&self) -> Result<()> {
        match self.is_flinks() {
            false => Ok(()),
            true => Err(Error::invalid(
                "this command changes clusters of this program only, and this is one of Apache Flink",
            )
            .at(self.location.clone())
            .advise("use Flink's own tools")),
        }
    }

    /// The storage of the cluster, open for reading. Only commands that need it ask, so that the others work while
    /// it is away.
    ///
    /// # Errors
    /// `NotFound` when the directory is missing; `Denied`, `Unavailable` when it cannot be read.
    pub async fn storage(&self) -> Result<Arc<HaStorage>> {
        let directory = storage_dir(&self.configuration, &self.mappings)?;
        HaStorage::open_existing(directory, &self.cluster_id, &self.environment).await
    }

    /// What is stored about jobs, apart from results.
    pub(crate) async fn stored_jobs(&self, broken: &mut Vec<BrokenEntry>) -> Result<StoredJobs> {
        match self.backend.nodes().await? {
            Some((nodes, paths)) if self.is_flinks() => {
                flink::jobs(&nodes, paths, &self.mappings, broken).await
            }
            Some((nodes, paths)) => stored_in_zookeeper::jobs(self, &nodes, paths, broken).await,
            None => stored_in_files::jobs(&*self.storage().await?, broken).await,
        }
    }

    /// Reports a storage that is not the one of the tree. One that cannot be reached is told by who reads from it.
    pub(crate) async fn compare_identities(&self, broken: &mut Vec<BrokenEntry>) -> Result<()> {
        if !self.is_flinks()
            && let Some((nodes, paths)) = self.backend.nodes().await?
            && let Ok(storage) = self.storage().await
        {
            identity::compare(&nodes, paths, &storage, broken).await?;
        }
        Ok(())
    }

    /// The ends of jobs that are decided and not in a file yet.
    pub(crate) async fn decided_results(&self, broken: &mut Vec<BrokenEntry>) -> Result<Vec<JobResultEntry>> {
        match self.backend.nodes().await? {
            Some((nodes, paths)) if !self.is_flinks() => {
                stored_in_zookeeper::decided_results(&nodes, paths, broken).await
            }
            // There the file itself decides.
            Some(_) | None => Ok(Vec::new()),
        }
    }

    /// The checkpoints of one job, in the order of their ids; `None` when it has no place for them.
    pub(crate) async fn stored_checkpoints(
        &self,
        job_id: JobId,
        broken: &mut Vec<BrokenEntry>,
    ) -> Result<Option<Vec<StoredCheckpoint>>> {
        match self.backend.nodes().await? {
            Some((nodes, paths)) if self.is_flinks() => {
                flink::checkpoints(&nodes, paths, job_id, &self.mappings, broken).await
            }
            Some((nodes, paths)) => {
                stored_in_zookeeper::checkpoints(self, &nodes, paths, job_id, broken).await
            }
            None => stored_in_files::checkpoints(&*self.storage().await?, job_id, broken).await,
        }
    }

    /// What tells of one job's checkpoints, by direct look-ups.
    pub(crate) async fn job_place(&self, job_id: JobId, broken: &mut Vec<BrokenEntry>) -> Result<JobPlace> {
        match self.backend.nodes().await? {
            Some((nodes, paths)) if self.is_flinks() => flink::job_place(&nodes, paths, job_id, broken).await,
            Some((nodes, paths)) => stored_in_zookeeper::job_place(&nodes, paths, job_id, broken).await,
            None => stored_in_files::job_place(&*self.storage().await?, job_id, broken).await,
        }
    }

    /// The results in files: those whose clean-up is pending, and the others.
    pub(crate) async fn recorded_results(
        &self,
        broken: &mut Vec<BrokenEntry>,
    ) -> Result<(Vec<JobResultEntry>, Vec<JobResultEntry>)> {
        let Some(store) = self.result_store().await? else {
            return Ok((Vec::new(), Vec::new()));
        };
        let dirty = store.dirty_results().await?;
        let clean = store.clean_results().await?;
        for entry in dirty.broken.into_iter().chain(clean.broken) {
            // A foreign name is told by both.
            if broken.iter().all(|known| known.path != entry.path) {
                broken.push(entry);
            }
        }
        Ok((dirty.entries, clean.entries))
    }

    /// Where results are, open for reading; `None` where Flink keeps none: before 1.15, or before the first end of a job.
    pub(crate) async fn result_store(&self) -> Result<Option<Arc<FileSystemJobResultStore>>> {
        let storage = self.storage().await?;
        result_store(
            &self.configuration,
            &self.cluster_id,
            self.is_flinks(),
            &self.mappings,
            storage,
        )
        .await
    }

    /// Every file of the cluster (mode `filesystem`), with the first `limit` bytes of each.
    pub(crate) async fn stored_files(
        &self,
        limit: u64,
        broken: &mut Vec<BrokenEntry>,
    ) -> Result<Vec<FoundFile>> {
        let storage = self.storage().await?;
        let folder = storage.local_folder().ok_or_else(|| {
            Error::invalid("the files cannot be listed: the storage is not a local directory")
                .at(storage.uri())
                .advise("the mode filesystem needs a local storageDir")
        })?;
        let mut files = walk(&folder, limit, broken);
        match self
            .configuration
            .get_optional(&JobResultStoreOptions::STORAGE_PATH)?
        {
            Some(path) => match self.local_folder_at(&self.mappings.directory(&path)).await {
                Ok(results) => files.extend(walk(&results, limit, broken)),
                Err(error) => {
                    let subject = error.subject().unwrap_or(&path).to_owned();
                    broken.push(BrokenEntry::from_error("results", subject, &error));
                }
            },
            None => files.extend(walk(&results_folder(&folder, &self.cluster_id), limit, broken)),
        }
        Ok(files)
    }

    /// The directory that a path or URI of the configuration names, by the storage's own reading of it.
    async fn local_folder_at(&self, uri: &str) -> Result<PathBuf> {
        let storage = HaStorage::open_existing(uri, &self.cluster_id, &self.environment).await?;
        let folder = storage.local_folder();
        let directory = folder.as_deref().and_then(Path::parent).map(Path::to_owned);
        directory.ok_or_else(|| {
            Error::invalid("the files cannot be listed: it is not a local directory")
                .at(uri)
                .advise("use a local directory in the mode filesystem")
        })
    }

    /// Ends the session, if there is one, and waits for it.
    pub async fn close(&self) {
        if let Backend::ZooKeeper { client, .. } = &self.backend {
            client.close().await;
        }
    }
}

impl Backend {
    /// The znodes of the cluster, up to date; `None` in the mode `filesystem`.
    ///
    /// # Errors
    /// `NotFound` when there is no cluster node: the error lists the clusters that are there.
    pub(crate) async fn nodes(&self) -> Result<Option<(Nodes, &ClusterPaths)>> {
        let Self::ZooKeeper { client, paths, .. } = self else {
            return Ok(None);
        };
        let nodes = Nodes::new(Arc::clone(client) as _).showing(Progress::new());
        nodes.sync(paths.cluster()).await?;
        expect_cluster_node(&nodes, paths).await?;
        Ok(Some((nodes, paths)))
    }
}
