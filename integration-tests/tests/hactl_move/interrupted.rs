//! An import that is killed.

use anyhow::{Result, ensure};
use integration_tests::{AdminClient, ClusterProcess, Ensemble, TestCluster, eventually};
use serde_json::Value;

use super::{TIMEOUT, expect_healthy, run, said, small, target};

const ROOT: &str = "/cut";

#[tokio::test]
async fn an_import_that_was_killed_is_told_and_goes_on() -> Result<()> {
    let ensemble = Ensemble::shared().await?;
    let (source, archive) = small(&ensemble, 96 << 20).await?;
    let path = archive.display().to_string();
    let (cluster, uuid) = cut_off(&ensemble, &source.admin, &path).await?;

    // Nobody leads it, and nobody takes it for whole.
    let mut process = cluster.spawn("early", &[])?;
    let ended = process.wait(TIMEOUT).await?;
    ensure!(!ended.success(), "{ended}");
    ensure!(
        process.output().stderr().contains("repeat `hactl import"),
        "{}",
        process.output().end()
    );
    let copy = cluster.folder().join("half.tar");
    let (code, _, errors) = run(&cluster, &["export", &copy.display().to_string()]).await?;
    ensure!(
        code == Some(1) && errors.contains("repeat `hactl import"),
        "{code:?} {errors}"
    );
    let report = cluster.hactl(&["doctor"]).await?;
    ensure!(report.to_string().contains("unfinished-import"), "{report:#}");
    let (other, another) = small(&ensemble, 1).await?;
    let another = another.display().to_string();
    let (code, _, errors) = run(&cluster, &["import", &another, "--apply"]).await?;
    ensure!(
        code == Some(1) && errors.contains("same archive"),
        "{code:?} {errors}"
    );
    drop(other);

    // The latch of the one that was killed stays for a session timeout.
    eventually("the import goes on", TIMEOUT, async || {
        let (code, document, errors) = run(&cluster, &["import", &path, "--apply"]).await?;
        ensure!(code == Some(0), "{code:?} {document} {errors}");
        Ok(())
    })
    .await?;
    for command in [&["jobs"][..], &["results"], &["blobs"]] {
        let (found, expected) = (
            said(&cluster, command).await?,
            said(&source.cluster, command).await?,
        );
        assert_eq!(found, expected, "{command:?}");
    }
    ensure!(identity(&cluster)?["clusterUuid"] == uuid);
    ensure!(cluster.files()?.iter().all(|file| !file.contains(".upload-")));
    expect_healthy(&cluster, &["no-leader"]).await
}

/// A cluster whose import was killed, and its uuid.
async fn cut_off(ensemble: &Ensemble, admin: &AdminClient, archive: &str) -> Result<(TestCluster, Value)> {
    const ATTEMPTS: usize = 5;
    for _ in 0..ATTEMPTS {
        let cluster = target(ensemble, ROOT)?;
        let definitions = cluster.arguments();
        let mut arguments = vec!["import", archive, "--apply"];
        arguments.extend(definitions.iter().map(String::as_str));
        let mut process = ClusterProcess::spawn_binary("hactl", "import", &arguments, |_| {})?;
        let tree = format!("{ROOT}/{}/identity", cluster.cluster_id());
        eventually("the import has begun", TIMEOUT, async || {
            ensure!(admin.node(&tree).await?.is_some());
            Ok(())
        })
        .await?;
        process.process().kill()?;
        let identity = identity(&cluster)?;
        // It may have come to its end before.
        if identity["importing"].is_string() {
            return Ok((cluster, identity["clusterUuid"].clone()));
        }
    }
    anyhow::bail!("every import ended before it was killed")
}

fn identity(cluster: &TestCluster) -> Result<Value> {
    let path = cluster.storage().join(cluster.cluster_id()).join("identity.json");
    Ok(serde_json::from_slice(&std::fs::read(path)?)?)
}
