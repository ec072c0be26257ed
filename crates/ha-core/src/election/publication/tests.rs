use super::*;
use crate::error::Error;
use crate::ids::{Epoch, LeaderSessionId};

/// The number of every write: here only one is in flight at a time.
const WRITE: u64 = 1;

fn at(millis: u64) -> BootInstant {
    BootInstant::from_boot(Duration::from_millis(millis))
}

fn information(address: &str) -> LeaderInformation {
    LeaderInformation {
        leader_address: address.to_owned(),
        leader_session_id: LeaderSessionId::from_bits(0, 1),
        epoch: Epoch::new(1),
    }
}

/// A publication whose first write was made at 0.
fn published(address: &str) -> Publication {
    let mut publication = Publication::default();
    publication.want(information(address), at(0));
    assert_eq!(publication.poll(WRITE, at(0)), Some(information(address)));
    publication.finished(WRITE, &Ok(()), at(0));
    assert!(!publication.observed(Some(&information(address)), at(1)));
    assert_eq!(publication.wakeup(), None);
    publication
}

#[test]
fn nothing_is_written_before_confirmation() {
    let mut publication = Publication::default();
    assert!(!publication.observed(None, at(0)));
    assert!(!publication.observed(Some(&information("other")), at(1)));
    assert_eq!(publication.poll(WRITE, at(10_000)), None);
}

#[test]
fn a_change_by_another_is_written_again_at_most_once_a_second() {
    let mut publication = published("mine");
    assert!(!publication.observed(None, at(200)));
    assert_eq!(publication.poll(WRITE, at(999)), None);
    assert_eq!(publication.wakeup(), Some(at(1_000)));
    assert_eq!(publication.poll(WRITE, at(1_000)), Some(information("mine")));
    publication.finished(WRITE, &Ok(()), at(1_010));
    assert!(!publication.observed(Some(&information("mine")), at(1_020)));
    assert!(!publication.observed(Some(&information("foreign")), at(9_000)));
    assert_eq!(
        publication.poll(WRITE, at(9_000)),
        Some(information("mine")),
        "the first one at once"
    );
}

#[test]
fn equal_information_is_not_written_again() {
    let mut publication = published("mine");
    assert!(!publication.observed(Some(&information("mine")), at(5_000)));
    assert_eq!(publication.wakeup(), None);
}

#[test]
fn a_reading_from_before_the_write_costs_no_second_write() {
    let mut publication = Publication::default();
    publication.want(information("mine"), at(0));
    assert!(publication.poll(WRITE, at(0)).is_some());
    assert!(!publication.observed(None, at(1)));
    publication.finished(WRITE, &Ok(()), at(2));
    assert!(!publication.observed(Some(&information("mine")), at(3)));
    assert_eq!(publication.wakeup(), None);
}

#[test]
fn a_change_right_after_the_write_is_not_lost() {
    let mut publication = Publication::default();
    publication.want(information("mine"), at(0));
    assert!(publication.poll(WRITE, at(0)).is_some());
    assert!(!publication.observed(None, at(1)));
    publication.finished(WRITE, &Ok(()), at(2));
    assert_eq!(publication.poll(WRITE, at(1_001)), Some(information("mine")));
}

#[test]
fn another_address_confirmed_meanwhile_is_written_after_the_first() {
    let mut publication = Publication::default();
    publication.want(information("a"), at(0));
    assert_eq!(publication.poll(WRITE, at(0)), Some(information("a")));
    publication.want(information("b"), at(1));
    assert_eq!(publication.poll(WRITE, at(1)), None, "one at a time");
    publication.finished(WRITE, &Ok(()), at(2));
    assert_eq!(publication.poll(WRITE, at(2)), Some(information("b")));
}

#[test]
fn a_lasting_fight_is_told_once_until_there_is_peace() {
    let mut publication = published("mine");
    let mut told = 0;
    let mut now = 0;
    let fight = |publication: &mut Publication, now: &mut u64, rounds: u32| {
        let mut told = 0;
        for _ in 0..rounds {
            *now += 2_000;
            told += u32::from(publication.observed(None, at(*now)));
            assert!(publication.poll(WRITE, at(*now)).is_some());
            publication.finished(WRITE, &Ok(()), at(*now));
            assert!(!publication.observed(Some(&information("mine")), at(*now)));
        }
        told
    };
    told += fight(&mut publication, &mut now, 4);
    assert_eq!(told, 0);
    told += fight(&mut publication, &mut now, 50);
    assert_eq!(told, 1);
    now += 60_000;
    told += fight(&mut publication, &mut now, 5);
    assert_eq!(told, 2);
}

#[test]
fn an_unavailable_write_is_repeated_with_growing_waits() {
    let mut publication = Publication::default();
    publication.want(information("mine"), at(0));
    let mut now = at(0);
    let mut waits = Vec::new();
    for _ in 0..6 {
        assert!(publication.poll(WRITE, now).is_some());
        publication.finished(WRITE, &Err(Error::new(ErrorKind::Unavailable, "down")), now);
        let due = publication.wakeup().unwrap();
        waits.push(due.saturating_since(now).as_millis());
        now = due;
    }
    assert_eq!(waits, [100, 200, 400, 800, 1_000, 1_000]);
}

#[test]
fn a_refused_address_leaves_the_one_before() {
    let mut publication = published("mine");
    publication.want(information("too long"), at(10));
    assert!(publication.poll(WRITE, at(10)).is_some());
    publication.finished(WRITE, &Err(Error::invalid("too long")), at(11));
    assert_eq!(publication.wakeup(), None);
    assert!(!publication.observed(None, at(5_000)));
    assert_eq!(publication.poll(WRITE, at(5_000)), Some(information("mine")));
}

#[test]
fn a_fenced_write_ends_publishing() {
    let mut publication = published("mine");
    publication.want(information("other"), at(10));
    assert!(publication.poll(WRITE, at(10)).is_some());
    publication.finished(WRITE, &Err(Error::not_leader("fenced")), at(11));
    assert!(!publication.observed(None, at(12)));
    assert_eq!(publication.poll(WRITE, at(60_000)), None);
}
