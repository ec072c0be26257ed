//! The network loses what goes in one direction between the leader and its server.

use anyhow::Result;

use crate::rig::seeded;
use crate::scenario::{Fault, run};

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_the_leader_are_lost() -> Result<()> {
    seeded("requests lost", 13, async |random| {
        run(Fault::RequestsLost, random).await
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn replies_to_the_leader_are_lost() -> Result<()> {
    seeded("replies lost", 13, async |random| {
        run(Fault::RepliesLost, random).await
    })
    .await
}
