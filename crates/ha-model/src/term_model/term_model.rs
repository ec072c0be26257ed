use stateright::{Model, Property};

use super::action::{Action, ProcessId};
use super::event_kind::EventKind;
use super::process::{Process, Session, Write, WriteStage};
use super::properties;
use super::stamp::Stamp;
use super::task::Task;
use super::term_state::{Faults, TermState};
use crate::weakening::Weakening;

/// Latches, claims, fences and epochs, without time: every step may be as late as it likes. I2, I3, I4, and I1
/// as far as it follows from leases that end before their sessions.
#[derive(Clone, Debug)]
pub struct TermModel {
    /// How much may happen from outside: sessions that expire or are given up, leases that run out, replies that
    /// are lost, what operators do.
    pub events: u8,
    /// Which of these.
    pub kinds: Vec<EventKind>,
    /// The rule that is left out.
    pub weakening: Option<Weakening>,
}

impl TermModel {
    /// The protocol as it is.
    pub fn new(events: u8) -> Self {
        Self {
            events,
            kinds: EventKind::ALL.to_vec(),
            weakening: None,
        }
    }

    fn task_actions(state: &TermState, id: ProcessId, process: &Process, actions: &mut Vec<Action>) {
        let events = state.events_left > 0;
        match process.task {
            Task::Enter => {
                actions.push(Action::Enter(id));
                if events {
                    actions.push(Action::EnterReplyLost(id));
                }
            }
            Task::Stand => actions.push(Action::Look(id)),
            Task::Behind(predecessor) if state.latch(predecessor).is_none() => {
                actions.push(Action::TakeOver(id))
            }
            Task::Claiming(_) => {
                actions.push(Action::Claim(id));
                if events {
                    actions.push(Action::ClaimReplyLost(id));
                }
            }
            Task::ClaimInDoubt(_) => actions.push(Action::ReadBackClaim(id)),
            Task::Leave => actions.push(Action::Leave(id)),
            Task::Behind(_) | Task::AwaitLease(..) | Task::Lead | Task::Revoke { .. } => {}
        }
        let changed = process.latch.is_some_and(|known| !state.is_as_known(known));
        if changed && matches!(process.task, Task::Behind(_) | Task::AwaitLease(..) | Task::Lead) {
            actions.push(Action::ReadOwnLatch(id));
        }
        match process.write.map(|write| write.stage) {
            Some(WriteStage::Sent) => {
                actions.push(Action::Write(id));
                if events {
                    actions.push(Action::WriteReplyLost(id));
                }
            }
            Some(WriteStage::InDoubt { .. }) => actions.push(Action::ReadBackWrite(id)),
            Some(WriteStage::Refused) | None => {}
        }
    }

    fn local_actions(state: &TermState, id: ProcessId, process: &Process, actions: &mut Vec<Action>) {
        // One at a time is enough: writes of different processes do not meet.
        let others_write = state.processes.iter().any(|other| other.write.is_some());
        match process.task {
            Task::AwaitLease(..) => actions.push(Action::Grant(id)),
            Task::Lead if process.grant.is_none() => actions.push(Action::NoticeTermOver(id)),
            Task::Revoke { .. } => actions.push(Action::Revoke(id)),
            _ => {}
        }
        match process.write {
            None if process.grant.is_some() && !others_write => actions.push(Action::Decide(id)),
            Some(Write {
                stage: WriteStage::Refused,
                ..
            }) => actions.push(Action::WriteRefused(id)),
            _ => {}
        }
    }

    fn outside_actions(state: &TermState, actions: &mut Vec<Action>) {
        for (id, process) in state.processes.iter().enumerate() {
            if process.has_leadership() {
                actions.push(Action::LeaseOver(id));
            }
            if process.session == Session::Alive {
                actions.extend([Action::Expire(id), Action::GiveUp(id), Action::Reattach(id)]);
            }
            if state
                .latches
                .iter()
                .any(|latch| latch.maker == id && !latch.of_present_session)
            {
                actions.push(Action::ExpireGivenUp(id));
            }
        }
        for place in 0..state.latches.len() {
            actions.extend([Action::OperatorDeletes(place), Action::OperatorSets(place)]);
        }
    }
}

impl Model for TermModel {
    type State = TermState;
    type Action = Action;

    fn init_states(&self) -> Vec<TermState> {
        vec![TermState {
            processes: [Process::STARTED; 3],
            latches: Vec::new(),
            written: Stamp::default(),
            newest_claim: Stamp::default(),
            newest_epoch: Stamp::default(),
            events_left: self.events,
            one_leader_excepted: false,
            faults: Faults::default(),
            clock: Stamp::default(),
        }]
    }

    fn actions(&self, state: &TermState, actions: &mut Vec<Action>) {
        for (id, process) in state.processes.iter().enumerate() {
            Self::local_actions(state, id, process, actions);
            match process.session {
                Session::Alive => {
                    Self::task_actions(state, id, process, actions);
                }
                Session::Expired => actions.push(Action::LearnExpired(id)),
                Session::None => actions.push(Action::NewSession(id)),
            }
        }
        if state.events_left > 0 {
            Self::outside_actions(state, actions);
        }
    }

    fn next_state(&self, last: &TermState, action: Action) -> Option<TermState> {
        let mut state = last.clone();
        if let Some(kind) = action.event() {
            if !self.kinds.contains(&kind) {
                return None;
            }
            state.events_left -= 1;
        }
        self.apply(&mut state, action)?;
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::all()
    }
}
