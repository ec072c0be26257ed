use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::error::Error;
use crate::ids::Epoch;

mod information;

const TIMEOUT: Duration = Duration::from_secs(30);

fn at(millis: u64) -> BootInstant {
    BootInstant::from_boot(Duration::from_millis(millis))
}

fn session(number: u64) -> LeaderSessionId {
    LeaderSessionId::from_bits(0, number)
}

fn grant(number: u64) -> LeaderGrant {
    LeaderGrant {
        session: session(number),
        epoch: Epoch::new(number),
    }
}

fn machine() -> ElectionMachine {
    ElectionMachine::new(TIMEOUT)
}

#[test]
fn the_driver_is_told_of_a_revocation_when_all_have_returned() {
    let (a, b) = (ComponentId::dispatcher(), ComponentId::rest_server());
    let mut machine = machine();
    assert_eq!(machine.enter(a.clone()), Some(vec![ElectionAction::OpenDriver]));
    assert_eq!(machine.enter(b.clone()), Some(vec![]));
    assert_eq!(machine.enter(b.clone()), None);
    machine.granted(grant(1), at(0));
    let revokes = machine.revoked(session(1), at(1));
    assert_eq!(
        revokes,
        [
            ElectionAction::Revoke(a.clone(), 1),
            ElectionAction::Revoke(b.clone(), 1)
        ]
    );
    assert_eq!(machine.settled(&a, 1, at(2)), []);
    assert_eq!(machine.settled(&b, 0, at(2)), [], "of an earlier revocation");
    assert_eq!(
        machine.settled(&b, 1, at(2)),
        [ElectionAction::TellRevoked(session(1))]
    );
    assert_eq!(machine.wakeup(), None);
}

#[test]
fn the_driver_is_told_at_the_deadline_too_and_overdue_ones_are_reported_once() {
    let a = ComponentId::dispatcher();
    let mut machine = machine();
    machine.enter(a.clone());
    machine.granted(grant(1), at(0));
    machine.revoked(session(1), at(0));
    assert_eq!(machine.wakeup(), Some(at(30_000)));
    assert_eq!(machine.on_time(at(29_999)), []);
    assert_eq!(
        machine.on_time(at(30_000)),
        [
            ElectionAction::ReportOverdue(a.clone()),
            ElectionAction::TellRevoked(session(1))
        ]
    );
    assert_eq!(machine.on_time(at(90_000)), []);
    assert_eq!(machine.settled(&a, 1, at(90_000)), []);
}

#[test]
fn a_contender_that_enters_while_the_last_one_leaves_gets_a_driver_of_its_own() {
    let (a, b) = (ComponentId::dispatcher(), ComponentId::rest_server());
    let mut machine = machine();
    machine.enter(a.clone());
    machine.granted(grant(1), at(0));
    assert_eq!(
        machine.leave(&a, at(1)),
        [
            ElectionAction::EndLeadership,
            ElectionAction::Revoke(a.clone(), 1)
        ]
    );
    assert_eq!(machine.enter(b.clone()), Some(vec![]), "leadership was ended");
    assert_eq!(machine.granted(grant(2), at(2)), []);
    assert_eq!(machine.settled(&a, 1, at(3)), [ElectionAction::CloseDriver]);
    assert_eq!(
        machine.driver_closed(),
        [ElectionAction::Left(a), ElectionAction::OpenDriver]
    );
    assert_eq!(
        machine.granted(grant(3), at(4)),
        [ElectionAction::Grant(b, grant(3))]
    );
}

#[test]
fn a_component_that_published_nothing_is_not_withdrawn() {
    let (a, b) = (ComponentId::dispatcher(), ComponentId::rest_server());
    let mut machine = machine();
    machine.enter(a.clone());
    machine.enter(b);
    machine.granted(grant(1), at(0));
    machine.leave(&a, at(1));
    assert_eq!(machine.settled(&a, 1, at(2)), [ElectionAction::Left(a)]);
}

