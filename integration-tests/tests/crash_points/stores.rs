//! A user of the stores that is killed around the steps that a cluster process does not have, and around every step
//! of the removal of a job with checkpoints and blobs (B32).
//!
//! B32. Symptom: things are deleted in the wrong order, or only at the first attempt: a crash in between leaves a
//! pointer without a file, or files that nobody will ever delete.
//!
//! Provoked: kill -9 before and after every deletion.
//!
//! Right: at every moment no pointer names a missing file; the next process completes the removal, and does not run
//! the job; one more changes nothing.
//!
//! Sources: FLINK-22014 (flink#15468), FLINK-26284 (flink#18869), FLINK-26450 (flink#18963), FLINK-27051
//! (flink#22121).

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use ha_core::environment::steps::{self, Step};
use integration_tests::workload::Random;
use integration_tests::{ClusterProcess, Fault, StepFault, full_form, seed};

use super::place::Place;
use super::{shuffle, steps_of_a_cluster};

const JOB: &str = "00112233445566778899aabbccddeeff";
const END_TIMEOUT: Duration = Duration::from_secs(120);

/// The steps of the removal of a job, and how often each is taken.
const REMOVAL: [(Step, usize); 13] = [
    (steps::REMOVE_CHECKPOINT_POINTERS, 1),
    (steps::REMOVE_CHECKPOINT_FILE, 3),
    (steps::REMOVE_JOB_FOLDER, 2),
    (steps::REMOVE_COUNTER, 1),
    (steps::REMOVE_GRAPH_POINTER, 1),
    (steps::REMOVE_GRAPH_FILE, 1),
    (steps::REMOVE_BLOB, 2),
    (steps::REMOVE_LEFTOVERS, 1),
    (steps::REMOVE_REGISTRY_ENTRY, 1),
    (steps::REMOVE_JOB_LEADER, 1),
    (steps::MARK_CLEAN_FILE, 1),
    (steps::MARK_CLEAN_DIRTY_FILE, 1),
    (steps::END_FILE, 1),
];

/// One life of the process.
async fn live(place: &Place, more: &[&str], fault: &StepFault) -> Result<ClusterProcess> {
    let definitions = place.cluster.arguments();
    let mut arguments = vec!["--job", JOB];
    arguments.extend(definitions.iter().map(String::as_str));
    arguments.extend(more);
    let mut process = ClusterProcess::spawn_program(
        "integration-tests",
        "test-stores",
        "stores",
        &arguments,
        |command| {
            fault.apply_to(command);
        },
    )?;
    process.wait(END_TIMEOUT).await?;
    Ok(process)
}

/// A life that ends by a kill at a moment.
async fn die(place: &Place, more: &[&str], moment: &str, count: usize) -> Result<()> {
    let fault = StepFault::new(Fault::Kill, moment, count);
    let mut process = live(place, more, &fault).await?;
    let status = process.process().exit_status()?.context("it has ended")?;
    ensure!(
        status.signal() == Some(9),
        "{fault}: it ended with {status}: {}",
        process.output().end()
    );
    place.end_session(true).await
}

/// A life to the end. Gives what it did.
async fn live_well(place: &Place, more: &[&str]) -> Result<String> {
    let mut process = live(place, more, &StepFault::default()).await?;
    let status = process.process().exit_status()?.context("it has ended")?;
    ensure!(
        status.success(),
        "it ended with {status}: {}",
        process.output().end()
    );
    Ok(process.output().stdout())
}

/// Every file with its content, but what interrupted writes left.
fn contents(place: &Place) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut contents = BTreeMap::new();
    for file in place.cluster.files()? {
        if !file.contains('#') {
            let content = std::fs::read(place.cluster.storage().join(&file))?;
            contents.insert(file, content);
        }
    }
    Ok(contents)
}

/// Nothing of the job is left but its clean result.
async fn expect_cleaned_up(place: &Place) -> Result<()> {
    let snapshot = place.snapshot().await?;
    let cluster = place.cluster.cluster_id();
    let files: Vec<_> = contents(place)?.into_keys().collect();
    let expected = [
        format!("job-results-store/{cluster}/{JOB}.json"),
        format!("{cluster}/identity.json"),
    ];
    ensure!(
        snapshot.job(JOB).is_clean
            && snapshot.left.is_empty()
            && files.iter().all(|file| expected.contains(file)),
        "{files:?}, {snapshot:?}"
    );
    Ok(())
}

