//! One job of the lost replies, and what is known of it: steps, and what they must have come to.

use std::sync::Arc;

use ha_core::checkpoints::{CheckpointIdCounter, CompletedCheckpointStore};
use ha_core::environment::{IdSource as _, RandomIdSource};
use ha_core::ids::JobId;
use ha_core::jobs::{ApplicationStatus, JobGraphStore};
use ha_core::services::HighAvailabilityServices as _;
use ha_core::{Effect, Error, ErrorKind};
use ha_testkit::contract::{checkpoint, checkpoint_id, ended, files_below, graph};
use ha_testkit::fakes::RecordingJobGraphListener;

use crate::rig::{Cluster, Member};

/// The stores of one term.
pub(crate) struct Stores {
    member: Arc<Member>,
    graphs: Arc<dyn JobGraphStore>,
    checkpoints: Arc<dyn CompletedCheckpointStore>,
    counter: Arc<dyn CheckpointIdCounter>,
}

impl Stores {
    pub(crate) async fn open(member: &Arc<Member>, job: &Job) -> Result<Self, Error> {
        let graphs = member.services.job_graph_store();
        graphs.start(Arc::new(RecordingJobGraphListener::new())).await?;
        graphs.recover_job_graph(job.id).await?;
        let factory = member.services.checkpoint_recovery_factory();
        let checkpoints = factory
            .create_recovered_completed_checkpoint_store(job.id, job.max_retained)
            .await?;
        let counter = factory.create_checkpoint_id_counter(job.id).await?;
        // An ended job is only cleaned up.
        if matches!(job.life, Life::Running) {
            counter.start().await?;
        }
        Ok(Self {
            member: Arc::clone(member),
            graphs,
            checkpoints,
            counter,
        })
    }

    pub(crate) async fn close(self) {
        self.graphs.stop().await.unwrap();
    }
}

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Running,
    Ended,
    CleanedUp,
}

/// What is known to be there of a job.
pub(crate) struct Job {
    id: JobId,
    life: Life,
    /// The payload of its graph.
    graph: Option<String>,
    max_retained: usize,
    /// Oldest first.
    checkpoints: Vec<u64>,
    /// The highest id that was given, and whether its checkpoint is still to be added.
    last_id: u64,
    id_is_unused: bool,
    status: Option<&'static str>,
    random: u64,
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Put { payload: String },
    Remove,
    Increment,
    Add { id: u64 },
    Register { status: Option<&'static str> },
    End,
    CleanUp,
    MarkClean,
}

impl Step {
    /// How many kinds there are; removals from the registry are one of their own.
    pub(crate) const KINDS: usize = 9;

    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Put { .. } => "put",
            Self::Remove => "remove",
            Self::Increment => "increment",
            Self::Add { .. } => "add",
            Self::Register { status: Some(_) } => "register",
            Self::Register { status: None } => "clear",
            Self::End => "end",
            Self::CleanUp => "clean up",
            Self::MarkClean => "mark clean",
        }
    }

    /// Whether another job comes after it.
    pub(crate) fn begins_a_new_life(&self) -> bool {
        matches!(self, Self::End | Self::MarkClean)
    }
}

