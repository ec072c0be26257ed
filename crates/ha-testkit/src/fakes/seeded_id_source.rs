use std::sync::atomic::{AtomicU64, Ordering};

use ha_core::environment::IdSource;
use uuid::{Builder, Uuid};

/// Ids that look random and are the same in every run with the same seed.
#[derive(Debug)]
pub struct SeededIdSource {
    state: AtomicU64,
}

/// The step of SplitMix64: odd, so that the state walks through all 64-bit numbers.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl SeededIdSource {
    /// The ids of this seed.
    pub fn new(seed: u64) -> Self {
        Self {
            state: AtomicU64::new(seed),
        }
    }

    /// The next number.
    pub fn next_u64(&self) -> u64 {
        let mut mixed = self.state.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl IdSource for SeededIdSource {
    fn uuid(&self) -> Uuid {
        let (most, least) = (self.next_u64(), self.next_u64());
        Builder::from_random_bytes(*Uuid::from_u64_pair(most, least).as_bytes()).into_uuid()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_seed_decides_and_nothing_repeats() {
        let (first, second) = (SeededIdSource::new(7), SeededIdSource::new(7));
        let ids: Vec<Uuid> = (0..1000).map(|_| first.uuid()).collect();
        assert_eq!(ids, (0..1000).map(|_| second.uuid()).collect::<Vec<_>>());
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 1000);
        assert_eq!(ids[0].get_version_num(), 4);
        assert_ne!(SeededIdSource::new(8).uuid(), ids[0]);
    }
}
