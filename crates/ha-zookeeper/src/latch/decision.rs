use crate::paths::ClusterPaths;

/// What a listing of the latches means for one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LatchDecision {
    /// Mine is not there.
    Absent,
    /// There are children that are no latches. Nobody can say in which order they stand: refuse to lead.
    Foreign(Vec<String>),
    /// Mine is the lowest: claim.
    Lowest,
    /// Wait until this one, the next lower, is gone.
    Behind(String),
}

/// Decides by the signed sequence number behind the last `-latch-`, never by name.
pub fn decide(children: &[String], mine: &str) -> LatchDecision {
    let mut foreign: Vec<_> = children
        .iter()
        .filter(|name| ClusterPaths::parse_latch_name(name).is_none())
        .cloned()
        .collect();
    if !foreign.is_empty() {
        foreign.sort_unstable();
        return LatchDecision::Foreign(foreign);
    }
    let key = |name: &str| ClusterPaths::parse_latch_name(name).map(|(uuid, sequence)| (sequence, uuid));
    if !children.iter().any(|name| name == mine) {
        return LatchDecision::Absent;
    }
    let own = key(mine);
    children
        .iter()
        .filter(|name| key(name) < own)
        .max_by_key(|name| key(name))
        .map_or(LatchDecision::Lowest, |predecessor| {
            LatchDecision::Behind(predecessor.clone())
        })
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn latch(uuid: u128, sequence: i32) -> String {
        format!("{}-latch-{sequence:010}", Uuid::from_u128(uuid))
    }

    #[test]
    fn the_sequence_decides_and_the_name_does_not() {
        let (first, second, third) = (latch(9, 3), latch(1, 12), latch(5, 100));
        let listing = [third.clone(), first.clone(), second.clone()];
        assert_eq!(decide(&listing, &first), LatchDecision::Lowest);
        assert_eq!(decide(&listing, &second), LatchDecision::Behind(first));
        assert_eq!(decide(&listing, &third), LatchDecision::Behind(second));
    }

    #[test]
    fn a_sequence_that_wrapped_is_signed() {
        let (negative, zero) = (latch(1, -5), latch(2, 0));
        let listing = [zero.clone(), negative.clone()];
        assert_eq!(decide(&listing, &negative), LatchDecision::Lowest);
        assert_eq!(decide(&listing, &zero), LatchDecision::Behind(negative));
    }

    #[test]
    fn a_foreign_child_stops_everybody() {
        let mine = latch(1, 0);
        let foreign = "_c_00000000-0000-0000-0000-000000000001-latch-0000000001".to_owned();
        assert_eq!(
            decide(&[mine.clone(), foreign.clone()], &mine),
            LatchDecision::Foreign(vec![foreign])
        );
    }

    #[test]
    fn only_the_very_same_name_is_mine() {
        let mine = latch(1, 4);
        assert_eq!(decide(&[], &mine), LatchDecision::Absent);
        assert_eq!(decide(&[latch(1, 5)], &mine), LatchDecision::Absent);
    }
}
