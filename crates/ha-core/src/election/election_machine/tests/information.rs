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
    assert_eq!(actions, [ElectionAction::Publish(a.clone(), 1, information)]);
    (a, b, machine)
}

#[test]
fn information_is_withdrawn_after_its_write_has_ended() {
    let (a, _, mut machine) = publishing();
    machine.leave(&a, at(1));
    assert_eq!(machine.settled(&a, 1, at(2)), [], "the write is under way");
    assert_eq!(
        machine.published(&a, 1, &Ok(()), at(3)),
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
        machine.published(&a, 1, &Ok(()), at(30_003)),
        [ElectionAction::Clear(a)]
    );
}

#[test]
fn information_of_an_earlier_term_is_withdrawn_too() {
    let (a, b, mut machine) = publishing();
    machine.published(&a, 1, &Ok(()), at(1));
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
    machine.published(&a, 1, &Ok(()), at(1));
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
    assert_eq!(machine.cleared(&a, false, at(6)), [], "not without leading");
    assert_eq!(machine.granted(grant(3), at(7)), both(3));
    assert_eq!(machine.cleared(&a, true, at(7)), []);
    machine.revoked(session(3), at(8));
    assert_eq!(
        machine.granted(grant(4), at(9)),
        [ElectionAction::Grant(b.clone(), grant(4))]
    );
}

/// The first of two components has published, and has left without what it published having been removed, at 10.
fn left_behind() -> (ComponentId, ElectionMachine) {
    let (a, _, mut machine) = publishing();
    machine.published(&a, 1, &Ok(()), at(1));
    machine.leave(&a, at(2));
    machine.settled(&a, 1, at(3));
    assert_eq!(
        machine.withdrawn(&a, false, at(10)),
        [ElectionAction::Left(a.clone())]
    );
    (a, machine)
}

#[test]
fn a_removal_that_failed_is_repeated_in_the_same_term_until_it_has_succeeded() {
    let (a, mut machine) = left_behind();
    let mut now = 10;
    for wait in [100, 200, 400] {
        assert_eq!(machine.wakeup(), Some(at(now + wait)));
        assert_eq!(machine.on_time(at(now + wait - 1)), []);
        now += wait;
        assert_eq!(machine.on_time(at(now)), [ElectionAction::Clear(a.clone())]);
        assert_eq!(machine.wakeup(), None, "one at a time");
        assert_eq!(machine.cleared(&a, false, at(now)), []);
    }
    now += 800;
    assert_eq!(machine.on_time(at(now)), [ElectionAction::Clear(a.clone())]);
    assert_eq!(machine.cleared(&a, true, at(now)), []);
    assert_eq!(machine.wakeup(), None);
    machine.revoked(session(1), at(now));
    let actions = machine.granted(grant(2), at(now));
    assert!(!actions.contains(&ElectionAction::Clear(a)), "{actions:?}");
}

#[test]
fn nothing_is_removed_between_terms() {
    let (a, mut machine) = left_behind();
    let b = ComponentId::rest_server();
    machine.revoked(session(1), at(20));
    machine.settled(&b, 2, at(20));
    assert_eq!(machine.wakeup(), None);
    assert_eq!(machine.on_time(at(60_000)), []);
    assert_eq!(
        machine.granted(grant(2), at(60_000)),
        [ElectionAction::Grant(b, grant(2)), ElectionAction::Clear(a)]
    );
}

#[test]
fn the_next_contender_of_a_component_publishes_over_what_was_left_behind() {
    let (a, mut machine) = left_behind();
    machine.enter(a.clone());
    assert_eq!(machine.wakeup(), None, "nothing is removed any more");
    let (information, actions) = machine.confirm(&a, session(1), "y".to_owned(), at(11)).unwrap();
    assert_eq!(actions, [ElectionAction::Publish(a.clone(), 2, information)]);
    machine.published(&a, 2, &Ok(()), at(12));
    machine.leave(&a, at(13));
    let round = 2;
    assert_eq!(machine.settled(&a, round, at(13)), [ElectionAction::Withdraw(a)]);
}

#[test]
fn the_next_contender_publishes_nothing_while_the_removal_of_the_former_one_is_in_flight() {
    for removed in [true, false] {
        let (a, mut machine) = left_behind();
        assert_eq!(machine.on_time(at(110)), [ElectionAction::Clear(a.clone())]);
        machine.enter(a.clone());
        let (information, actions) = machine.confirm(&a, session(1), "y".to_owned(), at(111)).unwrap();
        assert_eq!(actions, [], "it could be taken away");
        assert_eq!(machine.wakeup(), None);
        assert_eq!(machine.on_time(at(60_000)), []);
        assert_eq!(
            machine.cleared(&a, removed, at(60_001)),
            [ElectionAction::Publish(a, 2, information)]
        );
    }
}

#[test]
fn a_write_of_the_former_contender_that_ends_late_is_not_taken_for_one_of_the_next() {
    let (a, _, mut machine) = publishing();
    machine.leave(&a, at(1));
    machine.settled(&a, 1, at(2));
    machine.on_time(at(30_001));
    machine.withdrawn(&a, true, at(30_002));
    machine.enter(a.clone());
    let (information, actions) = machine
        .confirm(&a, session(1), "y".to_owned(), at(30_003))
        .unwrap();
    assert_eq!(
        actions,
        [ElectionAction::Publish(a.clone(), 2, information.clone())]
    );
    assert_eq!(machine.published(&a, 1, &Ok(()), at(30_004)), []);
    let lost = Err(Error::new(crate::error::ErrorKind::Unavailable, "lost"));
    assert_eq!(machine.published(&a, 2, &lost, at(30_005)), []);
    assert_eq!(
        machine.on_time(at(30_105)),
        [ElectionAction::Publish(a.clone(), 3, information)]
    );
    machine.leave(&a, at(30_106));
    assert_eq!(
        machine.settled(&a, 2, at(30_107)),
        [],
        "the third write is under way"
    );
    assert_eq!(
        machine.published(&a, 3, &Ok(()), at(30_108)),
        [ElectionAction::Withdraw(a)]
    );
}
