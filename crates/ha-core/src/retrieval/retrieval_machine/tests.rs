use proptest::prelude::*;

use super::*;
use crate::ids::LeaderSessionId;

fn leader(epoch: u64) -> LeaderInformation {
    LeaderInformation {
        leader_address: format!("http://{epoch}"),
        leader_session_id: LeaderSessionId::from_bits(0, epoch),
        epoch: Epoch::new(epoch),
    }
}

fn seen(epoch: u64, history: u128) -> LeaderObservation {
    LeaderObservation {
        leader: (epoch > 0).then(|| leader(epoch)),
        history: (history > 0).then(|| Uuid::from_u128(history)),
    }
}

fn observe(machine: &mut RetrievalMachine, epoch: u64) -> String {
    observe_in(machine, epoch, 1)
}

/// What is told, or `verify` when it is not told yet.
fn observe_in(machine: &mut RetrievalMachine, epoch: u64, history: u128) -> String {
    let told = text(machine.on_event(LeaderRetrievalEvent::Observed(seen(epoch, history))));
    if told.is_empty() && machine.is_verifying() {
        "verify".to_owned()
    } else {
        told
    }
}

/// Actions in short: the epoch told (`-` for nobody), or the kind of the error.
fn text(actions: Actions) -> String {
    let words: Vec<_> = actions
        .into_iter()
        .map(|action| match action {
            RetrievalAction::Notify(Some(leader)) => leader.epoch.to_string(),
            RetrievalAction::Notify(None) => "-".to_owned(),
            RetrievalAction::Report(error) => error.kind().to_string(),
        })
        .collect();
    words.join(" ")
}

#[test]
fn changes_are_told_and_duplicates_are_not() {
    let mut machine = RetrievalMachine::new(true);
    assert_eq!(observe(&mut machine, 0), "", "nobody is known at first");
    assert_eq!(observe(&mut machine, 1), "1");
    assert_eq!(observe(&mut machine, 1), "");
    assert_eq!(observe(&mut machine, 0), "-");
    assert_eq!(observe(&mut machine, 0), "");
    assert_eq!(observe(&mut machine, 2), "2");
    let mut moved = leader(2);
    moved.leader_address = "http://elsewhere".to_owned();
    let observation = LeaderObservation {
        leader: Some(moved),
        history: None,
    };
    assert_eq!(
        text(machine.on_event(LeaderRetrievalEvent::Observed(observation))),
        "2"
    );
}

#[test]
fn a_suspension_keeps_the_leader_or_not_by_policy_and_a_loss_never_does() {
    for (tolerate, on_suspended, on_reconnected) in [(true, "", ""), (false, "-", "1")] {
        let mut machine = RetrievalMachine::new(tolerate);
        observe(&mut machine, 1);
        assert_eq!(
            text(machine.on_event(LeaderRetrievalEvent::Suspended)),
            on_suspended
        );
        assert_eq!(observe(&mut machine, 1), on_reconnected);
        assert_eq!(text(machine.on_event(LeaderRetrievalEvent::Lost)), "-");
        assert_eq!(text(machine.on_event(LeaderRetrievalEvent::Lost)), "");
        assert_eq!(observe(&mut machine, 1), "1", "the same leader is told again");
    }
}

#[test]
fn an_older_leader_is_not_told_at_first_sight() {
    let mut machine = RetrievalMachine::new(true);
    observe(&mut machine, 5);
    assert_eq!(observe(&mut machine, 3), "verify");
    assert_eq!(text(machine.verified(seen(5, 1))), "", "a server lagged behind");
    assert_eq!(observe(&mut machine, 3), "verify");
    assert_eq!(observe(&mut machine, 6), "6");
    assert_eq!(text(machine.verified(seen(3, 1))), "", "an answer that came late");
}

#[test]
fn an_older_leader_that_is_still_there_was_restored_which_is_reported_once() {
    let mut machine = RetrievalMachine::new(true);
    observe(&mut machine, 5);
    assert_eq!(observe(&mut machine, 3), "verify");
    assert_eq!(text(machine.verified(seen(3, 1))), "conflict 3");
    assert_eq!(observe(&mut machine, 3), "");
    assert_eq!(observe(&mut machine, 4), "4", "the new history goes on");
}

#[test]
fn another_history_is_told_after_a_second_reading_whatever_its_epoch() {
    let mut machine = RetrievalMachine::new(true);
    observe(&mut machine, 5);
    assert_eq!(observe_in(&mut machine, 9, 2), "verify");
    assert_eq!(text(machine.verified(seen(9, 2))), "conflict 9");
    assert_eq!(observe_in(&mut machine, 10, 2), "10");
}

#[test]
fn nobody_leading_does_not_answer_the_second_reading() {
    let mut machine = RetrievalMachine::new(true);
    observe(&mut machine, 5);
    observe(&mut machine, 3);
    assert_eq!(observe(&mut machine, 0), "-");
    assert!(machine.is_verifying());
    assert_eq!(text(machine.verified(seen(0, 1))), "");
    assert_eq!(
        observe(&mut machine, 3),
        "verify",
        "the newest is not forgotten with the leader"
    );
}

#[test]
fn unreadable_information_is_nobody_and_one_error() {
    let mut machine = RetrievalMachine::new(true);
    observe(&mut machine, 1);
    let unreadable = || LeaderRetrievalEvent::Unreadable(Error::new(ErrorKind::Corrupt, "torn").at("/x"));
    assert_eq!(text(machine.on_event(unreadable())), "- corrupt");
    assert_eq!(text(machine.on_event(unreadable())), "");
    assert_eq!(observe(&mut machine, 1), "1");
    assert_eq!(text(machine.on_event(unreadable())), "- corrupt");
}

proptest! {
    /// Within one history no listener is ever told a leader older than one that it was told before, nor the
    /// same twice in a row (I3).
    #[test]
    fn never_back_and_never_twice(steps in prop::collection::vec((0u8..8, 0u64..6), 0..100), tolerate: bool) {
        let mut machine = RetrievalMachine::new(tolerate);
        // What is really there only grows; readings may lag behind it.
        let mut real = 1;
        let mut told = "-".to_owned();
        let mut newest = 0;
        for (step, lag) in steps {
            let actions = match step {
                0 => { real += 1; continue }
                1 => machine.on_event(LeaderRetrievalEvent::Suspended),
                2 => machine.on_event(LeaderRetrievalEvent::Lost),
                3 => machine.on_event(LeaderRetrievalEvent::Observed(seen(0, 1))),
                4 => machine.verified(seen(real, 1)),
                _ => machine.on_event(LeaderRetrievalEvent::Observed(seen(real - lag.min(real - 1), 1))),
            };
            for action in actions {
                prop_assert!(!matches!(action, RetrievalAction::Report(_)), "nothing was restored");
                if let RetrievalAction::Notify(leader) = &action {
                    let epoch = leader.as_ref().map_or(0, |leader| leader.epoch.get());
                    prop_assert!(epoch == 0 || epoch >= newest, "{epoch} after {newest}");
                    newest = newest.max(epoch);
                    let now = text(vec![action]);
                    prop_assert_ne!(&now, &told);
                    told = now;
                }
            }
        }
    }
}
