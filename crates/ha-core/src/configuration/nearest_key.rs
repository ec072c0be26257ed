//! Which known key was meant by one that is not known.

use super::{OptionSupport, all_options};

/// The known key that is nearest to `key` among those that begin with `prefix`: one with the same last part if
/// there is any, else the one with the fewest letters to change.
pub(super) fn nearest_key(key: &str, prefix: &str) -> Option<&'static str> {
    /// A key that is longer than this resembles none.
    const LONGEST: usize = 200;
    if key.len() > LONGEST {
        return None;
    }
    let last_part = |key: &str| key.rsplit('.').next().unwrap_or_default().to_lowercase();
    let wanted = last_part(key);
    all_options()
        .filter(|option| option.support() != OptionSupport::WithoutMeaning)
        .flat_map(|option| std::iter::once(option.key()).chain(option.aliases().iter().copied()))
        .filter(|known| known.starts_with(prefix))
        .min_by_key(|known| (last_part(known) != wanted, edit_distance(known, key)))
}

/// How many letters must be inserted, deleted or replaced to make one of the other (Levenshtein).
fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, from) in left.chars().enumerate() {
        let mut above_left = line;
        let mut before = line + 1;
        let mut next = Vec::with_capacity(row.len());
        next.push(before);
        for (to, above) in right.iter().zip(row.iter().skip(1)) {
            let replaced = above_left + usize::from(from != *to);
            before = replaced.min(before + 1).min(above + 1);
            above_left = *above;
            next.push(before);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn typing_mistakes_find_their_key() {
        for (written, meant) in [
            ("high-availability.storagedir", "high-availability.storageDir"),
            ("high-availability.cluster_id", "high-availability.cluster-id"),
            ("high-availability.quorum", "high-availability.zookeeper.quorum"),
            (
                "high-availability.zookeeper.session-timeout",
                "high-availability.zookeeper.client.session-timeout",
            ),
            ("high-availability.typ", "high-availability.type"),
        ] {
            assert_eq!(
                nearest_key(written, "high-availability"),
                Some(meant),
                "{written}"
            );
        }
    }

    #[test]
    fn distances() {
        for (left, right, distance) in [
            ("", "", 0),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("a", "b", 1),
        ] {
            assert_eq!(edit_distance(left, right), distance);
        }
    }

    proptest! {
        #[test]
        fn distance_is_symmetric_and_bounded(left in ".{0,20}", right in ".{0,20}") {
            let distance = edit_distance(&left, &right);
            prop_assert_eq!(distance, edit_distance(&right, &left));
            prop_assert!(distance <= left.chars().count().max(right.chars().count()));
            prop_assert_eq!(distance == 0, left == right);
        }
    }
}
