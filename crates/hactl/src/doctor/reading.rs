use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ha_core::configuration::{Configuration, HighAvailabilityOptions};
use ha_core::environment::{Clock, Environment};
use ha_core::health::{BrokenEntry, HealthMonitor};
use ha_core::{Error, Result};
use ha_storage::{FileSystemJobResultStore, HaStorage, JobResultStoreSettings};
use ha_zookeeper::client::WireClient;
use ha_zookeeper::paths::ClusterPaths;

use super::read_storage::{StorageReader, unreached};
use super::read_tree::TreeReader;
use super::server_settings;
use super::snapshot::{Graph, JobFacts, Placed, SessionFacts, Snapshot};
use crate::cluster::{Backend, Cluster, Nodes};
use crate::layout::Layout;

/// The storage and its results, open for reading.
pub(super) type OpenStorage = (Arc<HaStorage>, Arc<FileSystemJobResultStore>);

/// Reads all that the checks need, once. What may not be read is a broken entry.
pub(super) async fn read(
    cluster: &Cluster,
    configuration: &Configuration,
    environment: &Environment,
    dirty_after: Duration,
) -> Result<(Snapshot, Vec<BrokenEntry>)> {
    let clock = environment.clock.as_ref();
    let storage = open_storage(cluster, configuration).await;
    let client = match cluster.backend() {
        Backend::Files => return read_files(cluster, storage?, clock, dirty_after).await,
        Backend::ZooKeeper {
            layout: Layout::Flink(_),
            ..
        } => return Err(flinks(cluster)),
        Backend::ZooKeeper { client, .. } => client,
    };
    let storage = storage.map_err(|error| unreached(&error, "high-availability.storageDir"));
    let reader = match &storage {
        Ok((storage, results)) => StorageReader::read(storage, results, clock)
            .await
            .map_err(|error| unreached(&error, storage.uri())),
        Err(unreached) => Err(unreached.clone()),
    };
    // After the files: what names them must be seen.
    let Some((nodes, paths)) = cluster.backend().nodes().await? else {
        return read_files(
            cluster,
            open_storage(cluster, configuration).await?,
            clock,
            dirty_after,
        )
        .await;
    };
    let storage = storage.as_ref().ok().map(|(storage, _)| storage.as_ref());
    let (mut snapshot, broken) =
        read_znodes(&nodes, paths, Some(client), storage, reader, clock, dirty_after).await?;
    if let Ok(tree) = &mut snapshot.tree {
        type Options = HighAvailabilityOptions;
        tree.session = Ok(SessionFacts {
            asked: configuration.get(&Options::HA_ZOOKEEPER_SESSION_TIMEOUT)?,
            granted: client.session_timeout(),
        });
        tree.configured_tick = configuration.get_optional(&Options::HA_ZOOKEEPER_SERVER_TICK_TIME)?;
        let quorum = configuration.get(&Options::HA_ZOOKEEPER_QUORUM)?;
        let servers = quorum.hosts.iter().map(ToString::to_string).collect();
        tree.servers = server_settings::ask(servers, clock).await;
    }
    Ok((snapshot, broken))
}

/// What the checks know nothing of.
fn flinks(cluster: &Cluster) -> Error {
    Error::invalid("the checks know the layout of this program only, and this is a cluster of Apache Flink")
        .at(cluster.header().location)
        .advise("the other commands show it; where it is no Flink cluster, say so by --layout native")
}

async fn open_storage(cluster: &Cluster, configuration: &Configuration) -> Result<OpenStorage> {
    let storage = cluster.storage().await?;
    let settings = JobResultStoreSettings::from_configuration(configuration)?;
    let monitor = HealthMonitor::default();
    let results = FileSystemJobResultStore::open_existing(Arc::clone(&storage), settings, monitor).await?;
    Ok((storage, results))
}

/// Reads the znodes beside files that were listed before. The caller adds what the connection tells.
pub(super) async fn read_znodes(
    nodes: &Nodes,
    paths: &ClusterPaths,
    acls: Option<&WireClient>,
    storage: Option<&HaStorage>,
    reader: std::result::Result<StorageReader<'_>, super::snapshot::Unreached>,
    clock: &dyn Clock,
    dirty_after: Duration,
) -> Result<(Snapshot, Vec<BrokenEntry>)> {
    let mut tree = TreeReader::new(nodes, paths, acls);
    tree.read_nodes(clock).await?;
    if let Some(storage) = storage {
        tree.read_files(storage).await?;
    }
    let read = tree.into_read();
    let storage = match reader {
        Ok(reader) => reader
            .beside(&read.tree)
            .await
            .map_err(|error| unreached(&error, "high-availability.storageDir")),
        Err(unreached) => Err(unreached),
    };
    let snapshot = Snapshot {
        tree: Ok(read.tree),
        storage,
        jobs: read.jobs,
        dirty_after,
    };
    Ok((snapshot, read.broken))
}

/// Reads the files of the mode `filesystem`.
async fn read_files(
    cluster: &Cluster,
    (storage, results): OpenStorage,
    clock: &dyn Clock,
    dirty_after: Duration,
) -> Result<(Snapshot, Vec<BrokenEntry>)> {
    let reader = StorageReader::read(&storage, &results, clock).await?;
    let mut broken = Vec::new();
    let stored = cluster.stored_jobs(&mut broken).await?;
    let mut jobs = BTreeMap::<_, JobFacts>::new();
    for (job_id, graph) in stored.graphs {
        jobs.entry(job_id).or_default().graph = Some(Placed {
            place: graph.path,
            what: Graph::Live,
        });
    }
    let places = reader.newest_checkpoints();
    for (job_id, ids) in stored.checkpoints {
        if let (Some(id), Some(place)) = (ids.last(), places.get(&job_id)) {
            jobs.entry(job_id).or_default().newest_checkpoint = Some(Placed {
                place: place.clone(),
                what: *id,
            });
        }
    }
    for (job_id, id) in stored.next_checkpoint {
        jobs.entry(job_id).or_default().next_checkpoint = Some(Placed {
            place: storage.display(&format!("jobs/{job_id}/counter")),
            what: id,
        });
    }
    let snapshot = Snapshot {
        tree: Err("the mode filesystem keeps nothing in ZooKeeper".to_owned()),
        storage: Ok(reader.alone(broken)),
        jobs,
        dirty_after,
    };
    Ok((snapshot, Vec::new()))
}
