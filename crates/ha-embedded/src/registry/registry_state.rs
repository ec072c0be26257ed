use std::collections::{BTreeMap, VecDeque};

use ha_core::election::{LeaderElectionEvent, LeaderElectionEvents, LeaderGrant, LeaderInformation};
use ha_core::environment::IdSource;
use ha_core::ids::{ComponentId, Epoch, LeaderSessionId};
use ha_core::retrieval::{LeaderObservation, LeaderRetrievalEvent, LeaderRetrievalEvents};

/// Tells contenders and followers apart.
pub(super) type Number = u64;

/// What the registry keeps, behind its lock. Events are only sent, so nothing waits under it.
#[derive(Default)]
pub(crate) struct RegistryState {
    pub(super) closed: bool,
    epoch: u64,
    numbers: Number,
    components: BTreeMap<ComponentId, ComponentState>,
}

#[derive(Default)]
struct ComponentState {
    /// In the order in which they will lead.
    contenders: VecDeque<Contender>,
    leader: Option<Leader>,
    published: Option<LeaderInformation>,
    followers: Vec<(Number, LeaderRetrievalEvents)>,
    /// Nobody is elected until this is taken back.
    paused: bool,
}

struct Contender {
    number: Number,
    events: LeaderElectionEvents,
}

struct Leader {
    number: Number,
    session: LeaderSessionId,
    /// The term is over, but not everybody has been revoked.
    ended: bool,
}

impl RegistryState {
    fn next_number(&mut self) -> Number {
        self.numbers += 1;
        self.numbers
    }

    /// A contender enters.
    pub(super) fn enter(
        &mut self,
        component: &ComponentId,
        events: LeaderElectionEvents,
        ids: &dyn IdSource,
    ) -> Number {
        let number = self.next_number();
        let state = self.components.entry(component.clone()).or_default();
        state.contenders.push_back(Contender { number, events });
        self.elect(component, ids);
        number
    }

    /// A contender leaves, and with it its term and what it published.
    pub(super) fn leave(&mut self, component: &ComponentId, number: Number, ids: &dyn IdSource) {
        let Some(state) = self.components.get_mut(component) else {
            return;
        };
        state.contenders.retain(|contender| contender.number != number);
        if state
            .leader
            .as_ref()
            .is_some_and(|leader| leader.number == number)
        {
            state.end_term();
        }
        self.elect(component, ids);
        self.forget_if_unused(component);
    }

    /// Whether that contender leads in that term.
    pub(super) fn leads(&self, component: &ComponentId, number: Number, session: LeaderSessionId) -> bool {
        self.components
            .get(component)
            .and_then(|state| state.leader.as_ref())
            .is_some_and(|leader| leader.number == number && leader.session == session && !leader.ended)
    }

    /// Sets (`Some`) or removes what the leader has published. `false`: that contender does not lead in that term
    /// (`None`: in any).
    pub(super) fn publish(
        &mut self,
        component: &ComponentId,
        number: Number,
        session: Option<LeaderSessionId>,
        information: Option<LeaderInformation>,
    ) -> bool {
        let Some(state) = self.components.get_mut(component) else {
            return false;
        };
        let leads = state.leader.as_ref().is_some_and(|leader| {
            leader.number == number
                && !leader.ended
                && session.is_none_or(|session| session == leader.session)
        });
        if leads {
            state.set_published(information);
        }
        leads
    }

    /// Ends the term of that contender; it still has to be revoked.
    pub(super) fn end_leadership(&mut self, component: &ComponentId, number: Number) {
        let leader = self
            .components
            .get_mut(component)
            .and_then(|state| state.leader.as_mut());
        if let Some(leader) = leader.filter(|leader| leader.number == number) {
            leader.ended = true;
        }
    }

    /// That contender was revoked of that term: the next one leads, and it contends anew behind the others.
    pub(super) fn revoked(
        &mut self,
        component: &ComponentId,
        number: Number,
        session: LeaderSessionId,
        ids: &dyn IdSource,
    ) {
        let Some(state) = self.components.get_mut(component) else {
            return;
        };
        let is_its_term = |leader: &Leader| leader.number == number && leader.session == session;
        if state.leader.as_ref().is_some_and(is_its_term) {
            state.end_term();
            if let Some(place) = state
                .contenders
                .iter()
                .position(|contender| contender.number == number)
                && let Some(contender) = state.contenders.remove(place)
            {
                state.contenders.push_back(contender);
            }
        }
        self.elect(component, ids);
    }

