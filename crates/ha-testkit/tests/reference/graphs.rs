use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use ha_core::health::{BrokenEntry, Recovered};
use ha_core::ids::JobId;
use ha_core::jobs::{JobGraph, JobGraphListener, JobGraphStore};
use ha_core::{ErrorKind, Result};

use super::Fault;
use super::disk::{corrupt, refused};
use super::process::Process;

enum Phase {
    New,
    /// The versions that this process put or recovered.
    Started(BTreeMap<JobId, u64>),
    Stopped,
}

pub(super) struct Graphs {
    process: Arc<Process>,
    name: u64,
    phase: Mutex<Phase>,
}

impl Graphs {
    pub(super) fn new(process: Arc<Process>) -> Self {
        let name = process.disk.lock().number();
        Self {
            process,
            name,
            phase: Mutex::new(Phase::New),
        }
    }

    fn with_known<T>(&self, act: impl FnOnce(&mut BTreeMap<JobId, u64>) -> Result<T>) -> Result<T> {
        match &mut *self.phase.lock().unwrap() {
            Phase::New => Err(refused(ErrorKind::Invalid, "not started")),
            Phase::Started(known) => act(known),
            Phase::Stopped => Err(refused(ErrorKind::Closed, "stopped")),
        }
    }

    /// Who must be told of a change of this process.
    fn others(&self) -> Vec<Arc<dyn JobGraphListener>> {
        let content = self.process.disk.lock();
        let told = |name: &u64| *name != self.name || self.process.fault == Fault::OwnChangesReported;
        content
            .listeners
            .iter()
            .filter(|(name, _)| told(name))
            .map(|(_, listener)| Arc::clone(listener))
            .collect()
    }
}

#[async_trait]
impl JobGraphStore for Graphs {
    async fn start(&self, listener: Arc<dyn JobGraphListener>) -> Result<()> {
        let mut phase = self.phase.lock().unwrap();
        if !matches!(*phase, Phase::New) {
            return Err(refused(ErrorKind::Invalid, "started before"));
        }
        *phase = Phase::Started(BTreeMap::new());
        self.process.disk.lock().listeners.insert(self.name, listener);
        Ok(())
    }

    async fn stop(&self) -> Result<()> {
        *self.phase.lock().unwrap() = Phase::Stopped;
        if self.process.fault != Fault::StoppedListenerTold {
            self.process.disk.lock().listeners.remove(&self.name);
        }
        Ok(())
    }

    async fn put_job_graph(&self, job_graph: &JobGraph) -> Result<()> {
        let job = job_graph.job_id;
        let replaced = self.with_known(|known| {
            self.process.check_write()?;
            let mut content = self.process.disk.lock();
            if content.results.contains_key(&job) {
                return Err(refused(ErrorKind::Conflict, "the job has ended"));
            }
            let present = content.graphs.get(&job).map(|(version, _)| *version);
            match (present, known.get(&job)) {
                (Some(present), Some(known)) if present != *known => {
                    return Err(refused(ErrorKind::Conflict, "changed since"));
                }
                (Some(_), None) if self.process.fault != Fault::ForeignGraphReplaced => {
                    return Err(refused(ErrorKind::AlreadyExists, "another's"));
                }
                _ => {}
            }
            let version = content.number();
            known.insert(job, version);
            content.graphs.insert(job, (version, Some(job_graph.clone())));
            Ok(present.is_some())
        })?;
        if replaced && self.process.fault == Fault::ReplacementUnreported {
            return Ok(());
        }
        for other in self.others() {
            other.on_added_job_graph(job).await;
        }
        Ok(())
    }

    async fn recover_job_graph(&self, job_id: JobId) -> Result<Option<JobGraph>> {
        self.with_known(|known| {
            let mut content = self.process.disk.lock();
            if content.results.contains_key(&job_id) && self.process.fault != Fault::EndedJobRecovered {
                return Ok(None);
            }
            match content.graphs.get(&job_id).cloned() {
                None => Ok(None),
                Some((version, Some(graph))) => {
                    known.insert(job_id, version);
                    Ok(Some(graph))
                }
                Some((_, None)) if self.process.fault == Fault::BrokenGraphIsNone => Ok(None),
                Some((_, None)) if self.process.fault == Fault::BrokenGraphIsDeleted => {
                    content.graphs.remove(&job_id);
                    Err(corrupt("graphs", job_id))
                }
                Some((_, None)) => Err(corrupt("graphs", job_id)),
            }
        })
    }

    async fn recover_job_graphs(&self) -> Result<Recovered<JobGraph>> {
        self.with_known(|_| Ok(()))?;
        let mut recovered = Recovered::default();
        for job in self.job_ids().await? {
            match self.recover_job_graph(job).await {
                Ok(graph) => recovered.entries.extend(graph),
                Err(error) if self.process.fault == Fault::BrokenGraphHidesOthers => return Err(error),
                Err(error) => {
                    let path = format!("graphs/{job}");
                    recovered
                        .broken
                        .push(BrokenEntry::from_error(job.to_string(), path, &error));
                }
            }
        }
        Ok(recovered)
    }

    async fn remove_job_graph(&self, job_id: JobId) -> Result<()> {
        let removed = self.with_known(|known| {
            self.process.check_write()?;
            let mut content = self.process.disk.lock();
            let foreign = known.remove(&job_id).is_none();
            if !content.graphs.contains_key(&job_id) {
                return Ok(false);
            }
            if foreign && self.process.fault != Fault::ForeignGraphRemoved {
                return Err(refused(ErrorKind::Conflict, "another's"));
            }
            content.graphs.remove(&job_id);
            Ok(true)
        })?;
        if removed {
            for other in self.others() {
                other.on_removed_job_graph(job_id).await;
            }
        }
        Ok(())
    }

    async fn release_job_graph(&self, job_id: JobId) -> Result<()> {
        self.with_known(|known| {
            known.remove(&job_id);
            Ok(())
        })
    }

    async fn job_ids(&self) -> Result<Vec<JobId>> {
        Ok(self.process.disk.lock().graphs.keys().copied().collect())
    }
}
