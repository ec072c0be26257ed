use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result};
use integration_tests::{AdminClient, Ensemble, TestCluster, TestJob, eventually, unstalled};
use serde_json::Value;

use super::made::TIMEOUT;

/// No longer than it must be: a look at the files waits for it. A stall that ends the tool's session is met by another
/// attempt.
const SESSION_TIMEOUT: Duration = Duration::from_secs(4);

/// Makes a file look as if it had been left long ago.
pub(super) fn grow_old(path: &Path) -> Result<()> {
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    Ok(File::options().write(true).open(path)?.set_modified(long_ago)?)
}

/// What `gc` names, relative to the storage directory, sorted.
fn named(document: &Value, cluster: &TestCluster) -> Vec<String> {
    let changes = document["changes"].as_array().unwrap().iter();
    let storage = cluster.storage().canonicalize().unwrap();
    let mut named: Vec<_> = changes
        .map(|change| {
            let path = Path::new(change["path"].as_str().unwrap());
            path.strip_prefix(&storage).unwrap().display().to_string()
        })
        .collect();
    named.sort();
    named
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gc_deletes_exactly_the_orphans_once_no_process_runs() -> Result<()> {
    unstalled(gc_once).await
}

async fn gc_once() -> Result<()> {
    let ensemble = Ensemble::shared().await?;
    let admin = AdminClient::connect(&ensemble.connect_string()).await?;
    let cluster = TestCluster::new(&ensemble.connect_string(), SESSION_TIMEOUT)?;
    let mut process = cluster.spawn("one", &[])?;
    cluster.wait_until_standing(&admin, &[&process]).await?;
    let job = TestJob::create(cluster.folder(), "text", 5, 500_000, Duration::from_secs(300))?;
    cluster.submit(&job).await?;
    let watch = cluster.watch_checkpoints(&admin, &job);
    eventually("a second checkpoint", TIMEOUT, async || {
        let newest = watch.newest().await?;
        anyhow::ensure!(newest.id >= 2);
        Ok(())
    })
    .await?;

    // Refused as long as it runs, with its name.
    let output = cluster.run("hactl", &["gc", "--apply"]).await?;
    let text = String::from_utf8(output.stderr)?;
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("the leader \"one\"") && text.contains("session timeout"),
        "{text}"
    );

    process.process().terminate()?;
    process.wait(TIMEOUT).await?;
    let folder = cluster.storage().join(cluster.cluster_id());
    let checkpoints = folder.join(format!("jobs/{}/checkpoints", job.id));
    let retained = std::fs::read_dir(&checkpoints)?
        .next()
        .context("a checkpoint")??
        .path();
    let orphans = [
        // Of an id that was given and subsumed.
        checkpoints.join("0000000000000000001-00112233-4455-6677-8899-aabbccddeeff"),
        folder.join("jobgraphs/.upload-00112233-4455-6677-8899-aabbccddeeff"),
    ];
    for orphan in &orphans {
        std::fs::copy(&retained, orphan)?;
    }
    // Nobody names it, and it is young.
    let young = checkpoints.join("0000000000000000001-11112233-4455-6677-8899-aabbccddeeff");
    std::fs::copy(&retained, &young)?;
    for file in cluster.files()? {
        let path = cluster.storage().join(file);
        if path != young {
            grow_old(&path)?;
        }
    }
    let (tree, files) = (admin.walk(&cluster.znode("")).await?, cluster.files()?);

    let planned = cluster.hactl(&["gc"]).await?;
    let mut expected: Vec<_> = orphans
        .iter()
        .map(|path| {
            path.strip_prefix(cluster.storage())
                .unwrap()
                .display()
                .to_string()
        })
        .collect();
    expected.sort();
    assert_eq!(named(&planned, &cluster), expected, "{planned:#}");
    assert_eq!(planned["changes"][0]["outcome"], "planned");
    AdminClient::expect_unchanged(&tree, &admin.walk(&cluster.znode("")).await?)?;
    assert_eq!(cluster.files()?, files);

    let audit = cluster.folder().join("audit");
    let done = cluster
        .hactl(&["gc", "--apply", "--audit", &audit.display().to_string()])
        .await?;
    assert_eq!(named(&done, &cluster), expected, "{done:#}");
    assert!(
        done["changes"]
            .as_array()
            .unwrap()
            .iter()
            .all(|change| change["outcome"] == "applied")
    );
    let mut left = files;
    left.retain(|file| !expected.contains(file));
    assert_eq!(cluster.files()?, left);
    let audited = std::fs::read_to_string(audit)?;
    assert_eq!(audited.lines().count(), expected.len(), "{audited}");
    assert_eq!(
        admin.children(&cluster.znode("leader/latch")).await?,
        [] as [&str; 0]
    );

    // Nothing that it needs is gone.
    let process = cluster.spawn("two", &[])?;
    cluster.wait_until_standing(&admin, &[&process]).await?;
    let before = watch.newest().await?.id;
    eventually("the job goes on", TIMEOUT, async || {
        anyhow::ensure!(watch.newest().await?.id > before);
        Ok(())
    })
    .await
}
