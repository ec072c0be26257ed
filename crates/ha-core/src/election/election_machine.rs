use std::collections::BTreeMap;
use std::time::Duration;

use super::contender_state::{Callbacks, ContenderState, Stage};
use super::election_action::ElectionAction;
use super::left_behind::LeftBehind;
use super::publication::Publication;
use super::{LeaderGrant, LeaderInformation};
use crate::environment::BootInstant;
use crate::error::Result;
use crate::ids::{ComponentId, LeaderSessionId};

mod advance;

/// The rules of design §4 that all backends share, pure: contenders, one grant for all of them, revocation with
/// a deadline, publishing, leaving.
///
/// Every input returns what to do, in order. Time is given.
pub(super) struct ElectionMachine {
    revoke_timeout: Duration,
    driver: DriverPhase,
    /// The present term, from `granted` to `revoked`.
    grant: Option<LeaderGrant>,
    /// The term whose end the driver waits to be told of.
    revoking: Option<Revoking>,
    /// Numbers revocations, so that a late answer to an earlier one settles nothing.
    rounds: u64,
    /// Numbers writes of leader information, over all contenders and terms, so that the end of one is taken for that
    /// of no other.
    writes: u64,
    contenders: BTreeMap<ComponentId, ContenderState>,
    /// Components whose contender has left while information of it may stand. It goes with the driver; while this
    /// process leads before that, it is removed. A component has a contender, or something left behind, never both.
    left_behind: BTreeMap<ComponentId, LeftBehind>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DriverPhase {
    Closed,
    /// Open, or being made.
    Open,
    /// Leadership was ended because the last contender leaves; closed once all callbacks have returned. A
    /// contender that enters now waits for the next driver.
    Ending,
    Closing,
}

#[derive(Clone, Copy)]
struct Revoking {
    session: LeaderSessionId,
    deadline: BootInstant,
}

type Actions = Vec<ElectionAction>;

impl ElectionMachine {
    pub(super) fn new(revoke_timeout: Duration) -> Self {
        Self {
            revoke_timeout,
            driver: DriverPhase::Closed,
            grant: None,
            revoking: None,
            rounds: 0,
            writes: 0,
            contenders: BTreeMap::new(),
            left_behind: BTreeMap::new(),
        }
    }

    /// Whether there is neither a contender nor a driver.
    pub(super) fn is_idle(&self) -> bool {
        self.contenders.is_empty() && self.driver == DriverPhase::Closed
    }

    /// A contender enters. `None`: one of this component is there.
    pub(super) fn enter(&mut self, component: ComponentId) -> Option<Actions> {
        if self.contenders.contains_key(&component) {
            return None;
        }
        let mut actions = Actions::new();
        let callbacks = match self.grant {
            Some(grant) => {
                actions.push(ElectionAction::Grant(component.clone(), grant));
                Callbacks::InTerm
            }
            None => Callbacks::Settled,
        };
        let left_behind = self.left_behind.remove(&component);
        self.contenders.insert(
            component,
            ContenderState {
                touched: left_behind.is_some(),
                writes: left_behind.as_ref().map_or(0, LeftBehind::writes),
                clearing: left_behind.is_some_and(|left| left.is_in_flight()),
                stage: Stage::Standing,
                callbacks,
                publication: Publication::default(),
            },
        );
        self.open_if_closed(&mut actions);
        Some(actions)
    }

    /// A contender leaves.
    pub(super) fn leave(&mut self, component: &ComponentId, now: BootInstant) -> Actions {
        let mut actions = Actions::new();
        let round = self.next_round();
        let deadline = now + self.revoke_timeout;
        let Some(contender) = self.contenders.get_mut(component) else {
            return actions;
        };
        if contender.stage != Stage::Standing {
            return actions;
        }
        contender.stage = Stage::Leaving { deadline };
        contender.callbacks = Callbacks::Revoking(round);
        if !self.has_standing() {
            // The driver is closed once all have returned, which ends the term; it is not told of its end.
            self.grant = None;
            self.revoking = None;
            if self.driver == DriverPhase::Open {
                self.driver = DriverPhase::Ending;
                actions.push(ElectionAction::EndLeadership);
            }
        }
        actions.push(ElectionAction::Revoke(component.clone(), round));
        self.advance(now, &mut actions);
        actions
    }

