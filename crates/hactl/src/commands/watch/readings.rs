use std::collections::{BTreeMap, BTreeSet};

use ha_core::ids::{CheckpointId, ComponentId, JobId};
use ha_flink::Pointer;
use ha_zookeeper::paths::ClusterPaths;

use super::snapshot::{Snapshot, WatchedLeader};
use super::subject::{GraphFolder, Reading, Subject};
use super::watched_tree::WatchedTree;

/// What is followed, and all that was read of it. Bounded by what stands in the tree.
pub(super) struct Readings {
    tree: WatchedTree,
    followed: BTreeSet<Subject>,
    snapshot: Snapshot,
    /// What is unreadable at or below a subject, by path.
    unreadable: BTreeMap<Subject, BTreeMap<String, String>>,
}

/// What a reading changes of what is followed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Follow {
    pub(super) begin: Vec<Subject>,
    pub(super) end: Vec<Subject>,
}

impl Readings {
    pub(super) fn new(tree: WatchedTree) -> Self {
        Self {
            followed: tree.roots(),
            tree,
            snapshot: Snapshot::default(),
            unreadable: BTreeMap::new(),
        }
    }

    pub(super) const fn followed(&self) -> &BTreeSet<Subject> {
        &self.followed
    }

    /// All that was read.
    pub(super) fn snapshot(&mut self) -> &Snapshot {
        let unreadable = self.unreadable.values().flatten();
        self.snapshot.unreadable = unreadable
            .map(|(path, reason)| (path.clone(), reason.clone()))
            .collect();
        &self.snapshot
    }

    /// The jobs whose names stand in files that were not looked at.
    pub(super) fn unnamed(&self) -> Vec<(JobId, Pointer)> {
        let jobs = self.snapshot.jobs.iter();
        jobs.filter_map(|(job_id, job)| Some((*job_id, job.named_by.clone()?)))
            .collect()
    }

    /// Takes what the file of a job said of its name. It is not looked at again.
    pub(super) fn name(&mut self, job_id: JobId, name: Option<String>) {
        if let Some(job) = self.snapshot.jobs.get_mut(&job_id) {
            job.name = name;
            job.named_by = None;
        }
    }

    /// Takes what was read of a subject that is followed.
    pub(super) fn take(&mut self, subject: &Subject, reading: &Reading) -> Follow {
        self.unreadable.remove(subject);
        match (subject, reading) {
            (Subject::Components, reading) => self.take_components(names(reading)),
            (Subject::JobGraphs(folder), reading) => self.take_job_graphs(*folder, names(reading)),
            (Subject::Leader(component), reading) => {
                self.take_leader(subject, component, reading);
                Follow::default()
            }
            (Subject::JobGraph(_, job_id), reading) => {
                self.take_job_graph(subject, *job_id, reading);
                Follow::default()
            }
            (Subject::Checkpoints(job_id), reading) => {
                let newest = names(reading)
                    .iter()
                    .filter_map(|name| CheckpointId::from_name(name))
                    .max();
                match newest {
                    Some(newest) => drop(self.snapshot.checkpoints.insert(*job_id, newest)),
                    None => drop(self.snapshot.checkpoints.remove(job_id)),
                }
                Follow::default()
            }
        }
    }

    /// Takes it that a subject may not be read: what was read of it before stays.
    pub(super) fn refuse(&mut self, subject: &Subject, reason: String) {
        self.report(subject, self.tree.path(subject), reason);
    }

    fn take_components(&mut self, names: &[String]) -> Follow {
        let mut components = BTreeSet::new();
        for name in names {
            // Elections, which are no components.
            if name == "latch" || name.starts_with("latch-") {
                continue;
            }
            match ComponentId::parse(name) {
                Ok(component) => drop(components.insert(Subject::Leader(component))),
                Err(error) => {
                    let path = ClusterPaths::child(&self.tree.path(&Subject::Components), name);
                    self.report(&Subject::Components, path, error.message().to_owned());
                }
            }
        }
        let tree = self.tree.clone();
        self.follow(components, |subject| match subject {
            Subject::Leader(component) => !tree.is_led_beside_its_checkpoints(component),
            _ => false,
        })
    }

