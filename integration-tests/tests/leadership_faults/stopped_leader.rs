//! The leader's process is stopped for longer than two session timeouts, and goes on as if nothing had been.

use anyhow::Result;

use crate::rig::seeded;
use crate::scenario::{Fault, run};

#[tokio::test(flavor = "multi_thread")]
async fn the_leader_is_stopped_for_two_timeouts() -> Result<()> {
    seeded("leader stopped", 12, async |random| {
        run(Fault::Stopped, random).await
    })
    .await
}
