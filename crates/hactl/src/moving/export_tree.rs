use std::collections::{BTreeMap, BTreeSet};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use ha_core::health::BrokenEntry;
use ha_core::ids::{CheckpointId, JobId};
use ha_core::jobs::JobSchedulingStatus;
use ha_core::{Error, ErrorKind, Result};
use ha_storage::{
    CarriedFile, CarriedKind, FileSystemJobResultStore, HaStorage, StateFile, StateKind, Survey,
    owner_of_state,
};
use ha_zookeeper::codec::{Pointer, decode_counter, decode_status};
use ha_zookeeper::paths::ClusterPaths;

use super::copying::{Archiving, Copied};
use super::export::foreign_entry;
use super::results::{ROUNDS, entry_of, restless};
use crate::archive::Znode;
use crate::cluster::{Node, Nodes, foreign};

/// How many jobs are looked at a time.
const JOBS_AT_A_TIME: usize = 16;
const JOB_ID: &str = "a job id of 32 lower-case hexadecimal digits";
/// What stands below a job.
const OF_A_JOB: [&str; 2] = ["checkpoints", "checkpoint_id_counter"];

/// The znodes of a job as they were read, unverified.
pub(super) struct ReadJob {
    job_id: JobId,
    graph: Option<Node>,
    checkpoints: Vec<Node>,
    counter: Option<Node>,
    status: Option<Node>,
    broken: Vec<BrokenEntry>,
}

/// What is taken of a job.
#[derive(Default)]
pub(super) struct TakenJob {
    pub(super) graph: Option<(Pointer, i64)>,
    checkpoints: BTreeMap<CheckpointId, Pointer>,
    counter: Option<CheckpointId>,
    status: Option<JobSchedulingStatus>,
    pub(super) broken: Vec<BrokenEntry>,
}

/// The znodes of a cluster.
pub(super) struct Tree<'a> {
    pub(super) nodes: &'a Nodes,
    pub(super) paths: &'a ClusterPaths,
}

impl Archiving {
    /// Adds a cluster on ZooKeeper with the files that its pointers name; gives its znodes.
    ///
    /// It may be at work. A file that is gone or another was replaced together with its pointer, which is read again;
    /// a pointer is taken when its file is in the archive. The counter of a job is read after its checkpoints. Jobs whose
    /// graph changed meanwhile are read again at the end, so that none comes as a running one whose end is recorded.
    pub(super) async fn add_tree(
        &mut self,
        nodes: &Nodes,
        paths: &ClusterPaths,
        storage: &HaStorage,
        results: &FileSystemJobResultStore,
        broken: &mut Vec<BrokenEntry>,
    ) -> Result<Vec<Znode>> {
        let tree = Tree { nodes, paths };
        let job_ids = tree.job_ids(broken).await?;
        let mut jobs = BTreeMap::new();
        let mut reads = stream::iter(job_ids)
            .map(|job_id| tree.read_job(job_id))
            .buffered(JOBS_AT_A_TIME);
        while let Some(read) = reads.try_next().await? {
            let job_id = read.job_id;
            jobs.insert(job_id, self.take_job(&tree, Some(read), job_id).await?);
        }
        drop(reads);
        let survey = Survey::undated(storage, results).await?;
        broken.extend(survey.foreign().iter().cloned().map(foreign_entry));
        self.copy_blobs(&survey, broken).await?;
        self.settle(&tree, &mut jobs).await?;
        self.add_results(&tree, results, &mut jobs, broken).await?;
        let mut znodes = Vec::new();
        for (job_id, mut job) in jobs {
            broken.append(&mut job.broken);
            job.add_to(job_id, &mut znodes);
        }
        Ok(znodes)
    }

    /// Copies the files that a job's pointers name, until none of the pointers changed meanwhile.
    pub(super) async fn take_job(
        &mut self,
        tree: &Tree<'_>,
        read: Option<ReadJob>,
        job_id: JobId,
    ) -> Result<TakenJob> {
        let mut next = read;
        for _ in 0..ROUNDS {
            let read = match next.take() {
                Some(read) => read,
                None => {
                    tree.nodes.sync(tree.paths.cluster()).await?;
                    tree.read_job(job_id).await?
                }
            };
            if let Some(taken) = self.take_files(tree, read).await? {
                return Ok(taken);
            }
        }
        Err(restless(tree.paths.job(job_id)))
    }

