//! What opening a cluster takes: a session and the layout of the tree, or a storage that has something of the cluster.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ha_core::configuration::{Configuration, HighAvailabilityMode, HighAvailabilityOptions};
use ha_core::environment::Environment;
use ha_core::ids::ClusterId;
use ha_core::{Error, ErrorKind, Result};
use ha_zookeeper::client::connect_client;
use ha_zookeeper::paths::ClusterPaths;
use ha_zookeeper::session::SessionOptions;

use super::layout_detection::detect;
use super::{Backend, Nodes};
use crate::layout::LayoutChoice;

/// The folder of all clusters' results in the storage directory.
const RESULTS: &str = "job-results-store";

/// That there is a cluster node, as far as the server has seen.
///
/// # Errors
/// `NotFound`: the error says what is there where the path ends to be.
pub(super) async fn expect_cluster_node(nodes: &Nodes, paths: &ClusterPaths) -> Result<()> {
    if nodes.get(paths.cluster()).await?.is_some() {
        return Ok(());
    }
    Err(no_cluster(nodes, paths).await?)
}

/// That there is no cluster node, and what is there where its path ends to be.
async fn no_cluster(nodes: &Nodes, paths: &ClusterPaths) -> Result<Error> {
    let error = Error::new(ErrorKind::NotFound, "there is no such cluster in ZooKeeper")
        .at(paths.cluster())
        .not_applied();
    // The root itself, then what it lies in, up to the top of the tree.
    let mut wrong = "cluster id";
    for ancestor in Path::new(paths.cluster()).ancestors().skip(1) {
        let ancestor = ancestor.to_string_lossy();
        if let Some(names) = nodes.names(&ancestor).await? {
            let siblings = named(&names);
            return Ok(error.advise(format!("check {wrong}: below {ancestor} {siblings}")));
        }
        wrong = "chroot, root and cluster id";
    }
    Ok(error.advise("check chroot, root and cluster id"))
}

/// What is below a node, the first of it where it is much.
fn named(names: &[String]) -> String {
    const MOST: usize = 20;
    match names.len() {
        0 => "is nothing".to_owned(),
        1 => format!("is {}", names.concat()),
        2..=MOST => format!("are {}", names.join(", ")),
        all => format!(
            "are {}, and {} more",
            names.iter().take(MOST).cloned().collect::<Vec<_>>().join(", "),
            all - MOST
        ),
    }
}

/// That there is something of the cluster: its folder, or results that outlived it.
pub(super) fn expect_cluster(folder: &Path, cluster_id: &ClusterId) -> Result<()> {
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
pub(super) fn results_folder(cluster_folder: &Path, cluster_id: &ClusterId) -> PathBuf {
    cluster_folder.with_file_name(RESULTS).join(cluster_id.as_str())
}

pub(super) async fn connect(
    configuration: &Configuration,
    cluster_id: &ClusterId,
    choice: LayoutChoice,
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
    let nodes = Nodes::new(Arc::clone(&client) as _);
    match detect(&nodes, &paths, choice).await {
        Ok(layout) => Ok((
            Backend::ZooKeeper {
                client,
                paths,
                layout,
            },
            location,
        )),
        Err(error) => {
            client.close().await;
            Err(error)
        }
    }
}

pub(super) fn nothing_to_read(mode: &HighAvailabilityMode) -> Error {
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
