//! Processes that are killed (kill -9) before and after every step of what they write and remove, and at random
//! moments: no pointer names a missing or torn file, what was acknowledged is there, no end is lost, the files that no
//! pointer names are found and no other is called an orphan, the next process completes every clean-up, and the output
//! is right.
//!
//! In the full form there are at least 500 kills of `ha-cluster` in ZooKeeper mode. The series follows from the seed.

#![allow(
    clippy::print_stderr,
    reason = "a test of a series says which, so that it can be repeated"
)]

mod b33_shutdown_keeps_data;
mod cluster_loop;
mod ended_jobs;
mod place;
mod records;
mod snapshot;
mod stores;
mod undeletable;

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use cluster_loop::{ATTEMPTS, ClusterLoop};
use ha_core::environment::steps::{self, Step};
use integration_tests::workload::Random;
use integration_tests::{StepFault, full_form, seed};
use place::Place;

/// The steps of a cluster process; the others are those of other users of the library, in `stores`.
fn steps_of_a_cluster(in_zookeeper: bool) -> Vec<Step> {
    let others = [
        steps::REPLACE_GRAPH_FILE,
        steps::REPLACE_GRAPH_POINTER,
        steps::REPLACE_GRAPH_OLD_FILE,
        steps::PUT_BLOB,
        steps::REMOVE_BLOB,
        steps::REMOVE_CLUSTER_FILE,
        steps::REMOVE_CLUSTER_IDENTITY,
        steps::REMOVE_CLUSTER_RESULT,
        steps::REMOVE_CLUSTER_ZNODE,
        steps::REMOVE_CLUSTER_LATCH,
    ];
    let in_zookeeper = if in_zookeeper { steps::IN_ZOOKEEPER } else { &[] };
    let all = steps::EVERYWHERE.iter().chain(in_zookeeper).copied();
    all.filter(|step| !others.contains(step)).collect()
}

/// What a series of kills consists of.
struct Series {
    /// How often each moment has its turn; `None`: so many moments, one kill each.
    rounds: usize,
    moments: Option<usize>,
    random: usize,
}

async fn run(place: Place, steps: &[Step], series: &Series, seed: u64) -> Result<usize> {
    let mut cluster = ClusterLoop::new(place, seed);
    let mut random = Random::new(seed);
    let mut kills = Vec::new();
    for _ in 0..series.rounds {
        let mut moments = moments_of(steps);
        shuffle(&mut moments, &mut random);
        moments.truncate(series.moments.unwrap_or(usize::MAX));
        kills.extend(moments.into_iter().map(Some));
    }
    kills.extend(std::iter::repeat_n(None, series.random));
    shuffle(&mut kills, &mut random);
    let many_a_job = [
        steps::INCREMENT_COUNTER,
        steps::ADD_CHECKPOINT_FILE,
        steps::ADD_CHECKPOINT_POINTER,
    ];
    for moment in kills {
        match moment {
            Some(moment) => {
                let is_one_of_many = many_a_job
                    .iter()
                    .any(|step| [step.before, step.after].contains(&moment));
                let count = if is_one_of_many { 1 + random.below(6) } else { 1 };
                cluster.kill_at(moment, usize::try_from(count)?).await?;
            }
            None => {
                cluster
                    .kill_after(Duration::from_millis(random.below(2500)))
                    .await?
            }
        }
    }
    // All that is left is brought to its end, and the steps of a whole life of a job are counted.
    let record = cluster.cluster().folder().join("steps");
    let mut missing = Vec::new();
    for attempt in 0..ATTEMPTS {
        cluster.add_job(attempt)?;
        cluster.heal(&StepFault::record(record.clone())).await?;
        let reached = std::fs::read_to_string(&record).context("the record of steps")?;
        let reached: BTreeSet<_> = reached.lines().collect();
        missing = moments_of(steps);
        missing.retain(|moment| !reached.contains(moment));
        if missing.is_empty() {
            break;
        }
    }
    ensure!(missing.is_empty(), "a cluster does not reach {missing:?}");
    Ok(cluster.kills)
}

fn moments_of(steps: &[Step]) -> Vec<&'static str> {
    steps.iter().flat_map(|step| [step.before, step.after]).collect()
}

fn shuffle<T>(items: &mut [T], random: &mut Random) {
    for last in (1..items.len()).rev() {
        let other = usize::try_from(random.below(last as u64 + 1)).unwrap_or(0);
        items.swap(last, other);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_wherever_a_cluster_process_is_killed_in_zookeeper_mode() -> Result<()> {
    let seed = seed()?;
    eprintln!("HA_TEST_SEED={seed}");
    let series = match full_form() {
        true => Series {
            rounds: 9,
            moments: None,
            random: 160,
        },
        false => Series {
            rounds: 1,
            moments: Some(5),
            random: 1,
        },
    };
    let steps = steps_of_a_cluster(true);
    let kills = run(Place::in_zookeeper_mode().await?, &steps, &series, seed).await?;
    eprintln!("{kills} kills");
    ensure!(kills >= if full_form() { 500 } else { 6 });
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_wherever_a_cluster_process_is_killed_in_filesystem_mode() -> Result<()> {
    let seed = seed()?;
    eprintln!("HA_TEST_SEED={seed}");
    let series = match full_form() {
        true => Series {
            rounds: 3,
            moments: None,
            random: 40,
        },
        false => Series {
            rounds: 1,
            moments: Some(3),
            random: 1,
        },
    };
    let steps = steps_of_a_cluster(false);
    let kills = run(Place::in_filesystem_mode()?, &steps, &series, seed).await?;
    eprintln!("{kills} kills");
    Ok(())
}
