use std::sync::Arc;

use ha_core::{Error, ErrorKind, Result};
use ha_storage::{CarriedFile, CarriedKind, Carrier, HaStorage, Survey};
use ha_zookeeper::paths::ClusterPaths;

use crate::archive::Contents;
use crate::cluster::{Backend, Cluster, Nodes};
use crate::writes::shares_results;

/// Where an archive is to be imported: a place with nothing in it, or one where the import of the same archive was cut off.
pub(super) struct ImportTarget {
    /// `None` in the mode `filesystem`.
    pub(super) paths: Option<ClusterPaths>,
    pub(super) storage: Arc<HaStorage>,
    pub(super) carrier: Carrier,
    /// An import was cut off here, and goes on.
    pub(super) is_repetition: bool,
}

impl ImportTarget {
    /// Looks at the place. Writes nothing.
    ///
    /// # Errors
    /// `Conflict` when there is anything but the import of this archive; `NotFound` when the storage directory is missing.
    pub(super) async fn look(cluster: &Cluster, contents: &Contents) -> Result<Self> {
        let storage = cluster.storage().await?;
        let results = cluster.results_of_this_program().await?;
        let paths = match cluster.backend() {
            Backend::ZooKeeper { paths, .. } => Some(paths.clone()),
            Backend::Files => None,
        };
        let tree = paths.as_ref().map(ClusterPaths::cluster);
        let is_repetition = storage.expect_importable(tree, &contents.sha256).await?;
        if !is_repetition {
            if let Backend::ZooKeeper { client, paths, .. } = cluster.backend() {
                expect_no_tree(&Nodes::new(Arc::clone(client) as _), paths).await?;
            }
            let (found, _) = Survey::results(&results).await?;
            let found: Vec<_> = found.iter().filter_map(CarriedFile::observed).collect();
            let shared = shares_results(cluster)?;
            let carrier = Carrier::new(Arc::clone(&storage), Arc::clone(&results));
            for file in found {
                // In a folder of several clusters only the same job is in the way.
                if !shared || is_of_the_archive(contents, &file) {
                    return Err(occupied("there is a result already", carrier.place(&file)));
                }
            }
        }
        Ok(Self {
            paths,
            carrier: Carrier::new(Arc::clone(&storage), results),
            storage,
            is_repetition,
        })
    }
}

fn is_of_the_archive(contents: &Contents, found: &CarriedFile) -> bool {
    contents.files.values().any(|archived| {
        let is_result = matches!(
            archived.file.kind(),
            CarriedKind::CleanResult | CarriedKind::DirtyResult
        );
        is_result && archived.file.owner() == found.owner()
    })
}

async fn expect_no_tree(nodes: &Nodes, paths: &ClusterPaths) -> Result<()> {
    nodes.sync(paths.cluster()).await?;
    let names = nodes.names(paths.cluster()).await?.unwrap_or_default();
    match names.as_slice() {
        [] => Ok(()),
        names => Err(occupied(
            &format!("the cluster node is not empty: it holds {}", names.join(", ")),
            paths.cluster().to_owned(),
        )),
    }
}

fn occupied(reason: &str, place: String) -> Error {
    Error::new(ErrorKind::Conflict, reason.to_owned())
        .at(place)
        .advise("import into a root, cluster id and storage directory of which nothing is there; nothing was changed")
        .not_applied()
}
