//! Every thread of the leader's runtime is blocked past the end of its session: nothing that the library would do on
//! its own happens, and `has_leadership` is false all the same.

use anyhow::Result;

use crate::rig::seeded;
use crate::scenario::{Fault, run};

#[tokio::test(flavor = "multi_thread")]
async fn the_leaders_runtime_is_blocked_past_its_session() -> Result<()> {
    seeded("runtime blocked", 12, async |random| {
        run(Fault::RuntimeBlocked, random).await
    })
    .await
}