    /// `None` when a pointer changed meanwhile.
    async fn take_files(&mut self, tree: &Tree<'_>, read: ReadJob) -> Result<Option<TakenJob>> {
        let job_id = read.job_id;
        let mut taken = TakenJob {
            broken: read.broken,
            ..TakenJob::default()
        };
        let pointers = read
            .graph
            .iter()
            .map(|node| (node, StateKind::JobGraph, None))
            .chain(read.checkpoints.iter().map(|node| {
                let id = CheckpointId::from_name(node.name());
                (node, StateKind::Checkpoint, id)
            }));
        for (node, kind, id) in pointers {
            let pointer = match Pointer::decode(&node.path, kind, &node.data) {
                Ok(pointer) => pointer,
                Err(error) => {
                    taken.add_broken(job_id, &node.path, &error);
                    continue;
                }
            };
            match self.copy_pointed(&pointer.file, job_id).await? {
                Copied::Whole => match id {
                    Some(id) => drop(taken.checkpoints.insert(id, pointer)),
                    None => taken.graph = Some((pointer, node.stat.mzxid)),
                },
                _ if !tree.is_same(node).await? => return Ok(None),
                Copied::Missing => {
                    let error = Error::new(ErrorKind::NotFound, "the file that a pointer names is missing");
                    taken.add_broken(job_id, &node.path, &error.at(&pointer.file.path).not_applied());
                }
                Copied::Broken(error) => taken.add_broken(job_id, &node.path, &error),
            }
        }
        if let Some(node) = read.counter {
            match decode_counter(&node.path, &node.data) {
                Ok(next) => taken.counter = Some(next),
                Err(error) => taken.add_broken(job_id, &node.path, &error),
            }
        }
        if let Some(node) = read.status {
            match decode_status(&node.path, &node.data) {
                Ok(status) => taken.status = Some(status),
                Err(error) => taken.add_broken(job_id, &node.path, &error),
            }
        }
        Ok(Some(taken))
    }

    async fn copy_pointed(&mut self, pointed: &StateFile, job_id: JobId) -> Result<Copied> {
        if owner_of_state(pointed.kind, &pointed.path) != Some(job_id) {
            let error = Error::new(ErrorKind::Corrupt, "it is not the place of a file of this job");
            return Ok(Copied::Broken(error.at(&pointed.path).not_applied()));
        }
        match CarriedFile::in_folder(&pointed.path) {
            Some(file) => self.copy(&file, Some(pointed)).await,
            None => Ok(Copied::Missing),
        }
    }

    async fn copy_blobs(&mut self, survey: &Survey, broken: &mut Vec<BrokenEntry>) -> Result<()> {
        for file in survey.files().iter().filter_map(CarriedFile::observed) {
            if !matches!(file.kind(), CarriedKind::Blob(_)) {
                continue;
            }
            match self.copy(&file, None).await? {
                // One that is gone went with its job.
                Copied::Whole | Copied::Missing => {}
                Copied::Broken(error) => broken.push(entry_of(&file, self.carrier.place(&file), &error)),
            }
        }
        Ok(())
    }

    /// Takes the jobs again whose graph changed or went since.
    pub(super) async fn settle(
        &mut self,
        tree: &Tree<'_>,
        jobs: &mut BTreeMap<JobId, TakenJob>,
    ) -> Result<()> {
        for _ in 0..ROUNDS {
            tree.nodes.sync(tree.paths.cluster()).await?;
            let mut ignored = Vec::new();
            let now = tree
                .nodes
                .children(&tree.paths.job_graphs(), &mut ignored)
                .await?;
            let now: BTreeMap<_, _> = now
                .iter()
                .map(|node| (node.path.clone(), node.stat.mzxid))
                .collect();
            let changed: Vec<_> = jobs
                .iter()
                .filter(|(job_id, job)| {
                    let taken = job.graph.as_ref().map(|(_, mzxid)| mzxid);
                    taken.is_some() && taken != now.get(&tree.paths.job_graph(**job_id))
                })
                .map(|(job_id, _)| *job_id)
                .collect();
            if changed.is_empty() {
                return Ok(());
            }
            for job_id in changed {
                let taken = self.take_job(tree, None, job_id).await?;
                jobs.insert(job_id, taken);
            }
        }
        Err(restless(tree.paths.job_graphs()))
    }

