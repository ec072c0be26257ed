use std::time::Duration;

use ha_core::environment::BootInstant;
use ha_core::{Error, ErrorKind};

/// What may pass by itself is told of again after this long.
const REMINDER: Duration = Duration::from_secs(60);

/// Which failures to stand in the election are told of.
#[derive(Default)]
pub(super) struct Failures {
    /// What has to be put right by somebody, as it was told.
    told: Option<String>,
    /// When something that may pass by itself was told of.
    reminded: Option<BootInstant>,
}

impl Failures {
    /// This process stands in the election.
    pub(super) fn over(&mut self) {
        self.told = None;
    }

    /// Whether a failure is to be told of; `connected`: the connection stood from before it until after it.
    ///
    /// What somebody has to put right is told once. What may pass by itself (servers or a storage that refuse for
    /// now) is told once a minute: nobody may ever lead because of it. What the connection explains is told by the
    /// session, and a tree that is being deleted is made again.
    pub(super) fn is_to_be_told(&mut self, error: &Error, connected: bool, now: BootInstant) -> bool {
        match error.kind() {
            ErrorKind::NotFound => false,
            ErrorKind::Unavailable => {
                let due = self.reminded.is_none_or(|last| last + REMINDER <= now);
                if connected && due {
                    self.reminded = Some(now);
                }
                connected && due
            }
            _ => {
                let text = error.to_string();
                let new = self.told.as_ref() != Some(&text);
                self.told = Some(text);
                new
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> BootInstant {
        BootInstant::from_boot(Duration::from_secs(seconds))
    }

    fn unavailable() -> Error {
        Error::new(ErrorKind::Unavailable, "quota exceeded")
    }

    #[test]
    fn what_may_pass_by_itself_is_told_once_a_minute_also_when_it_comes_and_goes() {
        let mut failures = Failures::default();
        let mut told = Vec::new();
        for second in 0..=180 {
            if failures.is_to_be_told(&unavailable(), true, at(second)) {
                told.push(second);
            }
            failures.over();
        }
        assert_eq!(told, [0, 60, 120, 180]);
    }

    #[test]
    fn what_the_connection_explains_is_not_told_and_puts_nothing_off() {
        let mut failures = Failures::default();
        assert!(!failures.is_to_be_told(&unavailable(), false, at(0)));
        assert!(failures.is_to_be_told(&unavailable(), true, at(1)));
        assert!(!failures.is_to_be_told(&Error::new(ErrorKind::NotFound, "gone"), true, at(2)));
    }

    #[test]
    fn what_somebody_has_to_put_right_is_told_once_until_it_was_over() {
        let mut failures = Failures::default();
        let denied = Error::new(ErrorKind::Denied, "no");
        assert!(failures.is_to_be_told(&denied, true, at(0)));
        assert!(!failures.is_to_be_told(&unavailable(), false, at(1)));
        assert!(!failures.is_to_be_told(&denied, true, at(1_000)));
        assert!(failures.is_to_be_told(&Error::new(ErrorKind::Corrupt, "x"), true, at(1_001)));
        failures.over();
        assert!(failures.is_to_be_told(&denied, true, at(1_002)));
    }
}
