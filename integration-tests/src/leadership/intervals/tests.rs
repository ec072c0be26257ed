use std::time::Duration;

use super::*;

fn at(millis: u64) -> BootInstant {
    BootInstant::from_boot(Duration::from_millis(millis))
}

/// Sampled every millisecond: it began in the millisecond before `begin`, and ended in the one after `end`.
fn term(process: &str, term: &str, begin: u64, end: u64) -> [Line; 2] {
    let line = |edge| Line {
        process: process.to_owned(),
        component: "dispatcher".to_owned(),
        term: term.to_owned(),
        edge,
    };
    let between = |earliest, latest| Between {
        earliest: at(earliest),
        latest: at(latest),
    };
    [
        line(Edge::Begin(between(begin - 1, begin))),
        line(Edge::End(between(end, end + 1))),
    ]
}

fn intervals(terms: &[[Line; 2]]) -> Intervals {
    Intervals::of_lines(terms.iter().flatten().cloned().collect()).unwrap()
}

#[test]
fn intervals_with_a_gap_pass_and_the_smallest_distance_is_told() {
    let judged = intervals(&[
        term("a", "1", 10, 20),
        term("b", "2", 50, 60),
        term("a", "3", 65, 70),
        term("a", "4", 71, 80),
    ]);
    judged.check_no_overlap().unwrap();
    assert_eq!(judged.leaders_of("dispatcher"), ["a", "b", "a", "a"]);
    let hand_overs = judged.hand_overs();
    assert_eq!(hand_overs.len(), 2);
    let closest = judged.closest_hand_over().unwrap();
    assert_eq!(closest.distance_millis(), 5.0);
    assert_eq!(closest.least_distance_millis(), Some(3.0));
    assert_eq!((closest.from.term.as_str(), closest.to.term.as_str()), ("2", "3"));
}

#[test]
fn an_overlap_is_caught_and_both_processes_are_named() {
    let judged = intervals(&[term("a", "1", 10, 20), term("b", "2", 19, 60)]);
    let error = judged.check_no_overlap().unwrap_err().to_string();
    assert!(error.contains("a led") && error.contains("b led"), "{error}");
    assert_eq!(judged.closest_hand_over().unwrap().distance_millis(), -1.0);
}

#[test]
fn intervals_that_touch_overlap() {
    let judged = intervals(&[term("a", "1", 10, 20), term("b", "2", 20, 60)]);
    assert!(judged.check_no_overlap().is_err());
}

#[test]
fn an_interval_inside_another_is_caught() {
    let judged = intervals(&[
        term("a", "1", 10, 100),
        term("b", "2", 20, 30),
        term("a", "3", 101, 110),
    ]);
    assert!(judged.check_no_overlap().is_err());
    // Also where others ended in between: the one that ended last counts.
    let judged = intervals(&[
        term("a", "1", 10, 100),
        term("b", "2", 20, 30),
        term("c", "3", 90, 110),
    ]);
    assert_eq!(judged.closest_hand_over().unwrap().distance_millis(), -80.0);
    assert_eq!(judged.hand_overs()[1].distance_millis(), -10.0);
}

#[test]
fn a_single_yes_inside_another_interval_is_caught() {
    // Asked at 40, answered at 45: it held somewhere in between.
    let mut once = term("b", "2", 45, 40);
    once[0].edge = Edge::Begin(Between {
        earliest: at(39),
        latest: at(45),
    });
    assert!(
        intervals(&[term("a", "1", 10, 50), once.clone()])
            .check_no_overlap()
            .is_err()
    );
    // It may have held after the other one ended: that is not sure.
    intervals(&[term("a", "1", 10, 43), once])
        .check_no_overlap()
        .unwrap();
}

#[test]
fn one_process_may_lead_twice_but_no_term_twice() {
    intervals(&[term("a", "1", 10, 20), term("a", "2", 20, 30)])
        .check_no_overlap()
        .unwrap();
    let lines = [term("a", "1", 10, 20), term("a", "1", 30, 40)];
    let error = Intervals::of_lines(lines.concat()).unwrap_err().to_string();
    assert!(error.contains("held again"), "{error}");
}

#[test]
fn a_killed_process_led_until_its_last_note() {
    let mut killed = term("a", "1", 10, 20);
    killed[1].edge = Edge::Holds(at(50));
    let judged = intervals(&[killed.clone(), term("b", "2", 55, 60)]);
    judged.check_no_overlap().unwrap();
    let hand_over = judged.closest_hand_over().unwrap();
    assert_eq!(hand_over.distance_millis(), 5.0);
    assert_eq!(hand_over.least_distance_millis(), None);
    assert!(
        intervals(&[killed, term("b", "2", 45, 60)])
            .check_no_overlap()
            .is_err()
    );
}
