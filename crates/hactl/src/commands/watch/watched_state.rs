use std::collections::{BTreeMap, BTreeSet};

use ha_core::ids::{CheckpointId, ComponentId, JobId};

use super::event::WatchEvent;
use super::snapshot::{Leadership, Snapshot, WatchedJob, WatchedLeader};

/// What was told so far. Takes snapshots, gives the events that lead from the one before to each.
///
/// After [`WatchedState::advance`] the events told in all describe the snapshot, whatever was in the ones before it. The
/// order is that of the names: components, then jobs, then what is unreadable; of one job the end of its former graph,
/// that it was added, its checkpoint, its end.
#[derive(Debug, Default)]
pub(super) struct WatchedState {
    leaders: BTreeMap<ComponentId, Leadership>,
    jobs: BTreeMap<JobId, ToldJob>,
    unreadable: BTreeMap<String, String>,
}

/// What was told of a job.
#[derive(Debug)]
struct ToldJob {
    created: i64,
    name: Option<String>,
    has_ended: bool,
    /// The newest checkpoint that was told. Ids only grow; older ones that are all that is left are no news.
    newest: Option<CheckpointId>,
}

impl WatchedState {
    /// The jobs whose graph is gone, or another one, in `next`, and whose end was not told: how they ended stands in the
    /// recorded results, if anywhere.
    pub(super) fn departed(&self, next: &Snapshot) -> Vec<JobId> {
        let told = self.jobs.iter();
        told.filter(|(id, told)| !told.has_ended && !told.is_in(next, **id))
            .map(|(id, _)| *id)
            .collect()
    }

    /// The events from the snapshot before to `next`; `ends` says how departed jobs ended, as far as it is known.
    pub(super) fn advance(&mut self, next: &Snapshot, ends: &BTreeMap<JobId, String>) -> Vec<WatchEvent> {
        let mut events = Vec::new();
        self.advance_leaders(next, &mut events);
        let ids: BTreeSet<_> = self.jobs.keys().chain(next.jobs.keys()).copied().collect();
        for id in ids {
            self.advance_job(id, next, ends, &mut events);
        }
        for (path, reason) in &next.unreadable {
            if self.unreadable.get(path) != Some(reason) {
                let (path, reason) = (path.clone(), reason.clone());
                events.push(WatchEvent::Unreadable { path, reason });
            }
        }
        self.unreadable.clone_from(&next.unreadable);
        events
    }

    fn advance_leaders(&mut self, next: &Snapshot, events: &mut Vec<WatchEvent>) {
        let told = self.leaders.keys();
        let components: BTreeSet<_> = told.chain(next.leaders.keys()).cloned().collect();
        for component in components {
            let leads = match next.leaders.get(&component) {
                // Who leads may still be who led.
                Some(WatchedLeader::Unreadable) => continue,
                Some(WatchedLeader::Leads(leadership)) => Some(leadership),
                None => None,
            };
            if self.leaders.get(&component) == leads {
                continue;
            }
            events.push(WatchEvent::LeaderChanged {
                component: component.to_string(),
                address: leads.map(|leadership| leadership.address.clone()),
                epoch: leads.and_then(|leadership| Some(leadership.epoch?.get())),
                session_id: leads.map(|leadership| leadership.session_id),
            });
            match leads {
                Some(leadership) => drop(self.leaders.insert(component, leadership.clone())),
                None => drop(self.leaders.remove(&component)),
            }
        }
    }

    fn advance_job(
        &mut self,
        id: JobId,
        next: &Snapshot,
        ends: &BTreeMap<JobId, String>,
        events: &mut Vec<WatchEvent>,
    ) {
        if self.jobs.get(&id).is_some_and(|told| !told.is_in(next, id))
            && let Some(gone) = self.jobs.remove(&id)
            && !gone.has_ended
        {
            let status = ends.get(&id).cloned().unwrap_or_else(|| "UNKNOWN".to_owned());
            let name = gone.name;
            events.push(WatchEvent::JobEnded {
                job_id: id,
                name,
                status,
            });
        }
        let Some(job) = next.jobs.get(&id) else {
            return;
        };
        let told = self.jobs.entry(id).or_insert_with(|| {
            events.push(WatchEvent::JobAdded {
                job_id: id,
                name: job.name.clone(),
            });
            ToldJob::of(job)
        });
        if job.name.is_some() {
            told.name.clone_from(&job.name);
        }
        if let Some(newest) = next.checkpoints.get(&id)
            && told.newest.is_none_or(|newest_told| newest_told < *newest)
        {
            told.newest = Some(*newest);
            events.push(WatchEvent::CheckpointCompleted {
                job_id: id,
                checkpoint_id: newest.get(),
            });
        }
        if let Some(status) = &job.end
            && !told.has_ended
        {
            told.has_ended = true;
            events.push(WatchEvent::JobEnded {
                job_id: id,
                name: told.name.clone(),
                status: status.clone(),
            });
        }
    }
}

impl ToldJob {
    fn of(job: &WatchedJob) -> Self {
        Self {
            created: job.created,
            name: job.name.clone(),
            has_ended: false,
            newest: None,
        }
    }

    /// Whether its job graph is there, the same one.
    fn is_in(&self, snapshot: &Snapshot, id: JobId) -> bool {
        let job = snapshot.jobs.get(&id);
        job.is_some_and(|job| job.created == self.created)
    }
}

#[cfg(test)]
mod tests;
