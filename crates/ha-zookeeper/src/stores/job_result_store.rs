use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use ha_core::environment::steps;
use ha_core::health::{BrokenEntry, Recovered};
use ha_core::ids::JobId;
use ha_core::jobs::{JobResultEntry, JobResultStore};
use ha_core::{Effect, Error, ErrorKind, Result};
use ha_storage::{FileSystemJobResultStore, StateKind};

use super::{StoreContext, pointers};
use crate::client::{Operation, Stat};
use crate::codec::{Pointer, bounded_end};
use crate::fence::{Commit, Proof, Term};

/// How often a pointer that changes at the same time is read again.
const ATTEMPTS: usize = 5;

/// Job results in ZooKeeper mode: the fenced pointer of the job graph decides the end of a job, files record it.
///
/// The file cannot be fenced, so where there is a pointer it is the authority: a dirty file beside a pointer
/// without an end was left by a deposed process, is reported and never acted on.
pub struct ZooKeeperJobResultStore {
    context: StoreContext,
    files: Arc<FileSystemJobResultStore>,
}

/// What the job graph's pointer says of the end.
enum Recorded {
    /// The job has ended so.
    Ended(JobResultEntry),
    /// It has not.
    Running(Box<Pointer>, Stat),
    /// There is no readable pointer: the files decide.
    NoPointer,
}

impl ZooKeeperJobResultStore {
    /// The results of the cluster of `context`, recorded in `files`.
    pub const fn new(context: StoreContext, files: Arc<FileSystemJobResultStore>) -> Self {
        Self { context, files }
    }

