use std::cell::RefCell;
use std::collections::HashMap;

use ha_core::lease::Lease;

use super::scale::{ClockRate, Scale};

/// Longest T in units, and so the number of ages at which a heartbeat can still matter.
const AGES: u8 = 12;
/// No heartbeat of this age.
const NONE: u8 = u8::MAX;

/// What a lease is told, with the age of the send time.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Told {
    Heartbeat(u8),
    Proof(u8),
}

/// What a [`Lease`] remembers, as ages in units. The rules are the product's: an image is turned into a lease,
/// that is told or asked, and turned back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseImage {
    /// The age of the newest heartbeat that counts.
    counted: u8,
    /// By the age of the send time: the age of the answer of a heartbeat that does not count yet.
    uncounted: [u8; AGES as usize],
}

impl LeaseImage {
    /// No lease: that of a session that was attached to again.
    pub const NONE: Self = Self {
        counted: NONE,
        uncounted: [NONE; AGES as usize],
    };

    /// The lease of a session whose client called `connect` just now.
    pub const CREATED: Self = Self {
        counted: 0,
        uncounted: [NONE; AGES as usize],
    };

    /// A lease whose newest heartbeat that counts is `age` units old, and nothing else.
    pub const fn counted_at(age: u8) -> Self {
        Self {
            counted: age,
            uncounted: [NONE; AGES as usize],
        }
    }

    /// Whether the lease holds now.
    pub const fn holds(&self, scale: &Scale, clock: ClockRate) -> bool {
        scale.holds(clock, self.counted)
    }

    /// Whether it is renewed by a heartbeat each unit, each answered at once, and none is missing.
    pub fn is_steady(&self) -> bool {
        self.counted <= Scale::TICK + 1
            && (0..self.counted)
                .zip(self.uncounted)
                .all(|(sent, answered)| sent == answered)
    }

    /// A request that was sent `sent` units ago is answered now.
    pub fn heartbeat_answered(&mut self, scale: &Scale, clock: ClockRate, sent: u8) {
        self.told(scale, clock, Told::Heartbeat(sent));
    }

    /// A transaction that was sent `sent` units ago is answered now.
    pub fn proof_answered(&mut self, scale: &Scale, clock: ClockRate, sent: u8) {
        self.told(scale, clock, Told::Proof(sent));
    }

    /// A unit passes. What is too old to make a lease that holds is forgotten.
    pub fn grow_older(&mut self, scale: &Scale, clock: ClockRate) {
        let grown = |age: u8, sent: u8| {
            let useful = age != NONE && scale.holds(clock, sent + 1);
            if useful { age + 1 } else { NONE }
        };
        self.counted = if self.counted == NONE {
            NONE
        } else {
            grown(self.counted, self.counted)
        };
        let younger = std::mem::replace(&mut self.uncounted, [NONE; AGES as usize]);
        let slots = self.uncounted.iter_mut().skip(1);
        for ((sent, answered), slot) in (0..AGES).zip(younger).zip(slots) {
            *slot = grown(answered, sent);
        }
    }

    /// Forgets heartbeats that cannot matter any more, given that no proof that is yet to be answered was sent
    /// before `sent` units ago: each such proof counts the newest one that counts already, or a newer one.
    pub fn forget_dominated(&mut self, scale: &Scale, clock: ClockRate, sent: u8) {
        let mut dominated = false;
        for (age, answered) in (0..AGES).zip(&mut self.uncounted) {
            dominated |= age >= self.counted;
            if dominated {
                *answered = NONE;
            }
            dominated |= *answered != NONE && *answered >= sent + scale.tick_of(clock);
        }
    }

    fn told(&mut self, scale: &Scale, clock: ClockRate, told: Told) {
        thread_local! {
            /// What leases came to, so that each is asked once.
            static LEASES: RefCell<HashMap<(u8, ClockRate, LeaseImage, Told), LeaseImage>> = RefCell::default();
        }
        let key = (scale.timeout(), clock, *self, told);
        *self = LEASES.with_borrow_mut(|leases| {
            *leases
                .entry(key)
                .or_insert_with(|| self.after(scale, clock, told))
        });
    }

    /// What the product's lease comes to.
    fn after(&self, scale: &Scale, clock: ClockRate, told: Told) -> Self {
        let mut lease = self.anchor(scale, clock);
        for (sent, answered) in (0..AGES).zip(self.uncounted).rev() {
            if answered != NONE {
                lease.heartbeat_answered(clock.reading(sent), clock.reading(answered));
            }
        }
        match told {
            Told::Heartbeat(sent) => lease.heartbeat_answered(clock.reading(sent), clock.now()),
            Told::Proof(sent) => lease.proof_answered(clock.reading(sent), clock.now()),
        }
        Self::of(&lease, scale, clock)
    }

    fn anchor(&self, scale: &Scale, clock: ClockRate) -> Lease {
        match self.counted {
            NONE => Lease::of_reattached_session(scale.terms()),
            age => Lease::of_created_session(scale.terms(), clock.reading(age)),
        }
    }

    fn of(lease: &Lease, scale: &Scale, clock: ClockRate) -> Self {
        let mut image = Self::NONE;
        if let Some(end) = lease.end().filter(|end| *end > clock.now()) {
            image.counted = clock.age(end.saturating_sub(scale.terms().duration()));
        }
        for (sent, answered) in lease.uncounted() {
            if let Some(slot) = image.uncounted.get_mut(usize::from(clock.age(sent))) {
                *slot = clock.age(answered);
            }
        }
        image
    }
}
