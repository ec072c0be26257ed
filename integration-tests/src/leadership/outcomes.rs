use std::collections::BTreeMap;

use ha_services::Error;
use serde_json::{Value, json};

/// What fenced writes came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// How many were acknowledged.
    pub applied: u64,
    /// How many failed, by kind and effect: `notLeader/NotApplied`.
    pub failed: BTreeMap<String, u64>,
    /// The text of the last failure.
    pub last_error: Option<String>,
}

impl Outcomes {
    /// Counts one write.
    pub fn note<T>(&mut self, outcome: &Result<T, Error>) {
        match outcome {
            Ok(_) => self.applied += 1,
            Err(error) => {
                let class = format!("{}/{:?}", error.kind().name(), error.effect());
                *self.failed.entry(class).or_default() += 1;
                self.last_error = Some(error.to_string());
            }
        }
    }

    /// Adds those of another writer.
    pub fn add(&mut self, other: Self) {
        self.applied += other.applied;
        for (class, count) in other.failed {
            *self.failed.entry(class).or_default() += count;
        }
        self.last_error = other.last_error.or(self.last_error.take());
    }

    pub(super) fn to_json(&self) -> Value {
        json!({ "applied": self.applied, "failed": self.failed, "lastError": self.last_error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_counted_by_kind_and_effect() {
        let mut outcomes = Outcomes::default();
        outcomes.note(&Ok(1));
        outcomes.note::<()>(&Err(Error::not_leader("gone")));
        let mut all = outcomes.clone();
        all.add(outcomes);
        assert_eq!(all.applied, 2);
        assert_eq!(all.failed["notLeader/NotApplied"], 2);
        assert!(all.to_json()["lastError"].as_str().unwrap().contains("gone"));
    }
}
