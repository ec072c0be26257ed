use uuid::Uuid;

use super::{LeaderObservation, LeaderRetrievalEvent};
use crate::election::LeaderInformation;
use crate::error::{Error, ErrorKind};
use crate::ids::Epoch;

/// What the retrieval's task has to do.
#[derive(Clone, Debug)]
pub(super) enum RetrievalAction {
    /// Tell the listener who leads.
    Notify(Option<LeaderInformation>),
    /// Tell the listener of an error.
    Report(Error),
}

/// The rules of design §5 that all backends share, pure: who is told when.
pub(super) struct RetrievalMachine {
    tolerate_suspended: bool,
    /// What was told last; at first nobody is known.
    told: Option<LeaderInformation>,
    /// The newest leader that was ever told, by which older ones are known.
    newest: Option<Newest>,
    /// A second reading was asked for, and nothing newer has been seen since.
    verifying: bool,
    /// The unreadable information that was reported, so that reading it again reports nothing new.
    unreadable: Option<String>,
}

struct Newest {
    epoch: Epoch,
    history: Option<Uuid>,
}

type Actions = Vec<RetrievalAction>;

impl RetrievalMachine {
    /// Nobody is known. `tolerate_suspended`: whether the last leader is kept while the connection is suspended.
    pub(super) fn new(tolerate_suspended: bool) -> Self {
        Self {
            tolerate_suspended,
            told: None,
            newest: None,
            verifying: false,
            unreadable: None,
        }
    }

    /// The driver saw something.
    pub(super) fn on_event(&mut self, event: LeaderRetrievalEvent) -> Actions {
        match event {
            LeaderRetrievalEvent::Observed(observation) => self.observed(observation),
            LeaderRetrievalEvent::Suspended if self.tolerate_suspended => Actions::new(),
            LeaderRetrievalEvent::Suspended | LeaderRetrievalEvent::Lost => self.tell(None),
            LeaderRetrievalEvent::Unreadable(error) => self.unreadable(error),
            LeaderRetrievalEvent::Error(error) => vec![RetrievalAction::Report(error)],
        }
    }

    /// Whether a second reading is needed, at least as new as the last event; its outcome goes to
    /// [`RetrievalMachine::verified`].
    pub(super) fn is_verifying(&self) -> bool {
        self.verifying
    }

    /// The second reading.
    pub(super) fn verified(&mut self, observation: LeaderObservation) -> Actions {
        let mut actions = Actions::new();
        if !std::mem::take(&mut self.verifying) {
            return actions;
        }
        if self.is_older(&observation) {
            actions.push(RetrievalAction::Report(self.restored(&observation)));
            self.newest = None;
        }
        actions.extend(self.accept(observation));
        actions
    }

    fn observed(&mut self, observation: LeaderObservation) -> Actions {
        self.unreadable = None;
        if self.is_older(&observation) {
            // A server that lags behind may show it. What was told stays until the second reading.
            self.verifying = true;
            return Actions::new();
        }
        // A leader at least as new as the last says more than a second reading of an older one; nobody leading
        // does not.
        if observation.leader.is_some() {
            self.verifying = false;
        }
        self.accept(observation)
    }

    fn accept(&mut self, observation: LeaderObservation) -> Actions {
        self.unreadable = None;
        if let Some(leader) = &observation.leader {
            self.newest = Some(Newest {
                epoch: leader.epoch,
                history: observation
                    .history
                    .or(self.newest.as_ref().and_then(|newest| newest.history)),
            });
        }
        self.tell(observation.leader)
    }

    fn is_older(&self, observation: &LeaderObservation) -> bool {
        let (Some(newest), Some(leader)) = (&self.newest, &observation.leader) else {
            return false;
        };
        let other_history = newest
            .history
            .zip(observation.history)
            .is_some_and(|(known, seen)| known != seen);
        other_history || leader.epoch < newest.epoch
    }

    fn restored(&self, observation: &LeaderObservation) -> Error {
        let last = self
            .newest
            .as_ref()
            .map(|newest| newest.epoch)
            .unwrap_or_default();
        let seen = observation
            .leader
            .as_ref()
            .map(|leader| leader.epoch)
            .unwrap_or_default();
        Error::new(
            ErrorKind::Conflict,
            format!(
                "the history of the cluster was restored or replaced: the leader has epoch {seen} after epoch \
                 {last}"
            ),
        )
        .advise("fencing tokens handed out before may be larger than new ones; check outside systems that keep them")
    }

    fn unreadable(&mut self, error: Error) -> Actions {
        self.verifying = false;
        let mut actions = self.tell(None);
        let text = error.to_string();
        if self.unreadable.as_ref() != Some(&text) {
            self.unreadable = Some(text);
            actions.push(RetrievalAction::Report(error));
        }
        actions
    }

    fn tell(&mut self, leader: Option<LeaderInformation>) -> Actions {
        if is_same_leader(self.told.as_ref(), leader.as_ref()) {
            return Actions::new();
        }
        self.told.clone_from(&leader);
        vec![RetrievalAction::Notify(leader)]
    }
}

/// Whether a listener that was told one need not be told the other: equal address and session id.
pub(super) fn is_same_leader(left: Option<&LeaderInformation>, right: Option<&LeaderInformation>) -> bool {
    let what_counts = |leader: &LeaderInformation| (leader.leader_address.clone(), leader.leader_session_id);
    left.map(what_counts) == right.map(what_counts)
}

#[cfg(test)]
mod tests;
