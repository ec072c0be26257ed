//! What a contender published does not outlive it.

use super::*;

/// Two components in term 1; the first has confirmed it, and is being published.
fn publishing() -> (ComponentId, ComponentId, ElectionMachine) {
    let (a, b) = (ComponentId::dispatcher(), ComponentId::rest_server());
    let mut machine = machine();
    machine.enter(a.clone());
    machine.enter(b.clone());
    machine.granted(grant(1), at(0));
    let (information, actions) = machine.confirm(&a, session(1), "x".to_owned(), at(0)).unwrap();
    assert_eq!(actions, [ElectionAction::Publish(a.clone(), information)]);
    (a, b, machine)
}

#[test]
fn information_is_withdrawn_after_its_write_has_ended() {
    let (a, _, mut machine) = publishing();
    machine.leave(&a, at(1));
    assert_eq!(machine.settled(&a, 1, at(2)), [], "the write is under way");
    assert_eq!(
        machine.published(&a, session(1), &Ok(()), at(3)),
        [ElectionAction::Withdraw(a.clone())]
    );
    assert_eq!(machine.withdrawn(&a, true, at(4)), [ElectionAction::Left(a)]);
}

#[test]
fn a_write_that_ends_after_its_contender_has_left_is_cleared() {
    let (a, _, mut machine) = publishing();
    machine.leave(&a, at(1));
    machine.settled(&a, 1, at(2));
    assert_eq!(machine.wakeup(), Some(at(30_001)));
    assert_eq!(machine.on_time(at(30_001)), [ElectionAction::Withdraw(a.clone())]);
    assert_eq!(
        machine.withdrawn(&a, true, at(30_002)),
        [ElectionAction::Left(a.clone())]
    );
    assert_eq!(
        machine.published(&a, session(1), &Ok(()), at(30_003)),
        [ElectionAction::Clear(a)]
    );
}

#[test]
fn information_of_an_earlier_term_is_withdrawn_too() {
    let (a, b, mut machine) = publishing();
    machine.published(&a, session(1), &Ok(()), at(1));
    machine.revoked(session(1), at(2));
    machine.settled(&a, 1, at(2));
    machine.settled(&b, 1, at(2));
    machine.granted(grant(2), at(3));
    machine.leave(&a, at(4));
    assert_eq!(machine.settled(&a, 2, at(5)), [ElectionAction::Withdraw(a)]);
}

#[test]
fn what_a_contender_left_behind_between_terms_is_removed_in_the_next_one() {
    let (a, b, mut machine) = publishing();
    machine.published(&a, session(1), &Ok(()), at(1));
    machine.revoked(session(1), at(2));
    machine.settled(&b, 1, at(2));
    machine.leave(&a, at(3));
    let left = machine.settled(&a, 2, at(4));
    assert_eq!(
        left,
        [
            ElectionAction::Left(a.clone()),
            ElectionAction::TellRevoked(session(1))
        ]
    );
    let both = |number| {
        [
            ElectionAction::Grant(b.clone(), grant(number)),
            ElectionAction::Clear(a.clone()),
        ]
    };
    assert_eq!(machine.granted(grant(2), at(5)), both(2));
    // It could not be removed: once more, until it is.
    machine.revoked(session(2), at(6));
    assert_eq!(machine.granted(grant(3), at(7)), both(3));
    machine.cleared(&a);
    machine.revoked(session(3), at(8));
    assert_eq!(
        machine.granted(grant(4), at(9)),
        [ElectionAction::Grant(b.clone(), grant(4))]
    );
}
