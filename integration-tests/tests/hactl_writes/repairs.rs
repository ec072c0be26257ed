use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

use super::made::{JOB, Made};

const SESSION_TIMEOUT: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_checkpoint_is_restored_as_the_newest_one() -> Result<()> {
    let made = Made::new(SESSION_TIMEOUT, 3).await?;
    let job = JOB.to_string();
    let before = made.admin.walk(&made.cluster.znode("")).await?;
    let planned = made.cluster.hactl(&["checkpoint", "restore", &job, "2"]).await?;
    assert_eq!(
        planned["changes"].as_array().map(Vec::len),
        Some(3),
        "{planned:#}"
    );
    integration_tests::AdminClient::expect_unchanged(
        &before,
        &made.admin.walk(&made.cluster.znode("")).await?,
    )?;
    let done = made
        .cluster
        .hactl(&["checkpoint", "restore", &job, "2", "--apply"])
        .await?;
    let outcomes: Vec<_> = done["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| &change["outcome"])
        .collect();
    assert_eq!(outcomes, ["applied"; 3], "{done:#}");
    let shown = made.cluster.hactl(&["checkpoints", &job]).await?;
    let checkpoints = shown["checkpoints"].as_array().unwrap();
    let ids: Vec<_> = checkpoints.iter().map(|one| one["id"].as_u64()).collect();
    assert_eq!(ids, [Some(1), Some(2), Some(3), Some(4)]);
    assert!(checkpoints.iter().all(|one| one["readable"] == true), "{shown:#}");
    assert_eq!(shown["nextCheckpointId"], 5);
    // The same content.
    let folder = made.storage.local_folder().unwrap();
    let payload = |index: usize| {
        let file = folder.join(checkpoints[index]["file"].as_str().unwrap());
        let content = std::fs::read(file).unwrap();
        content.split(|byte| *byte == b'\n').nth(1).unwrap().to_vec()
    };
    assert_eq!(payload(3), payload(1));
    assert_ne!(payload(3), payload(2));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_tree_is_accepted_and_a_cleanup_leaves_nothing() -> Result<()> {
    let made = Made::new(SESSION_TIMEOUT, 2).await?;
    made.write_identity(true).await?;
    let refused = made.cluster.run("hactl", &["cleanup", "--apply"]).await?;
    assert_eq!(refused.status.code(), Some(1));
    let accept = ["doctor", "--accept-empty-tree"];
    made.cluster.hactl(&accept).await?;
    let identity = made.cluster.znode("identity");
    let text = made.admin.text(&identity).await?.unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text)?["treeLost"], true);
    made.cluster
        .hactl(&["doctor", "--accept-empty-tree", "--apply"])
        .await?;
    let text = made.admin.text(&identity).await?.unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text)?["treeLost"], Value::Null);
    let done = made.cluster.hactl(&["cleanup", "--apply"]).await?;
    let changes = done["changes"].as_array().unwrap();
    assert!(
        changes.iter().all(|change| change["outcome"] == "applied"),
        "{done:#}"
    );
    assert!(made.admin.node(&made.cluster.znode("")).await?.is_none());
    assert_eq!(made.cluster.files()?, [] as [&str; 0]);
    Ok(())
}

/// What one leaves that was killed between the identity of the folder and that of the tree.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cleanup_that_was_cut_off_at_its_end_is_repeated() -> Result<()> {
    let made = Made::new(SESSION_TIMEOUT, 1).await?;
    let folder = made.cluster.storage().join(made.cluster.cluster_id());
    std::fs::remove_file(folder.join("identity.json"))?;
    // As long as there are jobs it was not that.
    let before = (
        made.admin.walk(&made.cluster.znode("")).await?,
        made.cluster.files()?,
    );
    let refused = made.cluster.run("hactl", &["cleanup", "--apply"]).await?;
    assert_eq!(refused.status.code(), Some(1));
    let after = made.admin.walk(&made.cluster.znode("")).await?;
    let without_latches: Vec<_> = after
        .into_iter()
        .filter(|node| !node.path.contains("/leader"))
        .collect();
    integration_tests::AdminClient::expect_unchanged(&before.0, &without_latches)?;
    assert_eq!(made.cluster.files()?, before.1);
    for jobs in ["jobgraphs", "jobs"] {
        made.admin.delete_tree(&made.cluster.znode(jobs)).await?;
    }
    let done = made.cluster.run("hactl", &["cleanup", "--apply"]).await?;
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    assert!(made.admin.node(&made.cluster.znode("")).await?.is_none());
    assert_eq!(made.cluster.files()?, [] as [&str; 0]);
    Ok(())
}
