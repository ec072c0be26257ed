//! Conditions on the values of options; an error is the rest of a sentence that begins with the value.

use std::time::Duration;

/// ZooKeeper sends timeouts as signed 32-bit milliseconds.
const LONGEST_ZOOKEEPER_TIMEOUT: Duration = Duration::from_millis(i32::MAX as u64);

/// No file is taken for an orphan before this age (design §8).
const SHORTEST_ORPHAN_AGE: Duration = Duration::from_secs(600);

pub(super) fn positive(duration: &Duration) -> Result<(), String> {
    if duration.is_zero() {
        return Err("must be more than 0".to_owned());
    }
    Ok(())
}

pub(super) fn zookeeper_timeout(duration: &Duration) -> Result<(), String> {
    if *duration < Duration::from_millis(1) || *duration > LONGEST_ZOOKEEPER_TIMEOUT {
        return Err("must be from 1 ms to 2147483647 ms".to_owned());
    }
    Ok(())
}

pub(super) fn orphan_age(age: &Duration) -> Result<(), String> {
    if *age < SHORTEST_ORPHAN_AGE {
        return Err("must be at least 10 min".to_owned());
    }
    Ok(())
}

pub(super) fn at_least_one(number: &usize) -> Result<(), String> {
    if *number == 0 {
        return Err("must be at least 1".to_owned());
    }
    Ok(())
}