    /// All contenders leave.
    pub(super) fn leave_all(&mut self, now: BootInstant) -> Actions {
        let components: Vec<_> = self.contenders.keys().cloned().collect();
        components
            .iter()
            .flat_map(|component| self.leave(component, now))
            .collect()
    }

    /// The driver granted a term.
    pub(super) fn granted(&mut self, grant: LeaderGrant, now: BootInstant) -> Actions {
        let mut actions = Actions::new();
        if self.grant == Some(grant) || self.driver != DriverPhase::Open || !self.has_standing() {
            return actions;
        }
        self.grant = Some(grant);
        self.revoking = None;
        for (component, contender) in self.standing() {
            contender.callbacks = Callbacks::InTerm;
            contender.publication = Publication::default();
            actions.push(ElectionAction::Grant(component.clone(), grant));
        }
        for left_behind in self.left_behind.values_mut() {
            left_behind.granted(now);
        }
        self.advance(now, &mut actions);
        actions
    }

    /// The driver says that a term is over.
    pub(super) fn revoked(&mut self, session: LeaderSessionId, now: BootInstant) -> Actions {
        let mut actions = Actions::new();
        if self.grant.is_none_or(|grant| grant.session != session) {
            // A term that nobody was told of; the driver waits for the answer all the same.
            if self.has_standing() && self.revoking.is_none() {
                actions.push(ElectionAction::TellRevoked(session));
            }
            return actions;
        }
        self.grant = None;
        self.revoking = Some(Revoking {
            session,
            deadline: now + self.revoke_timeout,
        });
        let round = self.next_round();
        for (component, contender) in self.standing() {
            contender.callbacks = Callbacks::Revoking(round);
            contender.publication = Publication::default();
            actions.push(ElectionAction::Revoke(component.clone(), round));
        }
        self.advance(now, &mut actions);
        actions
    }

    /// The callbacks of a contender have returned, by revocation `round`.
    pub(super) fn settled(&mut self, component: &ComponentId, round: u64, now: BootInstant) -> Actions {
        if let Some(contender) = self.contenders.get_mut(component)
            && [Callbacks::Revoking(round), Callbacks::Overdue(round)].contains(&contender.callbacks)
        {
            contender.callbacks = Callbacks::Settled;
        }
        self.on_time(now)
    }

    /// A contender confirms its leadership. `None`: the session is stale, or it leads no more; otherwise the
    /// information that is published and what to do.
    pub(super) fn confirm(
        &mut self,
        component: &ComponentId,
        session: LeaderSessionId,
        address: String,
        now: BootInstant,
    ) -> Option<(LeaderInformation, Actions)> {
        let grant = self.grant.filter(|grant| grant.session == session)?;
        let contender = self.contenders.get_mut(component)?;
        if contender.stage != Stage::Standing {
            return None;
        }
        let information = LeaderInformation {
            leader_address: address,
            leader_session_id: session,
            epoch: grant.epoch,
        };
        contender.publication.want(information.clone(), now);
        Some((information, self.on_time(now)))
    }

    /// The publish of this number ended.
    pub(super) fn published(
        &mut self,
        component: &ComponentId,
        write: u64,
        result: &Result<()>,
        now: BootInstant,
    ) -> Actions {
        if let Some(contender) = self.contenders.get_mut(component) {
            contender.writes = contender.writes.saturating_sub(1);
            contender.publication.finished(write, result, now);
        } else if let Some(left_behind) = self.left_behind.get_mut(component) {
            left_behind.written(now);
        }
        self.on_time(now)
    }

