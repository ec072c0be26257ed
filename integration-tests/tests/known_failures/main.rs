//! Failures that users of services like this one have met, each provoked here: one file a case, whose number the
//! names of its tests begin with. `flink_tests.md` in this package's documentation lists them all, those in other
//! test binaries too.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test stops at what it does not expect, and says what it measured and what repeats it"
)]

mod b01_two_leaders_after_an_outage;
mod b03_lost_election_parent;
mod b04_latch_of_the_previous_session;
mod b05_lost_create_reply;
mod b08_leaders_latch_deleted;
mod b11_revocation_blocks;
mod b15_stop_deadlocks;
mod b16_old_term_cleans_up;
mod b17_missed_event;
mod b18_ghosts_and_squatters;
mod b19_follower_keeps_old_leader;
mod b21_silent_watches;
mod b22_dropping_watchers;
mod b36_slow_storage;

#[path = "../zookeeper/mod.rs"]
mod zookeeper;
