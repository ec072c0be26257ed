//! What a leading process asks a server for by itself, at most.

use std::time::Duration;

/// How many requests the session itself makes in this time: a proof of its lease every eighth of its timeout, and one
/// when it is wanted early; the client's pings, three a timeout.
pub(super) fn of_session(timeout: Duration, wall: Duration) -> u64 {
    of_sessions(1, timeout, wall)
}

/// The same of so many sessions.
pub(super) fn of_sessions(sessions: u64, timeout: Duration, wall: Duration) -> u64 {
    sessions * (times(wall, timeout / 8) + times(wall, timeout / 3) + 3)
}

/// How many requests a started job graph store makes to notice other processes' changes: a sync, a listing and the
/// pointers, 500 a request, once a second and once before and after.
pub(super) fn of_job_graph_store(pointers: u64, wall: Duration) -> u64 {
    (times(wall, Duration::from_secs(1)) + 2) * (2 + pointers.div_ceil(500))
}

fn times(wall: Duration, interval: Duration) -> u64 {
    let times = wall.as_millis() / interval.as_millis().max(1);
    u64::try_from(times).unwrap_or(u64::MAX)
}
