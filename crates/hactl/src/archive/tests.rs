use std::path::{Path, PathBuf};

use ha_core::ids::{CheckpointId, JobId};
use ha_core::jobs::JobSchedulingStatus;
use ha_storage::{StateFile, StateKind};
use ha_zookeeper::codec::Pointer;
use tempfile::TempDir;
use uuid::Uuid;

use super::{ArchiveReader, ArchiveWriter, Contents, Head, Znode};

mod hostile;
mod round_trip;

const JOB: JobId = JobId::from_bytes([1; 16]);

fn head() -> Head {
    Head::new(
        "one".to_owned(),
        "zookeeper".to_owned(),
        "localhost:2181/flink/one".to_owned(),
        "file:///data".to_owned(),
    )
}

/// The content of a state file, as it is documented.
fn state(kind: StateKind, owner: JobId, payload: &[u8]) -> Vec<u8> {
    let mut content = format!(
        r#"{{"format":1,"kind":"{kind}","owner":"{owner}","attributes":{{}},"size":{},"crc32c":{}}}"#,
        payload.len(),
        crc32c(payload)
    )
    .into_bytes();
    content.push(b'\n');
    content.extend_from_slice(payload);
    content
}

/// By the check of a file of any kind, which has it.
fn crc32c(content: &[u8]) -> u32 {
    let name = format!("results/{JOB}.json");
    let mut check = ha_storage::ContentCheck::of(&ha_storage::CarriedFile::parse(&name).unwrap());
    check.update(content);
    check.crc32c()
}

fn pointer(kind: StateKind, path: &str, content: &[u8]) -> Pointer {
    Pointer {
        file: StateFile {
            kind,
            path: path.to_owned(),
            size: content.len() as u64,
            crc32c: crc32c(content),
        },
        write_id: Uuid::from_u128(7),
        name: None,
        terminal: None,
    }
}

/// Files by name with their content, and znodes.
#[derive(Clone, Debug, Default)]
struct Plan {
    files: Vec<(String, Vec<u8>)>,
    znodes: Vec<Znode>,
}

impl Plan {
    /// A job with a graph, a checkpoint, a counter, an entry in the registry and a blob.
    fn small() -> Self {
        let mut plan = Self::default();
        plan.add_job(JOB, 1, b"graph");
        plan
    }

    fn add_job(&mut self, job_id: JobId, checkpoint: u64, payload: &[u8]) {
        let unique = Uuid::from_u128(u128::from(checkpoint)).hyphenated();
        let path = format!("jobgraphs/{job_id}-{unique}");
        let content = state(StateKind::JobGraph, job_id, payload);
        let graph = pointer(StateKind::JobGraph, &path, &content);
        self.znodes.push(Znode::JobGraph(job_id, graph));
        self.files.push((format!("files/{path}"), content));
        let id = CheckpointId::new(checkpoint).unwrap();
        let path = format!("jobs/{job_id}/checkpoints/{}-{unique}", id.to_name());
        let content = state(StateKind::Checkpoint, job_id, payload);
        let named = pointer(StateKind::Checkpoint, &path, &content);
        self.znodes.push(Znode::Checkpoint(job_id, id, named));
        self.files.push((format!("files/{path}"), content));
        self.znodes.push(Znode::Counter(job_id, id.next().unwrap()));
        self.znodes
            .push(Znode::Status(job_id, JobSchedulingStatus::Running));
        let key = format!("p-{}-{}", digest(payload), "0".repeat(32));
        self.files
            .push((format!("files/blobs/{job_id}/{key}"), payload.to_vec()));
    }

    fn write(&self, path: &Path) {
        let mut writer = ArchiveWriter::create(path, &head()).unwrap();
        for (name, content) in &self.files {
            let mut entry = writer.entry(name.clone()).unwrap();
            for piece in content.chunks(1000) {
                entry.write(piece).unwrap();
            }
            entry.finish().unwrap();
        }
        // Whether or not it is a good one.
        writer.seal(Some(&self.znodes)).unwrap();
        writer.put_in_place().unwrap();
    }
}

fn digest(content: &[u8]) -> String {
    use sha2::Digest as _;
    super::format::hex(&sha2::Sha256::digest(content).into())
}

/// A folder, and the archive in it.
fn place() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("one.tar");
    (folder, path)
}

fn read(path: &Path) -> ha_core::Result<Contents> {
    ArchiveReader::open(path).unwrap().verify()
}