#[test]
fn a_publish_of_an_earlier_term_says_nothing_about_this_one() {
    let a = ComponentId::dispatcher();
    let mut machine = machine();
    machine.enter(a.clone());
    machine.granted(grant(1), at(0));
    assert!(machine.confirm(&a, session(1), "x".to_owned(), at(0)).is_some());
    machine.revoked(session(1), at(1));
    machine.settled(&a, 1, at(1));
    machine.granted(grant(2), at(2));
    assert!(
        machine.confirm(&a, session(1), "x".to_owned(), at(2)).is_none(),
        "stale"
    );
    assert!(machine.confirm(&a, session(2), "x".to_owned(), at(2)).is_some());
    let late = Err(Error::not_leader("fenced"));
    assert_eq!(machine.published(&a, 1, &late, at(3)), []);
    assert_eq!(machine.published(&a, 2, &Ok(()), at(4)), []);
}

#[derive(Clone, Debug)]
enum Step {
    Enter(usize),
    Leave(usize),
    Grant,
    Revoke,
    Settle(usize),
    Confirm(usize),
    Published(usize),
    Withdrawn(usize),
    Cleared(usize),
    Changed(usize),
    DriverClosed,
    Wait(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let who = 0..3usize;
    let step = prop_oneof![
        who.clone().prop_map(Step::Enter),
        who.clone().prop_map(Step::Leave),
        Just(Step::Grant),
        Just(Step::Revoke),
        who.clone().prop_map(Step::Settle),
        who.clone().prop_map(Step::Confirm),
        who.clone().prop_map(Step::Published),
        who.clone().prop_map(Step::Withdrawn),
        who.clone().prop_map(Step::Cleared),
        who.prop_map(Step::Changed),
        Just(Step::DriverClosed),
        (0u64..20_000).prop_map(Step::Wait),
    ];
    prop::collection::vec(step, 0..150)
}

/// Does what the machine says as the task would, and checks that it may be done.
#[derive(Default)]
struct World {
    now: u64,
    term: u64,
    leading: bool,
    /// The driver was told that the term is over, or is not asked to be.
    awaits_revoked: bool,
    open: bool,
    closing: bool,
    ended: bool,
    /// Present contenders: the round that they owe an answer to.
    present: BTreeMap<ComponentId, Option<u64>>,
    in_term: BTreeMap<ComponentId, LeaderSessionId>,
    in_flight: Vec<(ComponentId, u64)>,
    clearing: Vec<ComponentId>,
    withdrawing: Vec<ComponentId>,
    overdue: u32,
}

impl World {
    fn check(&mut self, actions: Vec<ElectionAction>) {
        for action in actions {
            match action {
                ElectionAction::OpenDriver => {
                    assert!(!self.open, "opened twice");
                    self.open = true;
                    self.ended = false;
                }
                ElectionAction::CloseDriver => {
                    assert!(
                        self.open && !self.closing && self.ended,
                        "closed before leadership was ended"
                    );
                    self.closing = true;
                }
                ElectionAction::EndLeadership => {
                    assert!(self.open && !self.closing);
                    self.ended = true;
                    self.leading = false;
                    self.awaits_revoked = false;
                }
                ElectionAction::TellRevoked(told) => {
                    assert!(
                        self.awaits_revoked && told == session(self.term),
                        "told of {told}"
                    );
                    self.awaits_revoked = false;
                }
                ElectionAction::Grant(component, granted) => {
                    assert!(self.leading && granted == grant(self.term) && !self.ended);
                    assert!(self.present.contains_key(&component));
                    let before = self.in_term.insert(component.clone(), granted.session);
                    assert_eq!(before, None, "{component} was not revoked before the next grant");
                }
                ElectionAction::Revoke(component, round) => {
                    self.in_term.remove(&component);
                    let owed = self.present.get_mut(&component).expect("it is there");
                    *owed = Some(round);
                }
                ElectionAction::Silence(component) => {
                    self.present.insert(component, None);
                }
                ElectionAction::ReportOverdue(_) => self.overdue += 1,
                ElectionAction::Publish(component, write, information) => {
                    assert!(self.leading, "published without leading");
                    assert_eq!(self.in_term.get(&component), Some(&information.leader_session_id));
                    assert!(!self.clearing.contains(&component), "it may be taken away");
                    self.in_flight.push((component, write));
                }
                ElectionAction::Withdraw(component) => {
                    assert!(self.leading && !self.ended);
                    assert_eq!(
                        self.present.get(&component),
                        Some(&None),
                        "its callbacks have not returned"
                    );
                    self.withdrawing.push(component);
                }
                ElectionAction::Clear(component) => {
                    assert!(self.leading && !self.ended);
                    assert!(!self.present.contains_key(&component), "another has entered");
                    assert!(!self.clearing.contains(&component), "twice at a time");
                    self.clearing.push(component);
                }
                ElectionAction::ReportFight(..) => {}
                ElectionAction::Left(component) => {
                    assert_eq!(
                        self.present.remove(&component),
                        Some(None),
                        "left with callbacks outstanding"
                    );
                    assert!(!self.in_term.contains_key(&component));
                }
            }
        }
    }

