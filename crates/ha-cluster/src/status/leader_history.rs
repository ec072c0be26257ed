use std::time::Duration;

use ha_services::LeaderInformation;
use ha_services::environment::BootInstant;
use ha_services::ids::LeaderSessionId;

/// The leader of a component over time, as this process came to know it.
///
/// A span without leader that begins and ends between two looks of leader retrieval is not seen, and the time in which
/// a dead leader's session has not expired yet counts as led.
#[derive(Clone, Debug)]
pub struct LeaderHistory {
    leader: Option<LeaderInformation>,
    /// When there came to be a leader, or none.
    since: BootInstant,
    /// The last leader, and when it became known first.
    last: Option<(LeaderSessionId, BootInstant)>,
    changes: u64,
    /// Of the spans without leader that are over.
    without: Duration,
}

/// How a component is led at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderView {
    /// The leader.
    pub leader: Option<LeaderInformation>,
    /// How long the leader has been known, or none has been.
    pub age: Duration,
    /// How often another leader took the place of the one before it.
    pub changes: u64,
    /// For how long no leader was known, altogether.
    pub without: Duration,
}

impl LeaderHistory {
    /// No leader is known yet.
    pub fn new(now: BootInstant) -> Self {
        Self {
            leader: None,
            since: now,
            last: None,
            changes: 0,
            without: Duration::ZERO,
        }
    }

    /// This is the leader now.
    pub fn observe(&mut self, leader: Option<LeaderInformation>, now: BootInstant) {
        match (&self.leader, &leader) {
            (None, Some(_)) => {
                self.without += now.saturating_since(self.since);
                self.since = now;
            }
            (Some(_), None) => self.since = now,
            (None, None) | (Some(_), Some(_)) => {}
        }
        if let Some(new) = &leader {
            let session = new.leader_session_id;
            match self.last {
                Some((last, _)) if last == session => {}
                last => {
                    self.changes += u64::from(last.is_some());
                    self.last = Some((session, now));
                }
            }
        }
        self.leader = leader;
    }

    /// How it stands.
    pub fn view(&self, now: BootInstant) -> LeaderView {
        let span = now.saturating_since(self.since);
        let (age, without) = match (&self.leader, self.last) {
            (Some(_), Some((_, first_known))) => (now.saturating_since(first_known), self.without),
            _ => (span, self.without + span),
        };
        LeaderView {
            leader: self.leader.clone(),
            age,
            changes: self.changes,
            without,
        }
    }
}

#[cfg(test)]
mod tests {
    use ha_services::ids::Epoch;

    use super::*;

    fn leader(session: u64) -> Option<LeaderInformation> {
        Some(LeaderInformation {
            leader_address: "http://127.0.0.1:1".to_owned(),
            leader_session_id: LeaderSessionId::from_bits(0, session),
            epoch: Epoch::new(session),
        })
    }

    const fn at(seconds: u64) -> BootInstant {
        BootInstant::from_boot(Duration::from_secs(seconds))
    }

    fn told(history: &LeaderHistory, seconds: u64) -> (bool, u64, u64, u64) {
        let view = history.view(at(seconds));
        (
            view.leader.is_some(),
            view.age.as_secs(),
            view.changes,
            view.without.as_secs(),
        )
    }

    #[test]
    fn the_first_leader_is_no_change_and_the_time_before_it_counts() {
        let mut history = LeaderHistory::new(at(10));
        assert_eq!(told(&history, 13), (false, 3, 0, 3));
        history.observe(leader(1), at(15));
        assert_eq!(told(&history, 18), (true, 3, 0, 5));
        history.observe(None, at(20));
        assert_eq!(told(&history, 21), (false, 1, 0, 6));
        history.observe(leader(2), at(24));
        assert_eq!(told(&history, 25), (true, 1, 1, 9));
    }

    #[test]
    fn a_change_without_a_gap_is_one_too() {
        let mut history = LeaderHistory::new(at(0));
        for (session, second) in [(1, 0), (2, 1), (2, 2), (3, 3)] {
            history.observe(leader(session), at(second));
        }
        assert_eq!(told(&history, 5), (true, 2, 2, 0));
    }

    #[test]
    fn the_same_leader_seen_again_is_no_other_and_no_younger() {
        let mut history = LeaderHistory::new(at(0));
        history.observe(leader(1), at(0));
        history.observe(None, at(5));
        history.observe(None, at(6));
        history.observe(leader(1), at(7));
        assert_eq!(told(&history, 10), (true, 10, 0, 2));
    }
}
