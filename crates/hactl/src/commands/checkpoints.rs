use ha_core::ids::JobId;
use ha_core::{Error, ErrorKind, Result};
use serde::Serialize;
use uuid::Uuid;

use crate::cluster::{Cluster, StoredCheckpoint};
use crate::render::{self, Cell, Tone, View};
use crate::report::{Body, Report};

/// The completed checkpoints of a job.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Checkpoints {
    /// The job.
    pub job_id: JobId,
    /// The id that its next checkpoint gets; `null` when no counter is stored.
    pub next_checkpoint_id: Option<u64>,
    /// The checkpoints, the newest last.
    pub checkpoints: Vec<Checkpoint>,
}

/// A completed checkpoint.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Checkpoint {
    /// Its id.
    pub id: u64,
    /// Whether its file was read and is what its pointer (without pointers: its header) says; `null` where it lies where
    /// it cannot be checked.
    pub readable: Option<bool>,
    /// When it was published.
    pub published: u64,
    /// The size of its file, in bytes.
    pub size: u64,
    /// Its file, below `<storageDir>/<cluster-id>` (Flink's: its URI).
    pub file: String,
    /// Where Flink can be resumed from it by hand, when the file says so; `null` else.
    pub external_path: Option<String>,
    /// The CRC-32C of its file in hexadecimal, as its pointer says; `null` without pointers.
    pub crc32c: Option<String>,
    /// The id of the write that published it; `null` without pointers.
    pub write_id: Option<Uuid>,
    /// The pointer's znode, or the file.
    pub path: String,
}

impl Checkpoints {
    /// Reads them, each with its whole file.
    ///
    /// # Errors
    /// As [`Cluster::open`]; `NotFound` when there is no such cluster, or nothing of such a job in it.
    pub async fn read(cluster: &Cluster, job_id: JobId) -> Result<Report<Self>> {
        let mut broken = Vec::new();
        let found = cluster.stored_checkpoints(job_id, &mut broken).await?;
        let mut broken_counters = Vec::new();
        let place = cluster.job_place(job_id, &mut broken_counters).await?;
        if found.is_none() && !place.has_graph {
            let header = cluster.header();
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("there is no job {job_id} with checkpoints"),
            )
            .at(header.location)
            .advise("`hactl jobs` lists the jobs; an ended job keeps no checkpoints")
            .not_applied());
        }
        let found = found.unwrap_or_default();
        let candidates: Vec<_> = found
            .iter()
            .filter(|checkpoint| checkpoint.readable == Some(true))
            .map(|checkpoint| checkpoint.path.clone())
            .collect();
        for entry in &mut broken {
            entry.candidates.clone_from(&candidates);
        }
        broken.append(&mut broken_counters);
        cluster.compare_identities(&mut broken).await?;
        Ok(Report {
            cluster: cluster.header(),
            body: Self {
                job_id,
                next_checkpoint_id: place.next_checkpoint.map(|id| id.get()),
                checkpoints: found.into_iter().map(Checkpoint::from).collect(),
            },
            broken,
        })
    }
}

impl From<StoredCheckpoint> for Checkpoint {
    fn from(stored: StoredCheckpoint) -> Self {
        Self {
            id: stored.id.get(),
            readable: stored.readable,
            published: stored.published,
            size: stored.size,
            file: stored.file,
            external_path: stored.external_path,
            crc32c: stored.crc32c.map(|crc32c| format!("{crc32c:08x}")),
            write_id: stored.write_id,
            path: stored.path,
        }
    }
}

impl Body for Checkpoints {
    fn emptiness(&self) -> Option<String> {
        let none = self.checkpoints.is_empty();
        none.then(|| format!("No checkpoints of job {}.", self.job_id))
    }

    fn table(&self, view: &View) -> String {
        let next = self
            .next_checkpoint_id
            .map_or_else(|| "-".to_owned(), |id| id.to_string());
        let heading = format!("Job {}, next checkpoint id {next}\n\n", self.job_id);
        if self.checkpoints.is_empty() {
            return heading;
        }
        let rows = self.checkpoints.iter().map(|checkpoint| {
            [
                Cell::from(checkpoint.id.to_string()),
                match checkpoint.readable {
                    Some(true) => Cell::toned("readable", Tone::Good),
                    Some(false) => Cell::toned("BROKEN", Tone::Bad),
                    None => "not checked".to_owned().into(),
                },
                Cell::time(view, checkpoint.published),
                render::size(checkpoint.size).into(),
                render::escaped(&checkpoint.file).into(),
            ]
        });
        heading + &render::table(view, ["ID", "STATE", "PUBLISHED", "SIZE", "FILE"], rows)
    }
}