    fn step(&mut self, machine: &mut ElectionMachine, step: &Step, components: &[ComponentId]) {
        let now = at(self.now);
        let actions = match step {
            Step::Enter(who) => {
                let entered = machine.enter(components[*who].clone());
                assert_eq!(entered.is_none(), self.present.contains_key(&components[*who]));
                self.present.entry(components[*who].clone()).or_insert(None);
                entered.unwrap_or_default()
            }
            Step::Leave(who) => machine.leave(&components[*who], now),
            // A driver grants nothing before it was told that the last term is over.
            Step::Grant if self.open && !self.leading && !self.awaits_revoked && !self.ended => {
                self.term += 1;
                self.leading = true;
                machine.granted(grant(self.term), now)
            }
            Step::Revoke if self.leading => {
                self.leading = false;
                self.awaits_revoked = true;
                machine.revoked(session(self.term), now)
            }
            Step::Settle(who) => match self.present.get_mut(&components[*who]).and_then(Option::take) {
                Some(round) => machine.settled(&components[*who], round, now),
                None => machine.settled(&components[*who], u64::MAX, now),
            },
            Step::Confirm(who) => {
                let component = &components[*who];
                let confirmed = machine.confirm(component, session(self.term), "x".to_owned(), now);
                assert!(confirmed.is_none() || self.in_term.contains_key(component));
                confirmed.map(|(_, actions)| actions).unwrap_or_default()
            }
            Step::Published(who) => {
                let found = self.in_flight.iter().position(|(of, _)| *of == components[*who]);
                let Some(found) = found else { return };
                let (component, write) = self.in_flight.remove(found);
                machine.published(&component, write, &Ok(()), now)
            }
            Step::Withdrawn(who) => {
                let found = self.withdrawing.iter().position(|of| *of == components[*who]);
                let Some(found) = found else { return };
                machine.withdrawn(&self.withdrawing.remove(found), self.now.is_multiple_of(2), now)
            }
            Step::Cleared(who) => {
                let found = self.clearing.iter().position(|of| *of == components[*who]);
                let Some(found) = found else { return };
                machine.cleared(&self.clearing.remove(found), self.now.is_multiple_of(2), now)
            }
            Step::Changed(who) => machine.information_changed(&components[*who], None, now),
            Step::DriverClosed if self.closing => {
                (self.open, self.closing, self.leading, self.awaits_revoked) = (false, false, false, false);
                machine.driver_closed()
            }
            Step::Wait(millis) => {
                self.now += millis;
                machine.on_time(at(self.now))
            }
            Step::Grant | Step::Revoke | Step::DriverClosed => return,
        };
        self.check(actions);
    }
}

proptest! {
    /// Whatever happens in whatever order, every action is allowed when it is asked for (I4, design §4), and the
    /// election always comes to an end.
    #[test]
    fn every_action_is_allowed_and_leaving_always_ends(steps in steps()) {
        let components =
            [ComponentId::dispatcher(), ComponentId::resource_manager(), ComponentId::rest_server()];
        let mut machine = machine();
        let mut world = World::default();
        for step in &steps {
            world.step(&mut machine, step, &components);
        }
        let actions = machine.leave_all(at(world.now));
        world.check(actions);
        for _ in 0..4 {
            for who in 0..components.len() {
                world.step(&mut machine, &Step::Settle(who), &components);
                world.step(&mut machine, &Step::Withdrawn(who), &components);
            }
            world.step(&mut machine, &Step::DriverClosed, &components);
        }
        prop_assert!(machine.is_idle());
        prop_assert!(world.present.is_empty());
        prop_assert_eq!(machine.wakeup(), None);
    }
}
