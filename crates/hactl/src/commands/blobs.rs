use std::path::PathBuf;

use ha_core::health::BrokenEntry;
use ha_core::ids::JobId;
use ha_core::{Error, ErrorKind, Result};
use ha_storage::{ForeignFile, ObservedFile, Survey};
use serde::Serialize;

use crate::cluster::{Cluster, FlinkBlob, flink_blobs, millis};
use crate::render::{self, View};
use crate::report::{Body, Report};

/// The blobs of all jobs, as they lie in the storage directory. None is read: whoever gets one verifies it.
///
/// ```json
/// {"clusterId":"one","mode":"filesystem","location":"/data/one","blobs":[
///   {"jobId":"01010101010101010101010101010101","key":"p-<64 digits>-<32 digits>","size":1536,
///    "modified":1700000000000,"file":"blobs/01010101010101010101010101010101/p-<64 digits>-<32 digits>",
///    "path":"/data/one/blobs/01010101010101010101010101010101/p-<64 digits>-<32 digits>"}],"broken":[]}
/// ```
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Blobs {
    /// One entry a blob, by job and key.
    pub blobs: Vec<Blob>,
}

/// A blob.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Blob {
    /// The job that it belongs to, by its folder.
    pub job_id: JobId,
    /// Its key: `p-`, the SHA-256 of its content (Flink's: the SHA-1), `-`, a random part.
    pub key: String,
    /// In bytes.
    pub size: u64,
    /// When it was put, by the store's own clock.
    pub modified: u64,
    /// Its file, below `<storageDir>/<cluster-id>`.
    pub file: String,
    /// The whole path of that.
    pub path: String,
}

impl Blobs {
    /// Lists them.
    ///
    /// # Errors
    /// As [`Cluster::open`]; `NotFound` when there is no such cluster, or no storage directory.
    pub async fn read(cluster: &Cluster) -> Result<Report<Self>> {
        let mut broken = Vec::new();
        // Says where there is no such cluster.
        cluster.backend().nodes().await?;
        // Says where there is no storage.
        let storage = cluster.storage().await?;
        let mut blobs: Vec<_> = if cluster.is_flinks() {
            let found = flink_blobs(&local_folder(cluster)?, &mut broken);
            found.into_iter().map(Blob::of_flinks).collect()
        } else {
            let (files, foreign) = Survey::blobs(&storage).await?;
            broken.extend(foreign.into_iter().map(entry_of));
            files.into_iter().filter_map(Blob::of).collect()
        };
        cluster.compare_identities(&mut broken).await?;
        broken.sort_by(|a, b| a.path.cmp(&b.path));
        blobs.sort_by(|a, b| (a.job_id, &a.key).cmp(&(b.job_id, &b.key)));
        Ok(Report {
            cluster: cluster.header(),
            body: Self { blobs },
            broken,
        })
    }
}

impl Blob {
    fn of(file: ObservedFile) -> Option<Self> {
        Some(Self {
            job_id: file.owner?,
            key: name_of(&file.path).to_owned(),
            size: file.size,
            modified: millis(file.last_modified),
            file: file.path,
            path: file.place,
        })
    }

    fn of_flinks(blob: FlinkBlob) -> Self {
        Self {
            job_id: blob.job_id,
            key: blob.key,
            size: blob.found.size,
            modified: blob.found.modified,
            file: blob.file,
            path: blob.found.path.display().to_string(),
        }
    }
}

/// The folder of a cluster of Flink on this machine.
fn local_folder(cluster: &Cluster) -> Result<PathBuf> {
    let folder = cluster.folder()?;
    cluster.mappings().local(&folder).ok_or_else(|| {
        Error::new(
            ErrorKind::NotFound,
            "the blobs are not on a file system of this machine",
        )
        .at(folder)
        .advise("where there is a copy, or a mount, say where it lies by --map-path FROM=TO")
        .not_applied()
    })
}

fn entry_of(foreign: ForeignFile) -> BrokenEntry {
    BrokenEntry {
        name: name_of(&foreign.place).to_owned(),
        path: foreign.place,
        reason: foreign.reason,
        candidates: Vec::new(),
    }
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

impl Body for Blobs {
    fn emptiness(&self) -> Option<String> {
        self.blobs.is_empty().then(|| "No blobs.".to_owned())
    }

    fn table(&self, view: &View) -> String {
        let total = self
            .blobs
            .iter()
            .fold(0_u64, |sum, blob| sum.saturating_add(blob.size));
        let mut text = match self.blobs.len() {
            0 => return String::new(),
            1 => format!("1 blob, {}\n", render::size(total)),
            number => format!("{number} blobs, {} in all\n", render::size(total)),
        };
        // A key takes the whole width: it stands on a line of its own, to be copied whole.
        for of_job in self.blobs.chunk_by(|a, b| a.job_id == b.job_id) {
            if let Some(blob) = of_job.first() {
                let folder = blob.file.rsplit_once('/').map_or("", |(folder, _)| folder);
                text.push_str(&format!("\nJob {}, in {folder}:\n", blob.job_id));
            }
            for blob in of_job {
                text.push_str(&format!(" {}\n", render::escaped(&blob.key)));
                let (put, size) = (view.time(blob.modified), render::size(blob.size));
                text.push_str(&format!("    {size}, put {put}\n"));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_stands_whole_below_its_job() {
        let blob = |job: u8, digit: &str, size| {
            let key = format!("p-{}-{}", digit.repeat(64), "0".repeat(32));
            let job_id = JobId::from_bytes([job; 16]);
            Blob {
                job_id,
                file: format!("blobs/{job_id}/{key}"),
                path: format!("/data/one/blobs/{job_id}/{key}"),
                key,
                size,
                modified: 0,
            }
        };
        let blobs = vec![blob(1, "a", 1536), blob(1, "b", 0), blob(2, "a", 1024)];
        let table = Blobs { blobs }.table(&View::plain(0));
        let lines: Vec<_> = table.lines().collect();
        assert_eq!(lines[0], "3 blobs, 2.5 KiB in all");
        assert!(
            lines[2].starts_with("Job 0101") && lines[2].ends_with("0101:"),
            "{table}"
        );
        assert_eq!(
            lines[3].trim_start(),
            format!("p-{}-{}", "a".repeat(64), "0".repeat(32))
        );
        assert!(lines[4].starts_with("    1.5 KiB, put "), "{table}");
        assert!(lines[8].starts_with("Job 0202"), "{table}");
        assert!(lines.iter().all(|line| line.len() <= 100), "{table}");
        let none = Blobs { blobs: Vec::new() };
        assert_eq!(none.table(&View::plain(0)), "");
        assert_eq!(none.emptiness().as_deref(), Some("No blobs."));
    }
}
