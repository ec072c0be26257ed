//! B10: a leader is stopped past its session, with writes and deletes queued, and goes on after the next one has
//! recovered and written.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use integration_tests::leadership::Load;
use integration_tests::proxy::{Direction, FaultProxy, RequestFilter, RequestKind};
use integration_tests::{Ensemble, EnsembleOptions, eventually, pause, unstalled};
use serde_json::Value;

use crate::rig::{LONG, Rig, session_timeout};

/// How many jobs have a checkpoint queued, with which the one before is deleted.
const JOBS: u8 = 4;

#[tokio::test(flavor = "multi_thread")]
async fn b10_what_a_stopped_leader_had_queued_is_refused_and_removes_nothing() -> Result<()> {
    unstalled(async || {
        let ensemble = Ensemble::start(EnsembleOptions::standalone()).await?;
        let rig = Rig::new(&ensemble.connect_string()).await?;
        rig.judged(the_leader_is_stopped_with_writes_queued(&ensemble, &rig))
            .await
    })
    .await
}

async fn the_leader_is_stopped_with_writes_queued(ensemble: &Ensemble, rig: &Rig) -> Result<()> {
    let server = ensemble.connect_string();
    let proxy = FaultProxy::start(&server).await?;
    let mut old = rig.spawn("old", &proxy.address())?;
    old.wait_until_leads(LONG).await?;
    let mut next = rig.spawn("next", &server)?;
    rig.wait_for_contenders(2).await?;

    // Checkpoint N is there; N + 1, with which N goes, is queued: its file is durable, its multi under way.
    let first = checkpoints(&mut old).await?;
    old.ask(&format!("open {JOBS}")).await?;
    let adds = RequestFilter::matching(|request| {
        let mut operations = request.operations.iter();
        operations.any(|operation| {
            operation.kind == RequestKind::Create && operation.path.contains("/checkpoints/")
        })
    });
    let under_way = proxy.arrival(adds, usize::from(JOBS));
    proxy.hold(Direction::ToServer, true);
    old.ask("queue").await?;
    eventually(
        "the files of the queued checkpoints are there",
        LONG,
        async || {
            let files = files(rig)?.len();
            ensure!(files == 2 * usize::from(JOBS), "{files} files");
            Ok(())
        },
    )
    .await?;
    under_way.happened().await?;
    old.signals().stop()?;
    let queued = pointers(rig).await?;
    ensure!(queued.values().eq(first.values()), "{queued:?}, {first:?}");

    next.wait_until_leads(LONG).await?;
    let second = checkpoints(&mut next).await?;
    // What was on the way arrives first, then the process goes on.
    proxy.hold(Direction::ToServer, false);
    pause(session_timeout() / 4).await;
    old.signals().cont()?;

    let outcomes = old.ask("queued").await?;
    ensure!(outcomes["applied"] == 0, "{outcomes}");
    // None is a mere loss of the connection, after which it would be tried again.
    let failed = outcomes["failed"].as_object().context("none failed")?;
    let all_refused = failed.keys().all(|class| class.starts_with("notLeader/"));
    ensure!(all_refused, "{outcomes}");
    let refused: u64 = failed.values().filter_map(Value::as_u64).sum();
    ensure!(refused == u64::from(JOBS), "{outcomes}");
    let now = pointers(rig).await?;
    ensure!(now == second, "pointers went back: {now:?}, written {second:?}");
    for (job, checkpoint) in &second {
        ensure!(
            *checkpoint > first[job],
            "job {job}: {checkpoint} after {}",
            first[job]
        );
    }
    let one = rig.one_leads(&mut old, &mut next).await?;
    ensure!(one == "next", "{one} leads");
    // It reads every file that a pointer names, and goes on above all ids.
    let third = checkpoints(&mut next).await?;
    ensure!(third.iter().all(|(job, checkpoint)| *checkpoint > second[job]));
    next.stop().await?;
    old.wait_until_leads(LONG).await?;
    checkpoints(&mut old).await?;
    old.stop().await?;
    rig.judge_writes(ensemble)?;
    rig.judge_intervals()?;
    Ok(())
}

/// The process recovers all jobs and writes a checkpoint of each; their ids, by job.
async fn checkpoints(process: &mut integration_tests::ContenderProcess) -> Result<BTreeMap<String, u64>> {
    process.ask(&format!("open {JOBS}")).await?;
    process.ask("queue").await?;
    let outcomes = process.ask("queued").await?;
    ensure!(outcomes["applied"] == u64::from(JOBS), "{outcomes}");
    let ids = outcomes["acknowledged"].as_array().context("no ids")?;
    let ids = ids.iter().filter_map(Value::as_u64);
    Ok((0..JOBS).map(|job| Load::job(job).to_string()).zip(ids).collect())
}

/// The checkpoint of each job that a pointer names; the file is there.
async fn pointers(rig: &Rig) -> Result<BTreeMap<String, u64>> {
    let mut pointers = BTreeMap::new();
    for job in (0..JOBS).map(|job| Load::job(job).to_string()) {
        let folder = format!("{}/jobs/{job}/checkpoints", rig.settings.cluster_node());
        let names = rig.admin.children(&folder).await?;
        let [name] = names.as_slice() else {
            anyhow::bail!("{folder}: one is retained, there are {names:?}")
        };
        let pointer = rig
            .admin
            .text(&format!("{folder}/{name}"))
            .await?
            .context("gone")?;
        let pointer: Value = serde_json::from_str(&pointer)?;
        let file = rig
            .storage()
            .join(&rig.settings.cluster_id)
            .join(pointer["path"].as_str().context("no path")?);
        ensure!(
            file.is_file(),
            "{folder}/{name} names {}, which is not there",
            file.display()
        );
        pointers.insert(job, name.parse()?);
    }
    Ok(pointers)
}

/// The files of all checkpoints.
fn files(rig: &Rig) -> Result<Vec<std::path::PathBuf>> {
    let jobs = rig.storage().join(&rig.settings.cluster_id).join("jobs");
    let mut files = Vec::new();
    for job in 0..JOBS {
        let folder = jobs.join(Load::job(job).to_string()).join("checkpoints");
        for entry in std::fs::read_dir(folder)? {
            files.push(entry?.path());
        }
    }
    Ok(files)
}