    fn take_job_graphs(&mut self, folder: GraphFolder, names: &[String]) -> Follow {
        let of_folder = Subject::JobGraphs(folder);
        let mut graphs = BTreeSet::new();
        for name in names {
            match JobId::from_name(name) {
                Some(job_id) => drop(graphs.insert(Subject::JobGraph(folder, job_id))),
                None => {
                    let path = ClusterPaths::child(&self.tree.path(&of_folder), name);
                    let reason =
                        "the name is foreign: a job id of 32 lower-case hexadecimal digits is expected";
                    self.report(&of_folder, path, reason.to_owned());
                }
            }
        }
        let mut follow = self.follow(
            graphs,
            |subject| matches!(subject, Subject::JobGraph(of, _) if *of == folder),
        );
        let tree = self.tree.clone();
        let jobs = self.followed.iter().filter_map(|subject| match subject {
            Subject::JobGraph(_, job_id) => Some(*job_id),
            _ => None,
        });
        let of_jobs = jobs.flat_map(|job_id| tree.of_job(job_id)).collect();
        let of_job = self.follow(of_jobs, |subject| match subject {
            Subject::Leader(component) => tree.is_led_beside_its_checkpoints(component),
            Subject::Checkpoints(_) => true,
            _ => false,
        });
        follow.begin.extend(of_job.begin);
        follow.end.extend(of_job.end);
        follow
    }

    /// From now on exactly `wanted` is followed of those that are `of_kind`.
    fn follow(&mut self, wanted: BTreeSet<Subject>, of_kind: impl Fn(&Subject) -> bool) -> Follow {
        let gone = self.followed.iter().filter(|subject| of_kind(subject));
        let end: Vec<_> = gone
            .filter(|subject| !wanted.contains(subject))
            .cloned()
            .collect();
        for subject in &end {
            self.followed.remove(subject);
            self.unreadable.remove(subject);
            match subject {
                Subject::Leader(component) => drop(self.snapshot.leaders.remove(component)),
                Subject::JobGraph(_, job_id) => drop(self.snapshot.jobs.remove(job_id)),
                Subject::Checkpoints(job_id) => drop(self.snapshot.checkpoints.remove(job_id)),
                Subject::Components | Subject::JobGraphs(_) => {}
            }
        }
        let begin: Vec<_> = wanted.difference(&self.followed).cloned().collect();
        self.followed.extend(begin.iter().cloned());
        Follow { begin, end }
    }

    fn take_leader(&mut self, subject: &Subject, component: &ComponentId, reading: &Reading) {
        let leader = match reading {
            Reading::Data(data, _) => {
                let path = self.tree.path(subject);
                match self.tree.leader(&path, data) {
                    Ok(leadership) => leadership.map(WatchedLeader::Leads),
                    Err(reason) => {
                        self.report(subject, path, reason);
                        Some(WatchedLeader::Unreadable)
                    }
                }
            }
            Reading::Missing | Reading::Names(_) => None,
        };
        match leader {
            Some(leader) => drop(self.snapshot.leaders.insert(component.clone(), leader)),
            None => drop(self.snapshot.leaders.remove(component)),
        }
    }

    fn take_job_graph(&mut self, subject: &Subject, job_id: JobId, reading: &Reading) {
        let Reading::Data(data, created) = reading else {
            self.snapshot.jobs.remove(&job_id);
            return;
        };
        let path = self.tree.path(subject);
        let (job, reason) = self.tree.job(&path, data, *created);
        if let Some(reason) = reason {
            self.report(subject, path, reason);
        }
        self.snapshot.jobs.insert(job_id, job);
    }

    fn report(&mut self, subject: &Subject, path: String, reason: String) {
        let of_subject = self.unreadable.entry(subject.clone()).or_default();
        of_subject.insert(path, reason);
    }
}

fn names(reading: &Reading) -> &[String] {
    match reading {
        Reading::Names(names) => names,
        Reading::Missing | Reading::Data(..) => &[],
    }
}
