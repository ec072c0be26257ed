use std::cell::RefCell;
use std::collections::HashMap;

use ha_zookeeper::latch::{LatchDecision, decide};
use uuid::Uuid;

use super::latch::Latch;
use super::stamp::Stamp;

/// What a listing of the latches means for one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listing {
    /// It is the lowest.
    Lowest,
    /// It stands behind this one.
    Behind(Stamp),
    /// It is not there.
    Absent,
}

/// The place of the latch to wait for; the inner `None` for the lowest, the outer one where nothing is decided.
type Decision = Option<Option<usize>>;

/// Lists `latches` (in the order of their sequence) for the one that was created at `own`.
pub(super) fn list(latches: &[Latch], own: Stamp) -> Listing {
    thread_local! {
        /// What the product's rule says, by the number of latches and the place of the own one: each is asked once.
        static DECISIONS: RefCell<HashMap<(usize, usize), Decision>> = RefCell::default();
    }
    let Some(place) = latches.iter().position(|latch| latch.created == own) else {
        return Listing::Absent;
    };
    let key = (latches.len(), place);
    let decision =
        DECISIONS.with_borrow_mut(|known| *known.entry(key).or_insert_with(|| decided(key.0, place)));
    match decision {
        Some(Some(before)) => latches
            .get(before)
            .map_or(Listing::Absent, |latch| Listing::Behind(latch.created)),
        Some(None) => Listing::Lowest,
        None => Listing::Absent,
    }
}

/// What the product's own rule decides.
fn decided(count: usize, place: usize) -> Decision {
    // Names sort against the order of the sequence, so that going by name would be noticed.
    let name = |place: usize| format!("{}-latch-{place:010}", Uuid::from_u128((count - place) as u128));
    let names: Vec<_> = (0..count).map(name).collect();
    match decide(&names, &name(place)) {
        LatchDecision::Behind(before) => Some(Some(names.iter().position(|name| *name == before)?)),
        LatchDecision::Lowest => Some(None),
        LatchDecision::Absent | LatchDecision::Foreign(_) => None,
    }
}
