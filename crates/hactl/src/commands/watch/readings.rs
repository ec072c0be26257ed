use std::collections::{BTreeMap, BTreeSet};

use ha_core::ids::{CheckpointId, ComponentId, JobId};
use ha_storage::StateKind;
use ha_zookeeper::codec::{ConnectionInfo, Pointer};
use ha_zookeeper::paths::ClusterPaths;

use super::snapshot::{Snapshot, WatchedJob, WatchedLeader};
use super::subject::{Reading, Subject};
use crate::commands::jobs::end_status;

/// What is followed, and all that was read of it. Bounded by what stands in the tree.
pub(super) struct Readings {
    paths: ClusterPaths,
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
    pub(super) fn new(paths: ClusterPaths) -> Self {
        Self {
            paths,
            followed: BTreeSet::from([Subject::Components, Subject::JobGraphs]),
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

    /// Takes what was read of a subject that is followed.
    pub(super) fn take(&mut self, subject: &Subject, reading: &Reading) -> Follow {
        self.unreadable.remove(subject);
        match (subject, reading) {
            (Subject::Components, reading) => self.take_components(names(reading)),
            (Subject::JobGraphs, reading) => self.take_job_graphs(names(reading)),
            (Subject::Leader(component), reading) => {
                self.take_leader(subject, component, reading);
                Follow::default()
            }
            (Subject::JobGraph(job_id), reading) => {
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
        self.report(subject, subject.path(&self.paths), reason);
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
                    let path = ClusterPaths::child(&self.paths.leader(), name);
                    self.report(&Subject::Components, path, error.message().to_owned());
                }
            }
        }
        let is_leader = |subject: &Subject| matches!(subject, Subject::Leader(_));
        self.follow(components, is_leader)
    }

    fn take_job_graphs(&mut self, names: &[String]) -> Follow {
        let mut subjects = BTreeSet::new();
        for name in names {
            match JobId::from_name(name) {
                Some(job_id) => subjects.extend([Subject::JobGraph(job_id), Subject::Checkpoints(job_id)]),
                None => {
                    let path = ClusterPaths::child(&self.paths.job_graphs(), name);
                    let reason =
                        "the name is foreign: a job id of 32 lower-case hexadecimal digits is expected";
                    self.report(&Subject::JobGraphs, path, reason.to_owned());
                }
            }
        }
        let is_of_job = |subject: &Subject| matches!(subject, Subject::JobGraph(_) | Subject::Checkpoints(_));
        self.follow(subjects, is_of_job)
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
                Subject::JobGraph(job_id) => drop(self.snapshot.jobs.remove(job_id)),
                Subject::Checkpoints(job_id) => drop(self.snapshot.checkpoints.remove(job_id)),
                Subject::Components | Subject::JobGraphs => {}
            }
        }
        let begin: Vec<_> = wanted.difference(&self.followed).cloned().collect();
        self.followed.extend(begin.iter().cloned());
        Follow { begin, end }
    }

    fn take_leader(&mut self, subject: &Subject, component: &ComponentId, reading: &Reading) {
        let leader = match reading {
            Reading::Data(data, _) => {
                let path = subject.path(&self.paths);
                match ConnectionInfo::decode(&path, data) {
                    Ok(information) => information.map(WatchedLeader::Leads),
                    Err(error) => {
                        self.report(subject, path, error.message().to_owned());
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
        let path = subject.path(&self.paths);
        let mut job = WatchedJob {
            created: *created,
            ..WatchedJob::default()
        };
        match Pointer::decode(&path, StateKind::JobGraph, data) {
            Ok(pointer) => {
                job.name = pointer.name;
                job.end = pointer.terminal.map(|entry| end_status(&entry.result));
            }
            Err(error) => self.report(subject, path, error.message().to_owned()),
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
