//! Leadership while the ensemble is restarted, frozen and stopped, and while leaders come and go (design §2 to §5):
//!
//! - `rolling_restart`: a rolling restart under a running job changes no leader (B12).
//! - `strict_rolling_restart`: without tolerance each real disconnection costs one revocation and one grant.
//! - `freezes`: an ensemble that answers nothing for a part of the session timeout, and for twice the timeout (B12).
//! - `restarts`: an ensemble that is killed and comes back, and what the client's backoff adds to that.
//! - `handovers`: ten processes hand leadership over again and again; judged by the server's transaction log.
//! - `idle`: what an idle cluster costs the servers, whatever the number of retrievers (I10).
//! - `dropped_starts`: starts that are dropped, aborted or stopped at any moment leave nothing (B07).
//!
//! Tests print what they measured. Counted ones are short by default and whole with `HA_TEST_FULL=1`.
#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]
#![allow(clippy::print_stderr, reason = "figures and seeds are printed")]

mod dropped_starts;
mod freezes;
mod group;
mod handovers;
mod idle;
mod latch_log;
mod restarts;
mod rolling;
mod rolling_restart;
mod strict_rolling_restart;
#[path = "../zookeeper/mod.rs"]
mod zookeeper;
