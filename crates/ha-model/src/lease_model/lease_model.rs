use ha_core::Result;
use stateright::{Model, Property};

use super::action::{Action, ProcessId};
use super::fault_kind::FaultKind;
use super::lease_state::LeaseState;
use super::link::Link;
use super::process::{Process, Run};
use super::properties;
use super::request::{Fate, RequestKind, Stage};
use super::scale::{ClockRate, Scale};
use super::session::Session;
use crate::weakening::Weakening;

/// Sessions, leases and time: I1 and I9.
#[derive(Clone, Debug)]
pub struct LeaseModel {
    /// The times.
    pub scale: Scale,
    /// How many faults may happen.
    pub faults: u8,
    /// Which faults may happen.
    pub kinds: Vec<FaultKind>,
    /// The clocks of the three processes, in the order of their latches: each of these is tried.
    pub clocks: Vec<[ClockRate; 3]>,
    /// The rule that is left out.
    pub weakening: Option<Weakening>,
}

impl LeaseModel {
    /// The protocol as it is, with session timeout `timeout` (in units) and clocks that differ by no more than
    /// the margin allows.
    ///
    /// # Errors
    /// `Invalid` for a timeout that leaves no lease.
    pub fn new(timeout: u8, faults: u8) -> Result<Self> {
        Ok(Self {
            scale: Scale::new(timeout)?,
            faults,
            kinds: FaultKind::ALL.to_vec(),
            clocks: vec![[ClockRate::Slow; 3], [ClockRate::Fast; 3]],
            weakening: None,
        })
    }

    /// The longest time that a follower's touches wait to be reported: pings come every half tick, and are held up
    /// for less than another half.
    fn longest_unreported(&self) -> u8 {
        match self.weakening {
            Some(Weakening::PingsHeldUp) => 2 * Scale::TICK - 1,
            _ => Scale::TICK - 1,
        }
    }

    /// Whether something happens before time goes on.
    fn is_urgent(&self, state: &LeaseState) -> bool {
        state.processes.iter().any(|process| {
            let connects = matches!(
                process.link,
                Link::Down { wait: 0, .. } | Link::WithoutSession { wait: 0 }
            );
            let expired = process
                .session
                .is_some_and(|session| session.must_expire(&self.scale));
            process.claims_now() || (process.is_running() && connects) || expired
        })
    }

    fn time_actions(&self, state: &LeaseState, actions: &mut Vec<Action>) {
        let mut choices = vec![([Fate::Usual; 3], state.faults_left)];
        let beating = state
            .processes
            .iter()
            .enumerate()
            .filter(|(_, process)| process.beats());
        for (id, _) in beating {
            let spoilt: Vec<_> = choices
                .iter()
                .filter(|(_, left)| *left > 0)
                .flat_map(|(fates, left)| faulty_fates().map(move |fate| (*fates, *left, fate)))
                .map(|(mut fates, left, fate)| {
                    fates[id] = fate;
                    (fates, left - 1)
                })
                .collect();
            choices.extend(spoilt);
        }
        actions.extend(choices.into_iter().map(|(fates, _)| Action::Time(fates)));
    }

    fn step_actions(&self, id: ProcessId, process: &Process, actions: &mut Vec<Action>) {
        if process
            .session
            .is_some_and(|session| session.may_expire(&self.scale))
        {
            actions.push(Action::Expire(id));
        }
        match process.run {
            Run::Running => {}
            Run::Paused => return actions.push(Action::Resume(id)),
            Run::Crashed => return,
        }
        if process.claims_now() {
            actions.push(Action::Claim(id, Fate::Usual));
        }
        if process
            .request
            .is_some_and(|request| request.stage != Stage::Unanswered)
        {
            actions.push(Action::Release(id));
        }
        match process.link {
            Link::Down { wait: 0, .. } => actions.push(Action::Reconnect(id)),
            Link::WithoutSession { wait: 0 } => actions.push(Action::NewSession(id)),
            Link::CutFollower | Link::OldLeader => {
                actions.extend([false, true].map(|waits| Action::Drop { of: id, waits }));
            }
            Link::Isolated { .. } => {
                actions.extend([false, true].map(|waits| Action::Heal { of: id, waits }))
            }
            Link::Down { .. } | Link::Leader | Link::Follower | Link::WithoutSession { .. } => {}
        }
    }

    fn fault_actions(state: &LeaseState, id: ProcessId, process: &Process, actions: &mut Vec<Action>) {
        if process.run == Run::Crashed {
            return;
        }
        if process.is_running() {
            actions.push(Action::Pause(id));
        }
        let crashed = state.processes.iter().filter(|other| other.run == Run::Crashed);
        if crashed.count() < 2 {
            actions.push(Action::Crash(id));
        }
        if process.claims_now() {
            actions.extend(faulty_fates().map(|fate| Action::Claim(id, fate)));
        }
        if process.link == Link::Follower {
            let touches = process.session.iter().flat_map(Session::touches);
            actions.extend(touches.map(|reported| Action::CutFollower { of: id, reported }));
        }
        if process.link.is_good() {
            for one_way in [false, true] {
                actions.push(Action::Isolate { of: id, one_way });
            }
        }
    }

    /// Sends a heartbeat if the process can.
    fn beat(&self, process: &mut Process, fate: Fate) {
        let proves = process.claimed && self.weakening != Some(Weakening::HeartbeatsAreSync);
        let kind = if proves {
            RequestKind::Proof
        } else {
            RequestKind::Sync
        };
        if process.beats() {
            process.send(kind, fate, &self.scale, self.weakening);
        }
    }