    /// The leader information of a component changed, by whomever.
    pub(super) fn information_changed(
        &mut self,
        component: &ComponentId,
        information: Option<LeaderInformation>,
        now: BootInstant,
    ) -> Actions {
        let mut actions = Actions::new();
        if self.grant.is_some()
            && let Some(contender) = self.contenders.get_mut(component)
            && contender.stage == Stage::Standing
            && contender.publication.observed(information.as_ref(), now)
        {
            actions.push(ElectionAction::ReportFight(component.clone(), information));
        }
        self.advance(now, &mut actions);
        actions
    }

    /// The information of a leaving component was removed, or (`removed` is false) could not be.
    pub(super) fn withdrawn(&mut self, component: &ComponentId, removed: bool, now: BootInstant) -> Actions {
        let mut actions = Actions::new();
        if let Some(contender) = self.contenders.get(component)
            && contender.stage == Stage::Withdrawing
        {
            let mut left_behind = LeftBehind::new(contender.writes, false);
            if !removed {
                left_behind.failed(now);
            }
            if !removed || contender.writes > 0 {
                self.left_behind.insert(component.clone(), left_behind);
            }
            self.contenders.remove(component);
            actions.push(ElectionAction::Left(component.clone()));
        }
        self.advance(now, &mut actions);
        actions
    }

    /// What a contender had left behind was removed, or (`removed` is false) could not be.
    pub(super) fn cleared(&mut self, component: &ComponentId, removed: bool, now: BootInstant) -> Actions {
        if let Some(contender) = self.contenders.get_mut(component) {
            // It publishes by now, over whatever is left.
            contender.clearing = false;
        }
        let left_behind = self.left_behind.get_mut(component);
        if left_behind.is_some_and(|left_behind| left_behind.removed(removed, now)) {
            self.left_behind.remove(component);
        }
        self.on_time(now)
    }

    /// The driver is closed, or its closing failed for good.
    pub(super) fn driver_closed(&mut self) -> Actions {
        self.driver = DriverPhase::Closed;
        self.left_behind.clear();
        let mut actions = Actions::new();
        self.contenders.retain(|component, contender| {
            let left = contender.stage == Stage::AwaitingClose;
            if left {
                actions.push(ElectionAction::Left(component.clone()));
            }
            !left
        });
        if self.has_standing() {
            self.open_if_closed(&mut actions);
        }
        actions
    }

    /// Time went on.
    pub(super) fn on_time(&mut self, now: BootInstant) -> Actions {
        let mut actions = Actions::new();
        self.advance(now, &mut actions);
        actions
    }

    /// When [`ElectionMachine::on_time`] has something to do next.
    pub(super) fn wakeup(&self) -> Option<BootInstant> {
        let revoking = self.revoking.as_ref().map(|revoking| revoking.deadline);
        let leading = self.grant.is_some();
        let left_behind = self.left_behind.values().filter(|_| leading);
        self.contenders
            .values()
            .filter_map(|contender| match contender.stage {
                Stage::Leaving { deadline } => Some(deadline),
                Stage::Standing if contender.clearing => None,
                Stage::Standing => contender.publication.wakeup(),
                Stage::Withdrawing | Stage::AwaitingClose => None,
            })
            .chain(left_behind.filter_map(LeftBehind::wakeup))
            .chain(revoking)
            .min()
    }

    fn has_standing(&self) -> bool {
        self.contenders
            .values()
            .any(|contender| contender.stage == Stage::Standing)
    }

    fn standing(&mut self) -> impl Iterator<Item = (&ComponentId, &mut ContenderState)> {
        self.contenders
            .iter_mut()
            .filter(|(_, contender)| contender.stage == Stage::Standing)
    }

    fn next_round(&mut self) -> u64 {
        self.rounds += 1;
        self.rounds
    }

    fn open_if_closed(&mut self, actions: &mut Actions) {
        if self.driver == DriverPhase::Closed {
            self.driver = DriverPhase::Open;
            actions.push(ElectionAction::OpenDriver);
        }
    }
}

#[cfg(test)]
mod tests;