/// So many of the moments in the short form.
fn moments(steps: &[(Step, usize)], short: usize) -> Result<Vec<(&'static str, usize)>> {
    let seed = seed()?;
    eprintln!("HA_TEST_SEED={seed}");
    let mut moments: Vec<_> = steps
        .iter()
        .flat_map(|(step, count)| (1..=*count).flat_map(|n| [(step.before, n), (step.after, n)]))
        .collect();
    shuffle(&mut moments, &mut Random::new(seed));
    if !full_form() {
        moments.truncate(short);
    }
    Ok(moments)
}

/// A life that loses leadership is over before its end, and here no session has to expire.
async fn new_place(in_zookeeper: bool) -> Result<Place> {
    Ok(match in_zookeeper {
        true => Place::in_zookeeper_mode().await?,
        false => Place::in_filesystem_mode()?,
    }
    .with("high-availability.zookeeper.client.session-timeout", "40 s"))
}

async fn removal_is_completed(in_zookeeper: bool) -> Result<()> {
    let is_there = |step: &Step| in_zookeeper || steps::EVERYWHERE.contains(step);
    let steps: Vec<_> = REMOVAL.into_iter().filter(|(step, _)| is_there(step)).collect();
    for (moment, count) in moments(&steps, 3)? {
        let place = new_place(in_zookeeper).await?;
        let case = async {
            die(&place, &[], moment, count).await?;
            let ended = place.snapshot().await?.job(JOB).end.is_some();
            let did = live_well(&place, &[]).await?;
            ensure!(!(ended && did.contains("put")), "the job ran again: {did}");
            expect_cleaned_up(&place).await?;
            let before = contents(&place)?;
            live_well(&place, &[]).await?;
            ensure!(contents(&place)? == before, "the third life changed files");
            expect_cleaned_up(&place).await
        };
        case.await.with_context(|| format!("{moment:?} number {count}"))?;
    }
    Ok(())
}

/// The steps that a cluster process does not have.
async fn others_are_repeated(in_zookeeper: bool) -> Result<()> {
    let of_a_cluster = steps_of_a_cluster(in_zookeeper);
    let in_mode = if in_zookeeper { steps::IN_ZOOKEEPER } else { &[] };
    let steps: Vec<_> = steps::EVERYWHERE
        .iter()
        .chain(in_mode)
        .filter(|step| !of_a_cluster.contains(step))
        .map(|step| (*step, 1))
        .collect();
    for (moment, count) in moments(&steps, 3)? {
        let place = new_place(in_zookeeper).await?;
        let case = async {
            if moment.contains("remove cluster") {
                die(&place, &["--remove-cluster"], moment, count).await?;
                live_well(&place, &["--only-remove-cluster"]).await?;
                let left = contents(&place)?;
                ensure!(left.is_empty(), "{:?}", left.keys());
                if let Some(admin) = place.admin() {
                    let left = admin.walk(&place.cluster.znode("")).await?;
                    ensure!(left.is_empty(), "{left:?}");
                }
                return Ok(());
            }
            die(&place, &[], moment, count).await?;
            place.snapshot().await?;
            live_well(&place, &[]).await?;
            expect_cleaned_up(&place).await
        };
        case.await.with_context(|| format!("{moment:?} number {count}"))?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b32_the_removal_of_a_job_is_completed_wherever_it_was_cut_off_in_zookeeper_mode() -> Result<()> {
    removal_is_completed(true).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b32_the_removal_of_a_job_is_completed_wherever_it_was_cut_off_in_filesystem_mode() -> Result<()> {
    removal_is_completed(false).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_wherever_a_user_of_the_stores_is_killed_in_zookeeper_mode() -> Result<()> {
    others_are_repeated(true).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_wherever_a_user_of_the_stores_is_killed_in_filesystem_mode() -> Result<()> {
    others_are_repeated(false).await
}