    fn pass_unit(&self, state: &mut LeaseState, fates: [Fate; 3]) {
        for (process, fate) in state.processes.iter_mut().zip(fates) {
            process.grow_older(&self.scale, self.longest_unreported());
            self.beat(process, fate);
        }
        // Every run can be made one that has all its faults, by stopping a process for no time.
        let faulty = state.faults_left > 0 || state.processes.iter().any(is_faulty);
        state.calm = if faulty {
            0
        } else if self.is_settled(state) {
            // From here on there is always one leader: that is asked sooner than I9 asks it.
            self.scale.recovery()
        } else {
            (state.calm + 1).min(self.scale.recovery())
        };
    }

    /// One process leads, and nothing that happened before will end that.
    fn is_settled(&self, state: &LeaseState) -> bool {
        let leaders = state
            .processes
            .iter()
            .filter(|process| process.has_leadership(&self.scale));
        let settled =
            |process: &Process| process.session.is_none() || (process.is_running() && process.link.is_good());
        leaders.filter(|leader| leader.lease.is_steady()).count() == 1 && state.processes.iter().all(settled)
    }

    fn cut_leader(state: &mut LeaseState) {
        for process in &mut state.processes {
            // Every session starts anew with the new leader.
            process.touch();
            if process.link == Link::Leader {
                process.link = Link::OldLeader;
            }
        }
    }

    fn change(&self, state: &mut LeaseState, id: ProcessId, change: impl FnOnce(&mut Process)) {
        if let Some(process) = state.processes.get_mut(id) {
            change(process);
        }
    }

    fn apply(&self, state: &mut LeaseState, action: Action) {
        let scale = &self.scale;
        match action {
            Action::Time(fates) => self.pass_unit(state, fates),
            Action::Claim(id, fate) => self.change(state, id, |process| {
                process.send(RequestKind::Claim, fate, scale, self.weakening);
            }),
            Action::Release(id) => self.change(state, id, |process| process.release(scale, self.weakening)),
            Action::Expire(id) => state.remove_session(id),
            Action::Reconnect(id) => self.change(state, id, |process| {
                if process.session.is_none() {
                    process.lose_session(scale);
                } else {
                    // The server asks the leader about the session, which touches it.
                    process.touch();
                    process.link = Link::Follower;
                }
            }),
            Action::NewSession(id) => {
                let rank = state.next_rank();
                self.change(state, id, |process| {
                    let standing = Process::standing_by(rank, Link::Follower, process.clock);
                    *process = standing;
                    // The latch's creation is a transaction.
                    process.lease.proof_answered(scale, process.clock, 0);
                });
            }
            Action::Pause(id) => self.change(state, id, |process| {
                process.run = Run::Paused;
            }),
            Action::Resume(id) => self.change(state, id, |process| {
                process.run = Run::Running;
                self.beat(process, Fate::Usual);
            }),
            Action::Crash(id) => self.change(state, id, Process::crash),
            Action::CutFollower { of, reported } => self.change(state, of, |process| {
                if let Some(session) = &mut process.session {
                    session.cut_off(reported);
                }
                process.link = Link::CutFollower;
            }),
            Action::CutZooKeeperLeader => Self::cut_leader(state),
            Action::Drop { of, waits } => {
                self.change(state, of, |process| process.disconnect(0, waits, scale))
            }
            Action::Isolate { of, one_way } => self.change(state, of, |process| {
                process.link = Link::Isolated { one_way, silent: 0 };
            }),
            Action::Heal { of, waits } => self.change(state, of, |process| {
                if let Link::Isolated { silent, .. } = process.link {
                    process.disconnect(silent, waits, scale);
                }
            }),
        }
    }
}

fn faulty_fates() -> impl Iterator<Item = Fate> {
    Fate::ALL.into_iter().filter(|fate| fate.fault().is_some())
}

fn is_faulty(process: &Process) -> bool {
    process.run == Run::Paused
        || process.link.is_faulty()
        || process
            .request
            .is_some_and(|request| request.stage != Stage::Unanswered)
}

impl Model for LeaseModel {
    type State = LeaseState;
    type Action = Action;

    fn init_states(&self) -> Vec<LeaseState> {
        let mut states = Vec::new();
        for clocks in &self.clocks {
            use Link::{Follower, Leader};
            for [first, second] in [[Leader, Follower], [Follower, Leader]] {
                let [a, b, c] = *clocks;
                states.push(LeaseState {
                    processes: [
                        Process::standing_by(0, first, a),
                        Process::standing_by(1, second, b),
                        Process::standing_by(2, Follower, c),
                    ],
                    faults_left: self.faults,
                    calm: 0,
                });
            }
        }
        states
    }

    fn actions(&self, state: &LeaseState, actions: &mut Vec<Action>) {
        let faults = state.faults_left > 0;
        for (id, process) in state.processes.iter().enumerate() {
            self.step_actions(id, process, actions);
            if faults {
                Self::fault_actions(state, id, process, actions);
            }
        }
        if faults && state.processes.iter().any(|process| process.link == Link::Leader) {
            actions.push(Action::CutZooKeeperLeader);
        }
        if !self.is_urgent(state) {
            self.time_actions(state, actions);
        }
    }

    fn next_state(&self, last: &LeaseState, action: Action) -> Option<LeaseState> {
        let mut state = last.clone();
        for kind in action.faults() {
            if !self.kinds.contains(&kind) {
                return None;
            }
            state.faults_left -= 1;
            state.calm = 0;
        }
        self.apply(&mut state, action);
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::all()
    }
}
