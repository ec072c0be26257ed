use futures::{StreamExt as _, TryStreamExt as _, stream};
use ha_core::Result;
use ha_core::health::BrokenEntry;
use ha_core::ids::{CheckpointId, JobId};
use ha_storage::StateKind;
use ha_zookeeper::codec::{Pointer, decode_counter, decode_status};
use ha_zookeeper::paths::ClusterPaths;

use super::read_tree::{TreeReader, allowed, reason};
use super::snapshot::{FileState, Graph, Named, Placed, Pointed};
use crate::cluster::{Node, Nodes};

/// How many jobs are looked at a time.
const JOBS_AT_A_TIME: usize = 16;
const JOB_ID: &str = "a job id of 32 lower-case hexadecimal digits";

impl TreeReader<'_> {
    pub(super) async fn read_graphs(&mut self) -> Result<()> {
        let parent = self.paths.job_graphs();
        let names = self.names(&parent).await?;
        for names in self.nodes.parts("job graphs", &names) {
            for node in self.some_children(&parent, names).await? {
                self.add_graph(node);
            }
            self.look_at_files().await?;
        }
        Ok(())
    }

    fn add_graph(&mut self, node: Node) {
        let Some(job_id) = JobId::from_name(node.name()) else {
            return self.foreign(node.path, JOB_ID);
        };
        let pointer = self.add_pointer(&node, StateKind::JobGraph, job_id);
        let graph = match pointer {
            None => Graph::Unreadable,
            Some(pointer) if pointer.terminal.is_some() => Graph::Ended,
            Some(_) => Graph::Live,
        };
        let facts = self.read.jobs.entry(job_id).or_default();
        // Of many thousand jobs nothing is kept that no check asks for.
        if self
            .listed
            .as_ref()
            .is_some_and(|listed| listed.has_result(job_id))
        {
            facts.graph = Some(Placed {
                place: node.path,
                what: graph,
            });
        }
    }

    pub(super) async fn read_jobs(&mut self) -> Result<()> {
        let jobs = self.paths.jobs();
        let mut job_ids = Vec::new();
        for name in self.names(&jobs).await? {
            match JobId::from_name(&name) {
                Some(job_id) => job_ids.push(job_id),
                None => self.foreign(ClusterPaths::child(&jobs, &name), JOB_ID),
            }
        }
        let (nodes, paths) = (self.nodes, self.paths);
        for job_ids in nodes.parts("jobs", &job_ids) {
            let jobs: Vec<_> = stream::iter(job_ids)
                .map(|&job_id| read_job(nodes, paths, job_id))
                .buffered(JOBS_AT_A_TIME)
                .try_collect()
                .await?;
            self.note(jobs.iter().flat_map(ReadJob::nodes)).await?;
            for job in jobs {
                self.add_job(job);
            }
            self.look_at_files().await?;
        }
        Ok(())
    }

    fn add_job(&mut self, mut job: ReadJob) {
        let job_id = job.job_id;
        self.read.broken.append(&mut job.broken);
        for name in job.names {
            if name != "checkpoints" && name != "checkpoint_id_counter" {
                let path = ClusterPaths::child(&self.paths.job(job_id), &name);
                self.foreign(path, "`checkpoints` or `checkpoint_id_counter`");
            }
        }
        let all: Vec<_> = job
            .checkpoints
            .iter()
            .map(|node| node.name().to_owned())
            .collect();
        let parent = self.paths.checkpoints(job_id);
        self.read.tree.sizes.add_children(&parent, &all);
        let mut newest = None;
        for node in job.checkpoints {
            let Some(id) = CheckpointId::from_name(node.name()) else {
                self.foreign(node.path, "a checkpoint id of 19 digits");
                continue;
            };
            self.add_pointer(&node, StateKind::Checkpoint, job_id);
            // The names are sorted.
            newest = Some(id);
        }
        let mut next = None;
        if let Some(node) = job.counter {
            self.expect_leaf(&node);
            match decode_counter(&node.path, &node.data) {
                Ok(id) => {
                    next = Some(Placed {
                        place: node.path,
                        what: id,
                    });
                }
                Err(error) => self.read.tree.unreadable_counters.push(Placed {
                    place: node.path,
                    what: reason(&error),
                }),
            }
        }
        let facts = self.read.jobs.entry(job_id).or_default();
        facts.newest_checkpoint = newest;
        facts.next_checkpoint = next;
        facts.forget_next_where_it_is_ahead();
    }

    pub(super) async fn read_registry(&mut self) -> Result<()> {
        let parent = self.paths.running_jobs();
        let names = self.names(&parent).await?;
        for names in self.nodes.parts("registry", &names) {
            for node in self.some_children(&parent, names).await? {
                self.expect_leaf(&node);
                if JobId::from_name(node.name()).is_none() {
                    self.foreign(node.path, JOB_ID);
                } else if let Err(error) = decode_status(&node.path, &node.data) {
                    self.read.tree.unreadable_registry.push(Placed {
                        place: node.path,
                        what: reason(&error),
                    });
                }
            }
        }
        Ok(())
    }

    /// Adds a pointer; gives it where it can be read.
    pub(super) fn add_pointer(&mut self, node: &Node, kind: StateKind, job_id: JobId) -> Option<Pointer> {
        self.expect_leaf(node);
        let pointer = Pointer::decode(&node.path, kind, &node.data);
        let named = match &pointer {
            Ok(pointer) => Ok(Named {
                file: pointer.file.path.clone(),
                place: pointer.file.path.clone(),
                state: FileState::Unknown,
            }),
            Err(error) => Err(reason(error)),
        };
        let pointed = Pointed {
            path: node.path.clone(),
            job_id,
            named,
        };
        let pointer = pointer.ok();
        if let (Some(listed), Some(pointer)) = (&mut self.listed, &pointer) {
            listed.name(&pointer.file.path);
        }
        let file = pointer.clone().map(|pointer| (pointer.file, node.stat.mzxid));
        self.pending.push((pointed, file));
        pointer
    }
}

/// What a job keeps, as it was read.
struct ReadJob {
    job_id: JobId,
    /// Its node and that of its checkpoints.
    parents: Vec<Node>,
    names: Vec<String>,
    checkpoints: Vec<Node>,
    counter: Option<Node>,
    broken: Vec<BrokenEntry>,
}

impl ReadJob {
    fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.parents.iter().chain(&self.checkpoints).chain(&self.counter)
    }
}

async fn read_job(nodes: &Nodes, paths: &ClusterPaths, job_id: JobId) -> Result<ReadJob> {
    let mut broken = Vec::new();
    let mut parents = Vec::new();
    let (job, folder) = (paths.job(job_id), paths.checkpoints(job_id));
    for path in [&job, &folder] {
        parents.extend(allowed(nodes.get(path).await, path, &mut broken)?);
    }
    let names = allowed(nodes.names(&job).await, &job, &mut broken)?;
    // Before the counter: a number is taken before a checkpoint of that number is there.
    let checkpoints = nodes.children(&folder, &mut broken).await.map(Some);
    let checkpoints = allowed(checkpoints, &folder, &mut broken)?;
    let place = paths.checkpoint_id_counter(job_id);
    let counter = allowed(nodes.get(&place).await, &place, &mut broken)?;
    Ok(ReadJob {
        job_id,
        parents,
        names: names.unwrap_or_default(),
        checkpoints: checkpoints.unwrap_or_default(),
        counter,
        broken,
    })
}
