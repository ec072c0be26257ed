use std::fmt;

use super::scale::Scale;

/// A session as ZooKeeper's leader sees it, with the latch that it owns.
///
/// A follower reports its sessions' touches with its answers to the leader's pings. Pings come every half tick
/// and are held up for less than another half, so a touch is reported less than a tick after it reached the
/// follower. When exactly is left open until it matters, which is when the link is cut or the session expires:
/// then every choice is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Session {
    /// How many latches stand before its own.
    pub rank: u8,
    /// Units since the newest touch that the leader knows of for certain.
    known: u8,
    /// A later touch reached the follower so many units ago; the leader may know of it. By age.
    reached: [bool; Session::HELD_UP],
}

impl Session {
    /// For how long touches may stay with the follower where pings are held up beyond what I1 allows.
    const HELD_UP: usize = 4;

    /// A session that was created just now.
    pub const fn created(rank: u8) -> Self {
        Self {
            rank,
            known: 0,
            reached: [false; Self::HELD_UP],
        }
    }

    /// The leader hears of a touch.
    pub fn touch(&mut self) {
        *self = Self::created(self.rank);
    }

    /// A touch reaches the follower.
    pub fn reach_follower(&mut self) {
        let [now, ..] = &mut self.reached;
        *now = true;
    }

    /// The ages of touches of which the newest that the leader knows of may be, newest first.
    pub fn touches(&self) -> impl Iterator<Item = u8> {
        let reached = (0..).zip(self.reached).filter(|(_, reached)| *reached);
        reached.map(|(age, _)| age).chain([self.known])
    }

    /// The follower is cut off; the newest touch that the leader knows of is `known` units old.
    pub fn cut_off(&mut self, known: u8) {
        self.touch();
        self.known = known;
    }

    /// A unit passes. Touches that reached the follower more than `longest` units ago are known for certain.
    pub fn grow_older(&mut self, longest: u8) {
        let reached = std::mem::replace(&mut self.reached, [false; Self::HELD_UP]);
        self.known += 1;
        for (age, _) in (1..).zip(reached).filter(|(_, reached)| *reached) {
            match self.reached.get_mut(usize::from(age)) {
                Some(slot) if age <= longest => *slot = true,
                _ => self.known = self.known.min(age),
            }
        }
    }

    /// The leader may expire it now.
    pub const fn may_expire(&self, scale: &Scale) -> bool {
        self.known >= scale.timeout()
    }

    /// The leader has to have expired it now: it expires sessions in batches of a tick, rounded up, and may have
    /// heard of the newest touch a tick late.
    pub const fn must_expire(&self, scale: &Scale) -> bool {
        self.known >= scale.timeout() + 2 * Scale::TICK
    }
}

impl fmt::Display for Session {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(text, "latch {}, last touched {} ago", self.rank, self.known)?;
        if self.reached.contains(&true) {
            write!(text, " or later")?;
        }
        Ok(())
    }
}
