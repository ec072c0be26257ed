use std::path::Path;

use ha_core::health::BrokenEntry;
use ha_core::{Error, ErrorKind, Result};
use ha_storage::{Carrier, ForeignFile, HaStorage};
use ha_zookeeper::codec::IdentityData;
use ha_zookeeper::paths::ClusterPaths;
use serde::Serialize;

use super::MovedCounts;
use super::copying::Archiving;
use crate::archive::{ArchiveWriter, Head};
use crate::cluster::{Cluster, Nodes};
use crate::render::{self, View};
use crate::report::{Body, Report};

/// The archive of a cluster that was written.
///
/// ```json
/// {"clusterId":"one","mode":"zookeeper","location":"127.0.0.1:2181/flink/one","file":"/backup/one.tar",
///  "size":20480,"sha256":"<64 digits>","jobGraphs":2,"checkpoints":1,"counters":1,"registryEntries":2,
///  "cleanResults":1,"dirtyResults":0,"blobs":1,"bytes":1536,"broken":[]}
/// ```
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Export {
    /// The archive.
    pub file: String,
    /// Of the archive, in bytes.
    pub size: u64,
    /// Of the archive's manifest, which holds the digests of all else: it names the content.
    pub sha256: String,
    /// What is in it.
    #[serde(flatten)]
    pub counts: MovedCounts,
}

impl Export {
    /// Writes all that the cluster needs to go on into the file `target`. Changes nothing of the cluster.
    ///
    /// # Errors
    /// As [`Cluster::open`]; `AlreadyExists` when there is a file; `Invalid` for a cluster of Apache Flink; `Conflict`
    /// when the storage is that of another cluster.
    pub async fn write(cluster: &Cluster, target: &Path) -> Result<Report<Self>> {
        if cluster.is_flinks() {
            return Err(Error::invalid("a cluster of Apache Flink cannot be exported")
                .at("--layout")
                .advise("only this program's own clusters are, since only they can be imported"));
        }
        let mut broken = Vec::new();
        let tree = cluster.backend().nodes().await?;
        let storage = cluster.storage().await?;
        if let Some((nodes, paths)) = &tree {
            refuse_other_storage(nodes, paths, &storage).await?;
            cluster.compare_identities(&mut broken).await?;
        }
        if let Ok(Some(identity)) = storage.read_identity().await {
            identity.expect_whole(None, storage.display("identity.json"))?;
        }
        let results = cluster.results_of_this_program().await?;
        let header = cluster.header();
        let head = Head::new(
            header.cluster_id.clone(),
            header.mode.clone(),
            header.location.clone(),
            storage.uri().to_owned(),
        );
        let archive = ArchiveWriter::create(target, &head)?;
        let carrier = Carrier::new(storage.clone(), results.clone());
        let mut archiving = Archiving::new(archive, carrier);
        let znodes = match tree {
            Some((nodes, paths)) => Some(
                archiving
                    .add_tree(&nodes, paths, &storage, &results, &mut broken)
                    .await?,
            ),
            None => {
                archiving.add_all_files(&storage, &results, &mut broken).await?;
                None
            }
        };
        broken.sort_by(|a, b| a.path.cmp(&b.path));
        broken.dedup();
        let mut counts = MovedCounts::default();
        for znode in znodes.iter().flatten() {
            counts.add_znode(znode);
        }
        for (file, size) in archiving.stored.values() {
            counts.add_file(file, *size, znodes.is_some());
        }
        let written = archiving.archive.finish(znodes.as_deref())?;
        Ok(Report {
            cluster: header,
            body: Self {
                file: target.display().to_string(),
                size: written.size,
                sha256: written.sha256,
                counts,
            },
            broken,
        })
    }
}

/// Blobs and results lie there by the cluster's id alone: those of another cluster must not come along.
async fn refuse_other_storage(nodes: &Nodes, paths: &ClusterPaths, storage: &HaStorage) -> Result<()> {
    let path = paths.identity();
    let Some(node) = nodes.get(&path).await? else {
        return Ok(());
    };
    let (Ok(node), Ok(Some(file))) = (
        IdentityData::decode(&path, &node.data),
        storage.read_identity().await,
    ) else {
        return Ok(());
    };
    if node.cluster_uuid == file.cluster_uuid {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Conflict,
        format!(
            "the tree belongs to the cluster {}, made for the storage {}, and the storage {} to the cluster {}",
            node.cluster_uuid,
            node.storage_dir,
            storage.uri(),
            file.cluster_uuid
        ),
    )
    .at(path)
    .advise("correct high-availability.storageDir or cluster-id")
    .not_applied())
}

/// What is not of the layout.
pub(super) fn foreign_entry(foreign: ForeignFile) -> BrokenEntry {
    BrokenEntry {
        name: foreign.place.rsplit('/').next().unwrap_or_default().to_owned(),
        path: foreign.place,
        reason: foreign.reason,
        candidates: Vec::new(),
    }
}

impl Body for Export {
    fn table(&self, _: &View) -> String {
        let mut text = String::new();
        render::push_words(&mut text, "Exported to ", &render::escaped(&self.file), "  ");
        text.push_str(&self.counts.table());
        text.push_str(&format!("Archive: {}\n", render::size(self.size)));
        text.push_str(&format!("SHA-256 of its manifest:\n  {}\n", self.sha256));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::ClusterHeader;
    use crate::report::text_of;

    fn report() -> Report<Export> {
        Report {
            cluster: ClusterHeader {
                cluster_id: "one".to_owned(),
                mode: "zookeeper".to_owned(),
                location: "127.0.0.1:2181/flink/one".to_owned(),
            },
            body: Export {
                file: "/backup/one.tar".to_owned(),
                size: 20480,
                sha256: "ab".repeat(32),
                counts: MovedCounts {
                    job_graphs: 2,
                    checkpoints: 1,
                    counters: 1,
                    registry_entries: 2,
                    clean_results: 1,
                    dirty_results: 0,
                    blobs: 1,
                    bytes: 1536,
                },
            },
            broken: Vec::new(),
        }
    }

    #[test]
    fn golden_document() {
        let digest = "ab".repeat(32);
        let expected = format!(
            r#"{{"clusterId":"one","mode":"zookeeper","location":"127.0.0.1:2181/flink/one","file":"/backup/one.tar","size":20480,"sha256":"{digest}","jobGraphs":2,"checkpoints":1,"counters":1,"registryEntries":2,"cleanResults":1,"dirtyResults":0,"blobs":1,"bytes":1536,"broken":[]}}"#
        );
        assert_eq!(serde_json::to_string(&report()).unwrap(), expected);
    }

    #[test]
    fn golden_table() {
        let digest = "ab".repeat(32);
        let expected = format!(
            "Cluster one (zookeeper) at 127.0.0.1:2181/flink/one\n\n\
             Exported to /backup/one.tar\n       \
             2  job graphs\n       \
             1  checkpoints\n       \
             1  checkpoint counters\n       \
             2  registry entries\n       \
             1  clean results\n       \
             0  dirty results\n       \
             1  blobs\n\
             Files: 1.5 KiB\n\
             Archive: 20.0 KiB\n\
             SHA-256 of its manifest:\n  {digest}\n"
        );
        assert_eq!(text_of(&report(), &View::plain(0)), expected);
    }
}
