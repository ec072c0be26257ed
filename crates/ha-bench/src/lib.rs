//! The benchmark program `ha-bench`: what a user of ha-services gets, measured on one ZooKeeper server.
//!
//! ```text
//! ha-bench w1|w2|w3|w4|w5|w6|w7|recover|raw --zk HOST:PORT --dir HA_DIR [--n N] [options]
//! ```
//!
//! | workload | what is timed | lines |
//! |---|---|---|
//! | `w1` | an increment of the checkpoint id counter, one after the other | `w1-counter` |
//! | `w2` | adding a checkpoint of `--size` (1 KiB) with `--retained` (3): file, pointer and removal of the oldest in one multi, deletion of its file | `w2-checkpoint-add` |
//! | `w3` | putting `--n` job graphs of `--size` (10 KiB); a fresh process recovers them all; and removes them all | `w3-put`, `w3-recover`, `w3-remove` |
//! | `w4` | one hand-over after the other between two processes (`--mode graceful` or `crash`): from the leader's end until the listener of a third process's retriever is told of the next leader | `w4-graceful` or `w4-crash` |
//! | `w5` | a leader's publication of an address, until the last of `--listeners` (200) is told of it; they are in one process on one session, or each on its own (`--clients shared` or `own`) | `w5-fanout` |
//! | `w6` | nothing: it prints `LEADER` when it leads, and ends when its standard input closes; whoever started it measures | none |
//! | `w7` | recording the end of a job (`create_dirty`) and, its data removed in between and not measured, that it is cleaned up (`mark_clean`), by `--delete-on-commit` | `w7-job-result` |
//! | `raw` | operations of the ZooKeeper client alone: create, set of 100 bytes, get, check and set in one multi (what a fenced write is), delete | one each |
//! | `recover` | `--n` jobs with `--checkpoints` (3) each are listed and recovered by a fresh process, from its start on | `recover` |
//!
//! Each but `raw` leads first, by an election of its own, so that every write carries the fence. It uses a cluster id
//! that nobody else has, below the root `/ha-bench`, and removes it at its end. Build it with `--release`.
//!
//! # Result lines
//!
//! Each is one line of JSON on stdout: `peer` (`rust`), `workload`, `variant`, `n`, `median_us`, `p99_us`, `mean_us`,
//! `min_us`, `ops_per_s`, `req_per_op` and `txn_per_op`, `ref_set_us`, `ratio_to_set`, `peak_rss_mb`, and what belongs
//! to the workload, `total_ms` for instance.
//!
//! - `req_per_op` and `txn_per_op` are what the *server* counted (`srvr`: received packets without its own, and
//!   transactions) from before to after, whole: the session's heartbeats are in it, every eighth of its timeout, and so
//!   is what the job graph store reads to notice other processes' changes, once a second at most. `requests` and
//!   `transactions` are the same as numbers, and `background_at_most` bounds what of them no operation asked for. The
//!   server must have no other clients meanwhile, and must be the one that `--zk` names first.
//! - `ref_set_us` is the median of raw sets of 100 bytes on the same client, before and after; `ratio_to_set` is
//!   `median_us` by it.
//! - `w4` counts until the server is left alone, so that what a hand-over brings about later is in it. Its parts, from the
//!   leader's end on: `close_call` (the leader's own call), `grant` and `confirm` (the next leader's), each as
//!   `_median_us` and `_p99_us`. A crash is the end of the leader's session: the server sees it closed without the
//!   latch given up before, and deletes that by itself, as at the timeout. `w5` has `publish` and `each_listener`, `w7`
//!   `create_dirty` and `mark_clean`.
//! - State files are durable: written, fsynced, put in place, their folder fsynced. To see the rest without the disk,
//!   give a `--dir` in memory (`/dev/shm/x`), and say so.
//!
//! # Beside its peers
//!
//! Programs that measure the same on other libraries take the same command line and print the same lines; they are no
//! part of this repository. `compare.sh`, beside this package's manifest, runs all of them in turn, several rounds, on one
//! ZooKeeper whose log lies in memory and then on the disk, and writes a table of times, requests and ratios, and of
//! what is to be reached. Its head tells the options. Without the peers it measures this project alone:
//!
//! ```text
//! PEERS_DIR=/path/to/peers crates/ha-bench/compare.sh OUTDIR
//! SCALE=20 ROUNDS=1 crates/ha-bench/compare.sh OUTDIR
//! ```

mod arguments;
mod audience;
mod candidate;
mod cluster;
mod leader;
mod memory;
mod meter;
mod reference;
mod result_line;
mod samples;
mod server_counters;
mod workloads;

pub use arguments::Arguments;
use arguments::Workload;
use ha_services::Result;

/// Runs the workload, and prints its lines.
///
/// # Errors
/// The first failure, of a workload or of ZooKeeper; what was printed before holds.
pub async fn run(arguments: Arguments) -> Result<()> {
    // Each is large, and only one of them runs.
    match arguments.workload {
        Workload::W1(options) => Box::pin(workloads::counter(&options)).await,
        Workload::W2(options) => Box::pin(workloads::checkpoints(&options)).await,
        Workload::W3(options) => Box::pin(workloads::put_graphs(&options)).await,
        Workload::W3Rest(options) => Box::pin(workloads::recover_and_remove_graphs(&options)).await,
        Workload::W4(options) => Box::pin(workloads::hand_over(&options)).await,
        Workload::W5(options) => Box::pin(workloads::fan_out(&options)).await,
        Workload::W6(options) => Box::pin(workloads::footprint(&options)).await,
        Workload::W7(options) => Box::pin(workloads::results(&options)).await,
        Workload::Raw(options) => Box::pin(workloads::raw(&options)).await,
        Workload::Recover(options) => Box::pin(workloads::store_jobs(&options)).await,
        Workload::RecoverRest(options) => Box::pin(workloads::recover_jobs(&options)).await,
    }
}