impl Job {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            id: JobId::from_bytes(RandomIdSource.uuid().into_bytes()),
            life: Life::Running,
            graph: None,
            max_retained: if seed.is_multiple_of(2) { 1 } else { 3 },
            checkpoints: Vec::new(),
            last_id: 0,
            id_is_unused: false,
            status: None,
            random: seed | 1,
        }
    }

    fn random(&mut self) -> u64 {
        // xorshift64
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    pub(crate) fn next_step(&mut self) -> Step {
        match self.life {
            Life::Running => {}
            Life::Ended => return Step::CleanUp,
            Life::CleanedUp => return Step::MarkClean,
        }
        let payload = format!("payload {:016x}", self.random());
        match (self.random() % 16, self.id_is_unused) {
            (0..=4, _) => Step::Put { payload },
            (5, _) if self.graph.is_some() => Step::Remove,
            (6, _) if self.graph.is_some() => Step::End,
            (7..=9, _) => Step::Register {
                status: match self.status {
                    None => Some("RUNNING"),
                    Some("RUNNING") => Some("DONE"),
                    Some(_) => None,
                },
            },
            (_, false) => Step::Increment,
            (_, true) => Step::Add { id: self.last_id },
        }
    }

    /// Does it. An id that is given is above all that were.
    pub(crate) async fn take(&mut self, step: &Step, stores: &Stores) -> Result<(), Error> {
        let services = &stores.member.services;
        match step {
            Step::Put { payload } => stores.graphs.put_job_graph(&graph(self.id, payload)).await,
            Step::Remove => stores.graphs.remove_job_graph(self.id).await,
            Step::Increment => {
                let id = stores.counter.get_and_increment().await?.get();
                assert!(id > self.last_id, "{id} after {}", self.last_id);
                self.last_id = id;
                self.id_is_unused = true;
                Ok(())
            }
            Step::Add { id } => {
                self.id_is_unused = false;
                stores.checkpoints.add_and_subsume(checkpoint(self.id, *id)).await
            }
            Step::Register { status } => {
                let registry = services.running_jobs_registry();
                match status {
                    Some("RUNNING") => registry.set_job_running(self.id).await,
                    Some(_) => registry.set_job_finished(self.id).await,
                    None => registry.clear_job(self.id).await,
                }
            }
            Step::End => {
                let end = ended(self.id, ApplicationStatus::Succeeded);
                services.job_result_store().create_dirty_result(&end).await
            }
            Step::CleanUp => services.global_cleanup(self.id).await,
            Step::MarkClean => services.job_result_store().mark_result_as_clean(self.id).await,
        }
    }

    /// That the tree and the files are as the outcome says, read past the product. What is not known is taken as it is
    /// found: as before, or as wanted.
    pub(crate) async fn verify(&mut self, step: &Step, outcome: &Result<(), Error>, cluster: &Cluster) {
        let what = format!("{step:?} of {}: {outcome:?}", self.id);
        if let Err(error) = outcome {
            assert!(
                matches!(error.kind(), ErrorKind::NotLeader | ErrorKind::Unavailable),
                "{what}"
            );
        }
        match outcome.as_ref().map_err(Error::effect) {
            Ok(()) if *step == Step::MarkClean => {
                self.compare(step, cluster, &what).await;
                self.apply(step);
            }
            Ok(()) => {
                self.apply(step);
                self.compare(step, cluster, &what).await;
            }
            Err(Effect::NotApplied) => {
                self.compare(step, cluster, &what).await;
                let left = self.files_of(step, cluster);
                assert!(left.is_empty(), "{what}: {left:?}");
            }
            Err(Effect::Unknown) => {
                let kept = self.files_of(step, cluster);
                let puts = matches!(step, Step::Put { .. } | Step::Add { .. });
                assert_eq!(kept.len(), usize::from(puts), "{what}: its file stays");
                self.take_as_found(step, cluster, &what).await;
            }
        }
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::Put { payload } => self.graph = Some(payload.clone()),
            Step::Remove => self.graph = None,
            Step::Increment => {}
            Step::Add { id } => {
                self.checkpoints.push(*id);
                let beyond = self.checkpoints.len().saturating_sub(self.max_retained);
                self.checkpoints.drain(..beyond);
            }
            Step::Register { status } => self.status = *status,
            Step::End => self.life = Life::Ended,
            Step::CleanUp => {
                self.life = Life::CleanedUp;
                self.graph = None;
                self.checkpoints.clear();
                self.status = None;
            }
            Step::MarkClean => *self = Self::new(self.random()),
        }
    }

    /// The files that hold what the step was to write.
    fn files_of(&self, step: &Step, cluster: &Cluster) -> Vec<std::path::PathBuf> {
        let wanted = match step {
            Step::Put { payload } => payload.clone().into_bytes(),
            Step::Add { id } => checkpoint(self.id, *id).payload.to_vec(),
            _ => return Vec::new(),
        };
        let mut files = files_below(cluster.storage.path());
        files.retain(|file| {
            let content = std::fs::read(file).unwrap_or_default();
            file.display().to_string().contains(&self.id.to_string()) && content.ends_with(&wanted)
        });
        files
    }

    async fn compare(&self, step: &Step, cluster: &Cluster, what: &str) {
        let (admin, paths) = (&cluster.admin, &cluster.paths);
        match step {
            Step::Put { .. } | Step::Remove | Step::End => {
                let pointer = admin.text(&paths.job_graph(self.id)).await.unwrap();
                assert_eq!(pointer.is_some(), self.graph.is_some(), "{what}: {pointer:?}");
                if let (Some(pointer), Some(payload)) = (pointer, &self.graph) {
                    let has_ended = pointer.contains("\"terminal\"");
                    assert_eq!(has_ended, self.life == Life::Ended, "{what}: {pointer}");
                    let content = cluster.file_of(&pointer).unwrap();
                    assert!(content.ends_with(payload.as_bytes()), "{what}: {pointer}");
                }
            }
            Step::Add { .. } => {
                let names = admin.children(&paths.checkpoints(self.id)).await.unwrap();
                let expected: Vec<_> = self
                    .checkpoints
                    .iter()
                    .map(|id| checkpoint_id(*id).to_name())
                    .collect();
                assert_eq!(names, expected, "{what}");
            }
            Step::Register { .. } => {
                let status = admin.text(&paths.running_job(self.id)).await.unwrap();
                assert_eq!(status.as_deref(), self.status, "{what}");
            }
            Step::CleanUp if self.life == Life::CleanedUp => {
                let id = self.id.to_string();
                let left: Vec<_> = cluster.znodes().await.into_iter().map(|node| node.path).collect();
                assert!(!left.iter().any(|path| path.contains(&id)), "{what}: {left:?}");
            }
            // Its steps before were applied; it is repeated.
            Step::CleanUp | Step::Increment => {}
            Step::MarkClean => {
                let [clean, dirty] = ["", "_DIRTY"].map(|mark| format!("/{}{mark}.json", self.id));
                let files = files_below(cluster.storage.path());
                let is_there = |name: &str| {
                    files
                        .iter()
                        .any(|file| file.display().to_string().ends_with(name))
                };
                assert_ne!(is_there(&clean), is_there(&dirty), "{what}");
            }
        }
    }

    async fn take_as_found(&mut self, step: &Step, cluster: &Cluster, what: &str) {
        let (admin, paths) = (&cluster.admin, &cluster.paths);
        let is_applied = match step {
            Step::Put { payload } => match admin.text(&paths.job_graph(self.id)).await.unwrap() {
                Some(pointer) => cluster.file_of(&pointer).unwrap().ends_with(payload.as_bytes()),
                None => false,
            },
            Step::Remove => admin.get(&paths.job_graph(self.id)).await.unwrap().is_none(),
            Step::Add { id } => {
                let path = paths.checkpoint(self.id, checkpoint_id(*id));
                admin.get(&path).await.unwrap().is_some()
            }
            Step::Register { status } => {
                let found = admin.text(&paths.running_job(self.id)).await.unwrap();
                found.as_deref() == *status
            }
            Step::End => {
                let pointer = admin.text(&paths.job_graph(self.id)).await.unwrap();
                pointer.is_some_and(|pointer| pointer.contains("\"terminal\""))
            }
            Step::Increment | Step::CleanUp | Step::MarkClean => false,
        };
        if is_applied {
            self.apply(step);
        }
        self.compare(step, cluster, what).await;
    }

    /// That a fresh process recovers what is known.
    pub(crate) async fn verify_recovery(&self, reader: &Member) {
        let graphs = reader.job_graphs().await;
        let found = graphs.recover_job_graph(self.id).await.unwrap();
        let runs = self.life == Life::Running;
        let expected = self.graph.as_ref().filter(|_| runs);
        assert_eq!(found, expected.map(|payload| graph(self.id, payload)));
        let all = reader
            .checkpoints(self.id, self.max_retained)
            .await
            .all()
            .await
            .unwrap();
        if self.life != Life::Ended {
            let expected: Vec<_> = self
                .checkpoints
                .iter()
                .map(|id| checkpoint(self.id, *id))
                .collect();
            assert_eq!(all, expected);
        }
        let results = reader.services.job_result_store();
        let is_ended = results.has_dirty_job_result_entry(self.id).await.unwrap();
        assert_eq!(is_ended, !runs);
        graphs.stop().await.unwrap();
    }
}
