use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use ha_core::configuration::{Configuration, HighAvailabilityOptions};
use ha_core::environment::{Clock, Environment};
use ha_core::health::BrokenEntry;
use ha_core::{Error, Result};
use ha_flink::Generation;
use ha_storage::{FileSystemJobResultStore, HaStorage};
use ha_zookeeper::client::WireClient;
use ha_zookeeper::paths::ClusterPaths;

use super::read_storage::{StorageReader, unreached};
use super::read_tree::TreeReader;
use super::snapshot::{Graph, JobFacts, Placed, SessionFacts, Snapshot, Tree};
use super::{read_flink_results, server_settings};
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
    let (client, layout) = match cluster.backend() {
        Backend::Files => {
            let storage = open_storage(cluster).await?;
            return read_files(cluster, storage, clock, dirty_after).await;
        }
        Backend::ZooKeeper { client, layout, .. } => (client, *layout),
    };
    if let Layout::Flink(generation) = layout {
        let read = read_flinks(cluster, generation, client, clock, dirty_after).await?;
        return add_connection(read, client, configuration, clock).await;
    }
    let storage = open_storage(cluster).await;
    let storage = storage.map_err(|error| unreached(&error, "high-availability.storageDir"));
    let reader = match &storage {
        Ok((storage, results)) => StorageReader::read(storage, results, clock)
            .await
            .map_err(|error| unreached(&error, storage.uri())),
        Err(unreached) => Err(unreached.clone()),
    };
    // After the files: what names them must be seen.
    let Some((nodes, paths)) = cluster.backend().nodes().await? else {
        return read_files(cluster, open_storage(cluster).await?, clock, dirty_after).await;
    };
    let storage = storage.as_ref().ok().map(|(storage, _)| storage.as_ref());
    let read = read_znodes(&nodes, paths, Some(client), storage, reader, clock, dirty_after).await?;
    add_connection(read, client, configuration, clock).await
}

/// Adds what the connection and the servers tell.
async fn add_connection(
    (mut snapshot, broken): (Snapshot, Vec<BrokenEntry>),
    client: &Arc<WireClient>,
    configuration: &Configuration,
    clock: &dyn Clock,
) -> Result<(Snapshot, Vec<BrokenEntry>)> {
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
        forget_gone_latches(tree, &Nodes::new(Arc::clone(client) as _)).await?;
    }
    Ok((snapshot, broken))
}

/// A process that ended meanwhile took its latches along, and has no connection.
async fn forget_gone_latches(tree: &mut Tree, nodes: &Nodes) -> Result<()> {
    let connected = tree
        .servers
        .iter()
        .filter_map(|(_, settings)| settings.as_ref().ok()?.connected.as_ref().ok());
    let connected: BTreeSet<_> = connected.flatten().copied().collect();
    nodes.sync(&tree.cluster).await?;
    for election in &mut tree.elections {
        let mut gone = Vec::new();
        for latch in &election.latches {
            if !connected.contains(&latch.owner) && nodes.get(&latch.path).await?.is_none() {
                gone.push(latch.path.clone());
            }
        }
        election.latches.retain(|latch| !gone.contains(&latch.path));
    }
    Ok(())
}

/// Reads a cluster of Apache Flink. The caller adds what the connection tells.
async fn read_flinks(
    cluster: &Cluster,
    generation: Generation,
    acls: &WireClient,
    clock: &dyn Clock,
    dirty_after: Duration,
) -> Result<(Snapshot, Vec<BrokenEntry>)> {
    let storage = async {
        let (storage, results) = (cluster.storage().await?, cluster.result_store().await?);
        read_flink_results::read(&storage, results.as_deref(), clock).await
    };
    let storage = storage.await;
    let storage = storage.map_err(|error| unreached(&error, "high-availability.storageDir"));
    // After the results: a job graph is gone before its result is clean.
    let Some((nodes, paths)) = cluster.backend().nodes().await? else {
        return Err(Error::invalid("Flink keeps nothing in the mode filesystem").at("--layout"));
    };
    let mut tree = TreeReader::new(&nodes, paths, Some(acls));
    let named = tree.read_flinks_nodes(generation, clock).await?;
    let folder = cluster.folder()?;
    tree.look_at_flinks_files(named, &folder, cluster.mappings())
        .await?;
    let read = tree.into_read();
    let snapshot = Snapshot {
        layout: Layout::Flink(generation),
        tree: Ok(read.tree),
        storage,
        jobs: read.jobs,
        dirty_after,
    };
    Ok((snapshot, read.broken))
}

async fn open_storage(cluster: &Cluster) -> Result<OpenStorage> {
    Ok((cluster.storage().await?, cluster.results_of_this_program().await?))
}

/// Reads the znodes beside files that were listed before. The caller adds what the connection tells.
pub(super) async fn read_znodes(
    nodes: &Nodes,
    paths: &ClusterPaths,
    acls: Option<&WireClient>,
    storage: Option<&HaStorage>,
    mut reader: std::result::Result<StorageReader<'_>, super::snapshot::Unreached>,
    clock: &dyn Clock,
    dirty_after: Duration,
) -> Result<(Snapshot, Vec<BrokenEntry>)> {
    let listed = reader.as_mut().ok().map(StorageReader::states);
    let mut tree = TreeReader::new(nodes, paths, acls).with_files(storage, listed);
    tree.read_nodes(clock).await?;
    let read = tree.into_read();
    let storage = match reader {
        Ok(reader) => reader
            .beside(&read.tree)
            .await
            .map_err(|error| unreached(&error, "high-availability.storageDir")),
        Err(unreached) => Err(unreached),
    };
    let snapshot = Snapshot {
        layout: Layout::Native,
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
    for (job_id, ids) in stored.checkpoints {
        if let Some(id) = ids.last() {
            jobs.entry(job_id).or_default().newest_checkpoint = Some(*id);
        }
    }
    for (job_id, id) in stored.next_checkpoint {
        jobs.entry(job_id).or_default().next_checkpoint = Some(Placed {
            place: storage.display(&format!("jobs/{job_id}/counter")),
            what: id,
        });
    }
    let snapshot = Snapshot {
        layout: Layout::Native,
        tree: Err("the mode filesystem keeps nothing in ZooKeeper".to_owned()),
        storage: Ok(reader.alone(broken)),
        jobs,
        dirty_after,
    };
    Ok((snapshot, Vec::new()))
}