    async fn recorded(&self, job_id: JobId) -> Result<Recorded> {
        let path = self.context.writer.paths().job_graph(job_id);
        let client = self.context.writer.client().await?;
        match pointers::read_one(&client, &path, StateKind::JobGraph).await {
            Ok(Some((pointer, stat))) => Ok(match pointer.terminal {
                Some(end) => Recorded::Ended(end),
                None => Recorded::Running(Box::new(pointer), stat),
            }),
            Ok(None) => Ok(Recorded::NoPointer),
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                let name = job_id.to_string();
                self.context.report(&BrokenEntry::from_error(name, path, &error));
                Ok(Recorded::NoPointer)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the end of the job is recorded.
    pub(crate) async fn is_ended(&self, job_id: JobId) -> Result<bool> {
        match self.recorded(job_id).await? {
            Recorded::Ended(_) => Ok(true),
            Recorded::Running(..) => self.files.has_clean_job_result_entry(job_id).await,
            Recorded::NoPointer => self.files.has_job_result_entry(job_id).await,
        }
    }

    /// Writes the file of an end that the pointer records, if it is missing or another one.
    ///
    /// # Errors
    /// `NotLeader` when `term` is over: a deposed process writes no file.
    pub(crate) async fn ensure_recorded(&self, term: &Term, job_id: JobId) -> Result<()> {
        if let Recorded::Ended(end) = self.recorded(job_id).await?
            && !self.is_filed(&end).await
        {
            self.context.writer.check_current(term)?;
            self.files.record_decided_result(&end).await?;
        }
        Ok(())
    }

    /// Whether the file says the same end, dirty or clean.
    async fn is_filed(&self, end: &JobResultEntry) -> bool {
        matches!(
            self.files.job_result_entry(end.job_id()).await,
            Ok(Some(filed)) if bounded_end(&filed) == bounded_end(end)
        )
    }

    /// Sets the end in the pointer. `None`: somebody else changed it in between.
    async fn decide(
        &self,
        term: &Term,
        entry: &JobResultEntry,
        mut pointer: Pointer,
        stat: Stat,
    ) -> Result<Option<()>> {
        let path = self.context.writer.paths().job_graph(entry.job_id());
        pointer.write_id = self.context.environment.ids.uuid();
        pointer.terminal = Some(entry.clone());
        let set = Operation::Set {
            path: path.clone(),
            data: pointer.encode(&path)?,
            version: Some(stat.version),
        };
        let proof = Proof::WriteId {
            path,
            write_id: pointer.write_id,
        };
        let committing = self.context.writer.commit(term, vec![set], &proof);
        match self
            .context
            .environment
            .step(steps::END_POINTER, committing)
            .await?
        {
            Commit::Applied(_) => Ok(Some(())),
            Commit::Refused(_) => Ok(None),
        }
    }

    /// Files an end that the pointer has decided.
    async fn file_decided(&self, term: &Term, entry: &JobResultEntry) -> Result<()> {
        if self.context.writer.check_current(term).is_err() {
            // The next leader writes the file, from the pointer.
            return Ok(());
        }
        self.files.record_decided_result(entry).await.map_err(|error| {
            // The end itself is decided.
            error
                .with_effect(Effect::Unknown)
                .advise("the end of the job is decided; its file is written again by the next clean-up")
        })?;
        let place = self.files.dirty_place(entry.job_id());
        self.context.health.clear_broken(&place);
        Ok(())
    }

    /// Reports the dirty file of a job that has not ended.
    fn left_over(&self, job_id: JobId, path: String) -> BrokenEntry {
        let left_over = BrokenEntry {
            name: job_id.to_string(),
            path,
            reason: "a dirty result file is beside this job, which has not ended: a deposed process left it; it is ignored, and replaced when the job ends".to_owned(),
            candidates: Vec::new(),
        };
        self.context.report(&left_over);
        left_over
    }

    fn already_ended(&self, job_id: JobId) -> Error {
        Error::new(ErrorKind::AlreadyExists, "the end of the job is recorded already")
            .at(self.context.writer.paths().job_graph(job_id))
            .not_applied()
            .advise("the recorded end stands; read it with job_result_entry")
    }
}

#[async_trait]
impl JobResultStore for ZooKeeperJobResultStore {
    async fn create_dirty_result(&self, entry: &JobResultEntry) -> Result<()> {
        let job_id = entry.job_id();
        let term = self.context.writer.begin().await?;
        let deciding = self.context.job_locks.lock(job_id, StateKind::JobGraph).await;
        for _ in 0..ATTEMPTS {
            match self.recorded(job_id).await? {
                Recorded::Ended(_) => return Err(self.already_ended(job_id)),
                Recorded::Running(pointer, stat) => {
                    if self.files.has_clean_job_result_entry(job_id).await? {
                        return Err(self.already_ended(job_id));
                    }
                    if self.decide(&term, entry, *pointer, stat).await?.is_some() {
                        drop(deciding);
                        return self.file_decided(&term, entry).await;
                    }
                }
                Recorded::NoPointer => {
                    self.context.writer.prove(&term).await?;
                    return self.files.create_dirty_result(entry).await;
                }
            }
        }
        Err(Error::new(
            ErrorKind::Conflict,
            "the job graph changes faster than its end can be recorded",
        )
        .at(self.context.writer.paths().job_graph(job_id))
        .not_applied())
    }

    async fn mark_result_as_clean(&self, job_id: JobId) -> Result<()> {
        let term = self.context.writer.begin().await?;
        if !self.is_ended(job_id).await? {
            // A dirty file beside a pointer without an end was left by a deposed process.
            return Err(Error::new(ErrorKind::NotFound, "no end of the job is recorded")
                .at(self.context.writer.paths().job_graph(job_id))
                .not_applied());
        }
        self.ensure_recorded(&term, job_id).await?;
        self.context.writer.prove(&term).await?;
        self.files.mark_result_as_clean(job_id).await
    }

    async fn has_job_result_entry(&self, job_id: JobId) -> Result<bool> {
        self.is_ended(job_id).await
    }

    async fn has_dirty_job_result_entry(&self, job_id: JobId) -> Result<bool> {
        match self.recorded(job_id).await? {
            Recorded::Ended(_) => Ok(!self.files.has_clean_job_result_entry(job_id).await?),
            Recorded::Running(..) => Ok(false),
            Recorded::NoPointer => self.files.has_dirty_job_result_entry(job_id).await,
        }
    }

    async fn has_clean_job_result_entry(&self, job_id: JobId) -> Result<bool> {
        self.files.has_clean_job_result_entry(job_id).await
    }

    async fn job_result_entry(&self, job_id: JobId) -> Result<Option<JobResultEntry>> {
        match self.recorded(job_id).await? {
            Recorded::Ended(end) => Ok(Some(match self.files.job_result_entry(job_id).await {
                // The file holds what was cut off in the pointer.
                Ok(Some(filed)) if bounded_end(&filed) == bounded_end(&end) => filed,
                _ => end,
            })),
            Recorded::Running(..) if !self.files.has_clean_job_result_entry(job_id).await? => Ok(None),
            Recorded::Running(..) | Recorded::NoPointer => self.files.job_result_entry(job_id).await,
        }
    }

    async fn dirty_results(&self) -> Result<Recovered<JobResultEntry>> {
        let client = self.context.writer.client().await?;
        let folder = self.context.writer.paths().job_graphs();
        let mut ended = BTreeMap::new();
        let mut running = BTreeMap::new();
        for node in pointers::read_all(&client, &folder, StateKind::JobGraph).await? {
            let (Some(job_id), Ok(pointer)) = (JobId::from_name(&node.name), node.pointer) else {
                // Reported by the job graph store; the files decide.
                continue;
            };
            match pointer.terminal {
                Some(end) => drop(ended.insert(job_id, end)),
                None => drop(running.insert(job_id, self.files.dirty_place(job_id))),
            }
        }
        for (job_id, end) in &ended {
            // Only what is missing is written here: reading replaces nothing.
            if !self.files.has_job_result_entry(*job_id).await?
                && let Ok(term) = self.context.writer.begin().await
                && self.context.writer.check_current(&term).is_ok()
            {
                self.files.record_decided_result(end).await?;
            }
        }
        let mut dirty = Recovered::default();
        let filed = self.files.dirty_results().await?;
        dirty.broken = filed.broken;
        for entry in filed.entries {
            let job_id = entry.job_id();
            let Some(place) = running.remove(&job_id) else {
                dirty.entries.push(entry);
                continue;
            };
            // Perhaps it has ended since the pointers were read.
            match self.recorded(job_id).await? {
                Recorded::Ended(end) => {
                    ended.insert(job_id, end);
                    dirty.entries.push(entry);
                }
                Recorded::Running(..) => dirty.broken.push(self.left_over(job_id, place)),
                Recorded::NoPointer if self.files.has_dirty_job_result_entry(job_id).await? => {
                    dirty.entries.push(entry);
                }
                // It was cleaned up since.
                Recorded::NoPointer => {}
            }
        }
        for place in running.values() {
            self.context.health.clear_broken(place);
        }
        // A file of another end was left by a deposed process: the pointer has decided. The file is replaced
        // before the job is cleaned up.
        dirty.entries.retain(|filed| {
            ended
                .get(&filed.job_id())
                .is_none_or(|end| bounded_end(filed) == bounded_end(end))
        });
        let filed: BTreeSet<_> = dirty.entries.iter().map(JobResultEntry::job_id).collect();
        for (job_id, end) in ended {
            if !filed.contains(&job_id) && !self.files.has_clean_job_result_entry(job_id).await? {
                dirty.entries.push(end);
            }
        }
        dirty.entries.sort_by_key(JobResultEntry::job_id);
        Ok(dirty)
    }

    async fn clean_results(&self) -> Result<Recovered<JobResultEntry>> {
        self.files.clean_results().await
    }
}
