use std::path::{Path, PathBuf};
use std::sync::Arc;

use ha_core::configuration::{
    Configuration, HighAvailabilityMode, HighAvailabilityOptions, JobResultStoreOptions,
};
use ha_core::environment::Environment;
use ha_core::health::{BrokenEntry, HealthMonitor};
use ha_core::ids::{ClusterId, JobId};
use ha_core::jobs::{JobResultEntry, JobResultStore as _};
use ha_core::{Error, ErrorKind, Result};
use ha_storage::{FileSystemJobResultStore, HaStorage, JobResultStoreSettings, StorageDirectory};
use ha_zookeeper::client::{WireClient, connect_client};
use ha_zookeeper::paths::ClusterPaths;
use ha_zookeeper::session::SessionOptions;
use serde::Serialize;

use super::{
    FoundFile, JobPlace, Nodes, StoredCheckpoint, StoredJobs, identity, stored_in_files, stored_in_zookeeper,
    walk,
};

/// The name of the factory of the mode `filesystem`.
const FILESYSTEM: &str = "filesystem";
/// The folder of all clusters' results in the storage directory.
const RESULTS: &str = "job-results-store";

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
}

/// Where pointers and leaders are.
pub enum Backend {
    /// In ZooKeeper, over a session of this command's own.
    ZooKeeper {
        /// The session.
        client: Arc<WireClient>,
        /// The cluster's paths.
        paths: ClusterPaths,
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
            connect(configuration, &cluster_id, environment).await?
        } else {
            let storage =
                HaStorage::open_existing(storage_dir(configuration)?, &cluster_id, environment).await?;
            if let Some(folder) = storage.local_folder() {
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

    /// The storage of the cluster, open for reading. Only commands that need it ask, so that the others work while
    /// it is away.
    ///
    /// # Errors
    /// `NotFound` when the directory is missing; `Denied`, `Unavailable` when it cannot be read.
    pub async fn storage(&self) -> Result<Arc<HaStorage>> {
        let directory = storage_dir(&self.configuration)?;
        HaStorage::open_existing(directory, &self.cluster_id, &self.environment).await
    }

    /// What is stored about jobs, apart from results.
    pub(crate) async fn stored_jobs(&self, broken: &mut Vec<BrokenEntry>) -> Result<StoredJobs> {
        match self.backend.nodes().await? {
            Some((nodes, paths)) => stored_in_zookeeper::jobs(self, &nodes, paths, broken).await,
            None => stored_in_files::jobs(&*self.storage().await?, broken).await,
        }
    }

    /// Reports a storage that is not the one of the tree. One that cannot be reached is told by who reads from it.
    pub(crate) async fn compare_identities(&self, broken: &mut Vec<BrokenEntry>) -> Result<()> {
        if let Some((nodes, paths)) = self.backend.nodes().await?
            && let Ok(storage) = self.storage().await
        {
            identity::compare(&nodes, paths, &storage, broken).await?;
        }
        Ok(())
    }

    /// The ends of jobs that are decided and not in a file yet.
    pub(crate) async fn decided_results(&self, broken: &mut Vec<BrokenEntry>) -> Result<Vec<JobResultEntry>> {
        match self.backend.nodes().await? {
            Some((nodes, paths)) => stored_in_zookeeper::decided_results(&nodes, paths, broken).await,
            // There the file itself decides.
            None => Ok(Vec::new()),
        }
    }

    /// The checkpoints of one job, in the order of their ids; `None` when it has no place for them.
    pub(crate) async fn stored_checkpoints(
        &self,
        job_id: JobId,
        broken: &mut Vec<BrokenEntry>,
    ) -> Result<Option<Vec<StoredCheckpoint>>> {
        match self.backend.nodes().await? {
            Some((nodes, paths)) => {
                stored_in_zookeeper::checkpoints(self, &nodes, paths, job_id, broken).await
            }
            None => stored_in_files::checkpoints(&*self.storage().await?, job_id, broken).await,
        }
    }

    /// What tells of one job's checkpoints, by direct look-ups.
    pub(crate) async fn job_place(&self, job_id: JobId, broken: &mut Vec<BrokenEntry>) -> Result<JobPlace> {
        match self.backend.nodes().await? {
            Some((nodes, paths)) => stored_in_zookeeper::job_place(&nodes, paths, job_id, broken).await,
            None => stored_in_files::job_place(&*self.storage().await?, job_id, broken).await,
        }
    }

    /// The results in files: those whose clean-up is pending, and the others.
    pub(crate) async fn recorded_results(
        &self,
        broken: &mut Vec<BrokenEntry>,
    ) -> Result<(Vec<JobResultEntry>, Vec<JobResultEntry>)> {
        let store = self.result_store().await?;
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

    /// Where results are, open for reading.
    async fn result_store(&self) -> Result<Arc<FileSystemJobResultStore>> {
        let settings = JobResultStoreSettings::from_configuration(&self.configuration)?;
        let storage = self.storage().await?;
        FileSystemJobResultStore::open_existing(storage, settings, HealthMonitor::default()).await
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
            Some(path) => match self.local_folder_at(&path).await {
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
        let Self::ZooKeeper { client, paths } = self else {
            return Ok(None);
        };
        let nodes = Nodes::new(Arc::clone(client) as _);
        nodes.sync(paths.cluster()).await?;
        if nodes.get(paths.cluster()).await?.is_some() {
            return Ok(Some((nodes, paths)));
        }
        let root = paths.roots().pop().unwrap_or_else(|| "/".to_owned());
        let others = nodes.names(&root).await?.unwrap_or_default();
        let error = Error::new(ErrorKind::NotFound, "there is no such cluster in ZooKeeper")
            .at(paths.cluster())
            .not_applied();
        Err(if others.is_empty() {
            error.advise(format!(
                "check chroot, root and cluster id: nothing is below {root}"
            ))
        } else {
            error.advise(format!(
                "check the cluster id: below {root} are {}",
                others.join(", ")
            ))
        })
    }
}

fn storage_dir(configuration: &Configuration) -> Result<StorageDirectory> {
    let text = configuration.get(&HighAvailabilityOptions::HA_STORAGE_PATH)?;
    Ok(StorageDirectory::new(text, configuration))
}

/// That there is something of the cluster: its folder, or results that outlived it.
fn expect_cluster(folder: &Path, cluster_id: &ClusterId) -> Result<()> {
    if folder.is_dir() || results_folder(folder, cluster_id).is_dir() {
        return Ok(());
    }
    let storage_dir = folder.parent().unwrap_or(folder);
    let mut others: Vec<_> = [storage_dir.to_owned(), storage_dir.join(RESULTS)]
        .iter()
        .filter_map(|parent| std::fs::read_dir(parent).ok())
        .flatten()
        .filter_map(std::result::Result::ok)
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name != RESULTS && ClusterId::new(name).is_ok())
        .collect();
    others.sort();
    others.dedup();
    let error = Error::new(
        ErrorKind::NotFound,
        "there is no such cluster in the storage directory",
    )
    .at(folder.display().to_string())
    .not_applied();
    let storage_dir = storage_dir.display();
    Err(if others.is_empty() {
        error.advise(format!(
            "check high-availability.storageDir and cluster-id: no cluster is in {storage_dir}"
        ))
    } else {
        error.advise(format!(
            "check high-availability.cluster-id: in {storage_dir} are {}",
            others.join(", ")
        ))
    })
}

/// The default folder of a cluster's results.
fn results_folder(cluster_folder: &Path, cluster_id: &ClusterId) -> PathBuf {
    cluster_folder.with_file_name(RESULTS).join(cluster_id.as_str())
}

async fn connect(
    configuration: &Configuration,
    cluster_id: &ClusterId,
    environment: &Environment,
) -> Result<(Backend, String)> {
    let quorum = configuration.get(&HighAvailabilityOptions::HA_ZOOKEEPER_QUORUM)?;
    let root = configuration.get(&HighAvailabilityOptions::HA_ZOOKEEPER_ROOT)?;
    let paths = ClusterPaths::new(&quorum.chroot, &root, cluster_id)?;
    let options = SessionOptions::from_configuration(configuration)?;
    let client = connect_client(
        &options.servers,
        options.session_timeout,
        options.connection_timeout,
        environment.clock.as_ref(),
    )
    .await?;
    let location = format!("{}{}", options.servers, paths.cluster());
    Ok((Backend::ZooKeeper { client, paths }, location))
}

fn nothing_to_read(mode: &HighAvailabilityMode) -> Error {
    match mode {
        HighAvailabilityMode::None => {
            Error::invalid("in the mode NONE nothing outlives the process, so there is nothing to read")
        }
        HighAvailabilityMode::Kubernetes => Error::invalid("the mode KUBERNETES is not built"),
        other => Error::invalid(format!("hactl does not know how the mode {other} keeps its data")),
    }
    .at(HighAvailabilityOptions::HA_MODE.key())
    .advise("set high-availability to zookeeper or filesystem, by --config FILE or -D, as for the cluster")
}