    /// Copies the results. The end of a job is in its pointer before it is in a file: where there is a file beside a pointer
    /// without an end, the pointer is read again.
    pub(super) async fn add_results(
        &mut self,
        tree: &Tree<'_>,
        results: &FileSystemJobResultStore,
        jobs: &mut BTreeMap<JobId, TakenJob>,
        broken: &mut Vec<BrokenEntry>,
    ) -> Result<()> {
        for _ in 0..ROUNDS {
            let mut found_broken = Vec::new();
            let mut found = Self::list_results(results, &mut found_broken).await?;
            for file in &found {
                let is_live = |job: &TakenJob| {
                    job.graph
                        .as_ref()
                        .is_some_and(|(pointer, _)| pointer.terminal.is_none())
                };
                if jobs.get(&file.owner()).is_some_and(is_live) {
                    let taken = self.take_job(tree, None, file.owner()).await?;
                    if is_live(&taken) && *file.kind() == CarriedKind::DirtyResult {
                        found_broken.push(BrokenEntry {
                            name: file.owner().to_string(),
                            path: self.carrier.place(file),
                            reason: "the job runs: a process that was deposed left this result, which counts for nothing"
                                .to_owned(),
                            candidates: Vec::new(),
                        });
                    }
                    jobs.insert(file.owner(), taken);
                }
            }
            found.retain(|file| {
                let place = self.carrier.place(file);
                found_broken.iter().all(|entry| entry.path != place)
            });
            if self.copy_results(&found, &mut found_broken).await? {
                broken.append(&mut found_broken);
                return Ok(());
            }
        }
        Err(restless(tree.paths.job_graphs()))
    }
}

impl Tree<'_> {
    /// The jobs of which there is anything; what is foreign is broken.
    async fn job_ids(&self, broken: &mut Vec<BrokenEntry>) -> Result<BTreeSet<JobId>> {
        let paths = self.paths;
        let known = [
            paths.identity(),
            paths.leader(),
            paths.job_graphs(),
            paths.jobs(),
            paths.running_jobs(),
            paths.configuration(),
        ];
        for name in self.nodes.names(paths.cluster()).await?.unwrap_or_default() {
            let path = ClusterPaths::child(paths.cluster(), &name);
            if !known.contains(&path) {
                broken.push(foreign(&name, &path, "a znode of a cluster"));
            }
        }
        let mut job_ids = BTreeSet::new();
        for parent in [paths.job_graphs(), paths.jobs(), paths.running_jobs()] {
            for name in self.nodes.names(&parent).await?.unwrap_or_default() {
                match JobId::from_name(&name) {
                    Some(job_id) => drop(job_ids.insert(job_id)),
                    None => broken.push(foreign(&name, &ClusterPaths::child(&parent, &name), JOB_ID)),
                }
            }
        }
        Ok(job_ids)
    }

    pub(super) async fn read_job(&self, job_id: JobId) -> Result<ReadJob> {
        let (nodes, paths) = (self.nodes, self.paths);
        let mut broken = Vec::new();
        let graph = nodes.get(&paths.job_graph(job_id)).await?;
        let job = paths.job(job_id);
        for name in nodes.names(&job).await?.unwrap_or_default() {
            if !OF_A_JOB.contains(&name.as_str()) {
                let expected = "`checkpoints` or `checkpoint_id_counter`";
                broken.push(foreign(&name, &ClusterPaths::child(&job, &name), expected));
            }
        }
        let mut checkpoints = nodes.children(&paths.checkpoints(job_id), &mut broken).await?;
        checkpoints.retain(|node| {
            let is_ours = CheckpointId::from_name(node.name()).is_some();
            if !is_ours {
                broken.push(foreign(node.name(), &node.path, "a checkpoint id of 19 digits"));
            }
            is_ours
        });
        Ok(ReadJob {
            job_id,
            graph,
            checkpoints,
            // After the checkpoints: a number is taken before a checkpoint of that number is there.
            counter: nodes.get(&paths.checkpoint_id_counter(job_id)).await?,
            status: nodes.get(&paths.running_job(job_id)).await?,
            broken,
        })
    }

    /// Whether a pointer is as it was read.
    async fn is_same(&self, pointer: &Node) -> Result<bool> {
        self.nodes.sync(&pointer.path).await?;
        let now = self.nodes.get(&pointer.path).await?;
        Ok(now.is_some_and(|now| now.stat.mzxid == pointer.stat.mzxid))
    }
}

impl TakenJob {
    fn add_broken(&mut self, job_id: JobId, path: &str, error: &Error) {
        self.broken
            .push(BrokenEntry::from_error(job_id.to_string(), path, error));
    }

    pub(super) fn add_to(self, job_id: JobId, znodes: &mut Vec<Znode>) {
        znodes.extend(self.graph.map(|(pointer, _)| Znode::JobGraph(job_id, pointer)));
        let checkpoints = self.checkpoints.into_iter();
        znodes.extend(checkpoints.map(|(id, pointer)| Znode::Checkpoint(job_id, id, pointer)));
        znodes.extend(self.counter.map(|next| Znode::Counter(job_id, next)));
        znodes.extend(self.status.map(|status| Znode::Status(job_id, status)));
    }
}
