//! The bytes of the HA services: everything that is kept in the HA storage directory, on
//! [`object_store`](https://docs.rs/object_store).
//!
//! # Layout
//!
//! ```text
//! <storageDir>/<cluster-id>/identity.json
//! <storageDir>/<cluster-id>/jobgraphs/<job-id>-<uuid>                        in the file-backed store <job-id>.job
//! <storageDir>/<cluster-id>/jobs/<job-id>/checkpoints/<19-digit id>-<uuid>
//! <storageDir>/<cluster-id>/jobs/<job-id>/counter                            file-backed only
//! <storageDir>/<cluster-id>/running_job_registry/<job-id>                    file-backed only
//! <storageDir>/<cluster-id>/blobs/<job-id>/<key>
//! <storageDir>/job-results-store/<cluster-id>/<job-id>_DIRTY.json | <job-id>.json
//! ```
//!
//! A *state file* is one line of JSON (format, kind, owning job, attributes, size and CRC-32C of the payload),
//! then the payload. A pointer to it, where there is one, holds path, size and CRC-32C of the whole file.
//!
//! # What implies what
//!
//! A pointer implies its file: files are written, fsynced, put in place without overwriting, and their folder is
//! fsynced before anybody publishes them; they are deleted after their pointer. The converse may fail after a
//! crash: a file that no pointer names is an orphan, found by two observations and its age by the store's own clock
//! ([`decide_orphans`]), never deleted during recovery (I5).
//!
//! In the file-backed stores, which serve the modes of one process, a file is state and pointer in one. Several
//! handles on one folder in this process share their locks, and a call that was dropped goes on to its end
//! before the next one begins.
//!
//! # Stores that several hosts reach
//!
//! Each is a cargo feature, off by default: `s3`, `gcs`, `azure`, `hdfs`. A URI of a store that is not built is
//! refused with the name of its feature. Local directories are always this crate's own fsynced files.
//!
//! | scheme | feature | tested | files are created | |
//! |---|---|---|---|---|
//! | `s3`, `s3a`, `s3p` | `s3` | on a server of the S3 protocol (moto), never on Amazon's | `If-None-Match: *` | uploads in parts: see below |
//! | `gs` | `gcs` | URL and options only; **never run** | `ifGenerationMatch=0` | uploads in parts: see below |
//! | `az`, `abfs(s)`, `wasb(s)` | `azure` | URL and options only; **never run** | `If-None-Match: *` | uncommitted blocks are dropped by Azure after a week |
//! | `hdfs` | `hdfs` | URL only; **never run** | rename without overwriting | temporary files are swept like local ones |
//!
//! Large blobs are uploaded in parts. Those of a process that was killed meanwhile stay in the bucket, are
//! paid for, and are in no list of objects: `object_store` cannot list them, so nothing here removes them. Give the
//! bucket a lifecycle rule that does, for the folder of `high-availability.storageDir`: on S3 the action
//! `AbortIncompleteMultipartUpload` with `DaysAfterInitiation` 1 (the prefix is the folder with `/` at its end), on GCS
//! the action of the same name with the condition `age` 1 and the folder as `matchesPrefix`. A blob whose upload takes
//! longer than that day would be lost to its writer, who is told so; nothing else is touched by such a rule.
//!
//! A store that is opened for writing is tried out: a file is created twice. Where the second one is not refused, the
//! store does not create conditionally, which is logged, and files are looked up before they are put. In the mode
//! `zookeeper` (remote stores have no other) that costs no more than this: state files have names of their own, ends
//! of jobs are decided by their pointers, and the identity of a cluster by its znode, with which the file is compared
//! before anybody leads; two processes that make it at once may both refuse to lead, and say so.
//!
//! A remote store that lost its bucket is told from one without files: a look-up that finds nothing asks for the
//! bucket too. Requests are repeated here, never inside the client: a conditional put that is repeated blindly meets
//! its own first attempt. A put that was given up may be applied later, so it fails with effect `Unknown`.
//!
//! # What is refused
//!
//! Paths that come from outside must be of this layout, character by character; symbolic links below the storage
//! directory are never followed; lengths are checked before a byte is read. What is torn, altered, foreign, of
//! another job or of a newer format is reported with path and reason and left as it is; the good entries beside
//! it are served.

mod blobs;
mod checkpoints;
mod folder;
mod graphs;
mod orphans;
mod registry;
mod remote;
mod reports;
mod results;
mod shared;
mod state;
mod storage;
mod sweeping;
#[cfg(test)]
mod test_support;
mod transfer;

pub use blobs::HaBlobStore;
pub use checkpoints::FileSystemCheckpointRecoveryFactory;
pub use graphs::FileSystemJobGraphStore;
pub use orphans::{
    Dating, FileKind, ForeignFile, Observation, ObservedFile, Orphan, OrphanReport, OrphanRules, Protection,
    Refusal, Survey, decide as decide_orphans, delete_observed_file, find_file_backed_orphans,
    observe_file_backed,
};
pub use registry::FileSystemRunningJobsRegistry;
pub use remote::choose_tls_provider;
pub use results::{FileSystemJobResultStore, JobResultStoreSettings, LeftResults, ResultFiles};
pub use state::{ListedState, State, StateFile, StateKind, owner_of_state};
pub use storage::{ClusterFiles, ClusterIdentity, HaStorage, JobLeftovers, StorageDirectory};
pub use sweeping::sweep_by_age;
pub use transfer::{CarriedFile, CarriedKind, CarriedReader, CarriedWriter, Carrier, ContentCheck};
