use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use integration_tests::workload::Random;
use integration_tests::{ClusterProcess, eventually, seed};

use super::made::{JOB, Made, TIMEOUT};

/// Enough that a command is met half-way.
const CHECKPOINTS: u64 = 60;

/// Waits until so many changes are written down, or the command has ended.
async fn wait_for_changes(process: &mut ClusterProcess, audit: &Path, count: usize) -> Result<()> {
    eventually("some changes are made", TIMEOUT, async || {
        let lines = std::fs::read_to_string(audit).unwrap_or_default().lines().count();
        ensure!(
            lines >= count || !process.process().is_alive(),
            "{lines} of {count}"
        );
        Ok(())
    })
    .await
}

/// Kills a command again and again, the last time lets it be; `Err` unless it was met half-way at least once.
///
/// It is met at `first` changes in the first round, and at fewer than 30 in the others; it is done when `left` files of the
/// job are left.
async fn kill_and_repeat(made: &Made, command: &[&str], first: usize, left: usize) -> Result<()> {
    let seed = seed()?;
    eprintln!("HA_TEST_SEED={seed}");
    let mut random = Random::new(seed);
    let before = of_job(made)?;
    let mut killed_half_way = 0;
    for round in 0.. {
        let audit = made.cluster.folder().join(format!("audit-{round}"));
        let audit_text = audit.display().to_string();
        let arguments = [command, &["--apply", "--audit", &audit_text]].concat();
        let mut process = made.spawn(&arguments)?;
        let count = usize::try_from(random.next_u64() % 20)?;
        let count = if round == 0 { first + count } else { count };
        wait_for_changes(&mut process, &audit, count).await?;
        if round >= 3 {
            let status = process.wait(TIMEOUT).await?;
            // Nothing may be left of it by then.
            ensure!(matches!(status.code(), Some(0 | 1)), "{}", process.output().end());
        } else if process.process().is_alive() {
            process.process().kill()?;
            process.wait(TIMEOUT).await?;
        }
        made.expect_no_dangling_pointer().await?;
        let files = of_job(made)?;
        if files < before && files > left {
            killed_half_way += 1;
        }
        if files == left {
            break;
        }
        remove_latches(made).await?;
    }
    ensure!(killed_half_way > 0, "no command was met half-way");
    remove_latches(made).await
}

/// That of a killed one would stay for its session timeout.
async fn remove_latches(made: &Made) -> Result<()> {
    for latch in made.admin.children(&made.cluster.znode("leader/latch")).await? {
        made.admin
            .delete(&made.cluster.znode(&format!("leader/latch/{latch}")))
            .await?;
    }
    Ok(())
}

/// How many files of the job there are.
fn of_job(made: &Made) -> Result<usize> {
    let files = made.cluster.files()?;
    Ok(files
        .iter()
        .filter(|file| file.contains(&JOB.to_string()))
        .count())
}

/// After all pointers of the job, among its files.
const AMONG_FILES: usize = 66;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_is_killed_leaves_no_pointer_to_a_missing_file_and_is_repeated() -> Result<()> {
    let made = Made::new(Duration::from_secs(20), CHECKPOINTS).await?;
    kill_and_repeat(&made, &["job", "forget", &JOB.to_string()], AMONG_FILES, 0).await?;
    let tree = made.admin.walk(&made.cluster.znode("")).await?;
    ensure!(
        tree.iter().all(|node| !node.path.contains(&JOB.to_string())),
        "{tree:?}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cleanup_that_is_killed_is_repeated_until_nothing_is_left() -> Result<()> {
    let made = Made::new(Duration::from_secs(20), CHECKPOINTS).await?;
    kill_and_repeat(&made, &["cleanup"], AMONG_FILES, 0).await?;
    // The last file of the job is not the last of the cluster.
    if made.admin.node(&made.cluster.znode("")).await?.is_some() {
        let output = made.cluster.run("hactl", &["cleanup", "--apply"]).await?;
        ensure!(output.status.success(), "{output:?}");
    }
    ensure!(made.admin.node(&made.cluster.znode("")).await?.is_none());
    ensure!(made.cluster.files()?.is_empty(), "{:?}", made.cluster.files()?);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gc_that_is_killed_is_repeated_and_keeps_what_is_needed() -> Result<()> {
    let made = Made::new(Duration::from_secs(4), CHECKPOINTS).await?;
    // Orphans: all checkpoints but the newest one.
    for number in 1..CHECKPOINTS {
        let path = format!("jobs/{JOB}/checkpoints/{number:019}");
        made.admin.delete(&made.cluster.znode(&path)).await?;
    }
    for file in made.cluster.files()? {
        super::gc::grow_old(&made.cluster.storage().join(file))?;
    }
    let pointers = made.expect_no_dangling_pointer().await?;
    kill_and_repeat(&made, &["gc"], 1, 2).await?;
    ensure!(made.expect_no_dangling_pointer().await? == pointers && pointers == 2);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_is_paused_until_its_session_is_over_writes_nothing_more() -> Result<()> {
    let made = Made::new(Duration::from_secs(4), CHECKPOINTS).await?;
    let audit = made.cluster.folder().join("audit");
    let job = JOB.to_string();
    let audit_text = audit.display().to_string();
    let mut process = made.spawn(&["job", "forget", &job, "--apply", "--audit", &audit_text])?;
    // Among the files: all pointers are gone.
    wait_for_changes(&mut process, &audit, 66).await?;
    process.process().stop()?;
    let latches = made.cluster.znode("leader/latch");
    eventually("its session is over", TIMEOUT, async || {
        let latches = made.admin.children(&latches).await?;
        ensure!(latches.is_empty(), "{latches:?}");
        Ok(())
    })
    .await?;
    let files = made.cluster.files()?;
    ensure!(
        files.iter().any(|file| file.contains(&job)),
        "it was done before it was paused"
    );
    // What it would delete now, a new leader may have written.
    let path = made.cluster.znode(&format!("jobgraphs/{job}"));
    made.admin.create(&path, b"new").await?;
    let tree = made.admin.walk(&made.cluster.znode("")).await?;
    process.process().cont()?;
    let status = process.wait(TIMEOUT).await?;
    assert_eq!(status.code(), Some(1), "{}", process.output().end());
    let after: Vec<_> = made.admin.walk(&made.cluster.znode("")).await?;
    integration_tests::AdminClient::expect_unchanged(&tree, &after)?;
    // One deletion may have been under way when it was paused: its proof had been answered.
    let left = made.cluster.files()?;
    ensure!(left.len() + 1 >= files.len(), "{files:?} became {left:?}");
    Ok(())
}
