//! Faults of networks, processes and quorums, under a load of fenced writes by the leader. Whatever happens:
//!
//! - no two processes lead at once, as each records its own leadership on a clock that all share;
//! - no write of a term is applied after the first of a later one, as the server's transaction log says;
//! - exactly one process leads again in the time of I9 after the fault has ended.
//!
//! Each kind of fault runs once by default, and many times with random parameters with `HA_TEST_FULL=1`; the runs begin
//! at the seed `HA_TEST_SEED`, to repeat one or to go on.

mod b09_late_deadline;
mod b10_zombie_leader;
mod blocked_runtime;
mod one_way_loss;
mod quorum_partition;
mod rig;
mod scenario;
mod stopped_leader;