    /// Takes leadership of a component away, and lets nobody lead until it is granted again.
    pub(crate) fn pause(&mut self, component: &ComponentId) {
        let state = self.components.entry(component.clone()).or_default();
        state.paused = true;
        let Some(leader) = state.leader.as_mut().filter(|leader| !leader.ended) else {
            return;
        };
        leader.ended = true;
        let (number, session) = (leader.number, leader.session);
        let events = state
            .contenders
            .iter()
            .find(|contender| contender.number == number);
        if let Some(contender) = events {
            let _ = contender.events.send(LeaderElectionEvent::Revoked {
                session,
                reason: "leadership was taken away by leadership control".to_owned(),
            });
        }
    }

    /// Lets a contender lead again.
    pub(crate) fn resume(&mut self, component: &ComponentId, ids: &dyn IdSource) {
        if let Some(state) = self.components.get_mut(component) {
            state.paused = false;
        }
        self.elect(component, ids);
        self.forget_if_unused(component);
    }

    /// Follows a component; the present leader is told at once.
    pub(super) fn follow(&mut self, component: &ComponentId, events: LeaderRetrievalEvents) -> Number {
        let number = self.next_number();
        let state = self.components.entry(component.clone()).or_default();
        let _ = events.send(LeaderRetrievalEvent::Observed(observation(
            state.published.clone(),
        )));
        state.followers.push((number, events));
        number
    }

    /// Follows no more.
    pub(super) fn unfollow(&mut self, component: &ComponentId, number: Number) {
        if let Some(state) = self.components.get_mut(component) {
            state.followers.retain(|(of, _)| *of != number);
        }
        self.forget_if_unused(component);
    }

    /// What is published now.
    pub(super) fn observe(&self, component: &ComponentId) -> LeaderObservation {
        observation(
            self.components
                .get(component)
                .and_then(|state| state.published.clone()),
        )
    }

    /// Nobody leads and nobody is followed any more.
    pub(super) fn close(&mut self) {
        self.closed = true;
        for state in self.components.values() {
            for (_, events) in &state.followers {
                let _ = events.send(LeaderRetrievalEvent::Lost);
            }
        }
    }

    fn elect(&mut self, component: &ComponentId, ids: &dyn IdSource) {
        let Some(state) = self.components.get_mut(component) else {
            return;
        };
        while !self.closed
            && !state.paused
            && state.leader.is_none()
            && let Some(contender) = state.contenders.front()
        {
            self.epoch += 1;
            let grant = LeaderGrant {
                session: LeaderSessionId::random(ids),
                epoch: Epoch::new(self.epoch),
            };
            if contender
                .events
                .send(LeaderElectionEvent::Granted(grant))
                .is_err()
            {
                // Its election is gone without a word.
                state.contenders.pop_front();
                continue;
            }
            state.leader = Some(Leader {
                number: contender.number,
                session: grant.session,
                ended: false,
            });
        }
    }

    fn forget_if_unused(&mut self, component: &ComponentId) {
        let unused = self
            .components
            .get(component)
            .is_some_and(|state| state.contenders.is_empty() && state.followers.is_empty() && !state.paused);
        if unused {
            self.components.remove(component);
        }
    }
}

impl ComponentState {
    fn end_term(&mut self) {
        self.leader = None;
        self.set_published(None);
    }

    fn set_published(&mut self, information: Option<LeaderInformation>) {
        if self.published == information {
            return;
        }
        self.published.clone_from(&information);
        self.followers.retain(|(_, events)| {
            events
                .send(LeaderRetrievalEvent::Observed(observation(information.clone())))
                .is_ok()
        });
    }
}

fn observation(leader: Option<LeaderInformation>) -> LeaderObservation {
    LeaderObservation {
        leader,
        history: None,
    }
}
