use std::path::Path;

use ha_core::health::BrokenEntry;
use ha_core::ids::JobId;

use crate::cluster::{FoundFile, walk};

/// The folder of a cluster's blobs, below its own.
const BLOBS: &str = "blob";

/// A blob that a cluster keeps for one of its jobs.
pub(crate) struct FlinkBlob {
    pub(crate) job_id: JobId,
    /// `p-`, the SHA-1 of its content, `-`, a random part.
    pub(crate) key: String,
    /// Below the cluster's folder.
    pub(crate) file: String,
    pub(crate) found: FoundFile,
}

/// The blobs below a cluster's folder, `blob/job_<job>/blob_<key>` in all versions, and what else is in their folders.
pub(crate) fn blobs(folder: &Path, broken: &mut Vec<BrokenEntry>) -> Vec<FlinkBlob> {
    let mut blobs = Vec::new();
    let files = walk(&folder.join(BLOBS), 0, broken);
    for found in files.into_iter().filter(|found| !found.is_folder) {
        let below = found.path.strip_prefix(folder).unwrap_or(&found.path);
        let file = below.to_string_lossy().into_owned();
        match job_and_key(&file) {
            Some((job_id, key)) => blobs.push(FlinkBlob {
                job_id,
                key: key.to_owned(),
                file,
                found,
            }),
            None => broken.push(BrokenEntry {
                name: file.rsplit('/').next().unwrap_or_default().to_owned(),
                path: found.path.display().to_string(),
                reason: "it is no blob of a job: those are job_<job id>/blob_<key>".to_owned(),
                candidates: Vec::new(),
            }),
        }
    }
    blobs
}

fn job_and_key(file: &str) -> Option<(JobId, &str)> {
    let mut segments = file.split('/').skip(1);
    let job = segments.next()?.strip_prefix("job_")?;
    let key = segments.next()?.strip_prefix("blob_")?;
    let is_key = key.len() > 2 && (key.starts_with("p-") || key.starts_with("t-"));
    let is_last = segments.next().is_none();
    (is_key && is_last).then_some((JobId::from_name(job)?, key))
}
