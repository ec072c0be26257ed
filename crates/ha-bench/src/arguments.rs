use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "ha-bench",
    version,
    about = "Measures ha-services on a ZooKeeper server"
)]
pub struct Arguments {
    /// What is measured.
    #[command(subcommand)]
    pub(crate) workload: Workload,
}

/// A workload.
#[derive(Debug, Subcommand)]
pub(crate) enum Workload {
    /// Increments of the checkpoint id counter
    W1(CounterOptions),
    /// Adding checkpoints
    W2(CheckpointOptions),
    /// Putting, recovering and removing job graphs
    W3(GraphOptions),
    /// Handing leadership over, from the end of the leader to the next one being known
    W4(HandOverOptions),
    /// Telling many retrievers of a leader
    W5(FanOutOptions),
    /// Leading, and nothing else: prints LEADER, ends when stdin does
    W6(FootprintOptions),
    /// Recording the end of jobs, and that they are cleaned up
    W7(ResultOptions),
    /// Recovering jobs with their checkpoints from a cold start
    Recover(JobOptions),
    /// The ZooKeeper client alone, which is the limit
    Raw(RawOptions),
    /// The fresh process of w3
    #[command(hide = true)]
    W3Rest(GraphOptions),
    /// The fresh process of recover
    #[command(hide = true)]
    RecoverRest(JobOptions),
}

/// Where it runs.
#[derive(Args, Clone, Debug)]
pub(crate) struct Place {
    /// The server, HOST:PORT
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) zk: String,
    /// The HA storage directory
    #[arg(long, value_name = "HA_DIR")]
    pub(crate) dir: PathBuf,
    /// The cluster that another process of this workload has made
    #[arg(long, hide = true)]
    pub(crate) cluster: Option<String>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct CounterOptions {
    #[command(flatten)]
    pub(crate) place: Place,
    /// How many increments
    #[arg(long, default_value_t = 2000, value_parser = at_least_one())]
    pub(crate) n: u64,
    /// How many before, which are not counted
    #[arg(long, default_value_t = 300)]
    pub(crate) warmup: u64,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct CheckpointOptions {
    #[command(flatten)]
    pub(crate) place: Place,
    /// How many checkpoints
    #[arg(long, default_value_t = 1000, value_parser = at_least_one())]
    pub(crate) n: u64,
    /// How many before, which are not counted
    #[arg(long, default_value_t = 200)]
    pub(crate) warmup: u64,
    /// The metadata of a checkpoint, in bytes
    #[arg(long, default_value_t = 1024)]
    pub(crate) size: usize,
    /// How many are retained
    #[arg(long, default_value_t = 3, value_parser = at_least_one())]
    pub(crate) retained: u64,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct GraphOptions {
    #[command(flatten)]
    pub(crate) place: Place,
    /// How many job graphs
    #[arg(long, default_value_t = 1000, value_parser = at_least_one())]
    pub(crate) n: u64,
    /// A job graph, in bytes
    #[arg(long, default_value_t = 10240)]
    pub(crate) size: usize,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct HandOverOptions {
    #[command(flatten)]
    pub(crate) place: Place,
    /// How the leader ends
    #[arg(long, value_enum, default_value_t = Ending::Graceful)]
    pub(crate) mode: Ending,
    /// How many times
    #[arg(long, default_value_t = 50, value_parser = at_least_one())]
    pub(crate) n: u64,
    /// How many times before, which are not counted
    #[arg(long, default_value_t = 10)]
    pub(crate) warmup: u64,
}

/// How a leader ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ending {
    /// It leaves the election
    Graceful,
    /// Its session ends, and takes its latch along
    Crash,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct FanOutOptions {
    #[command(flatten)]
    pub(crate) place: Place,
    /// How many retrievers
    #[arg(long, default_value_t = 200, value_parser = at_least_one())]
    pub(crate) listeners: u64,
    /// Whether all of them are in one process, on one session, or each has a session of its own
    #[arg(long, value_enum, default_value_t = Clients::Shared)]
    pub(crate) clients: Clients,
    /// How many times
    #[arg(long, default_value_t = 40, value_parser = at_least_one())]
    pub(crate) n: u64,
    /// How many times before, which are not counted
    #[arg(long, default_value_t = 10)]
    pub(crate) warmup: u64,
}

/// On which sessions retrievers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Clients {
    /// One for all
    Shared,
    /// One each
    Own,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct FootprintOptions {
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ResultOptions {
    #[command(flatten)]
    pub(crate) place: Place,
    /// How many jobs end
    #[arg(long, default_value_t = 500, value_parser = at_least_one())]
    pub(crate) n: u64,
    /// Whether a result is deleted once its job is cleaned up
    #[arg(long, default_value_t = true, action = clap::ArgAction::Set)]
    pub(crate) delete_on_commit: bool,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct RawOptions {
    // The storage directory is not used, and named all the same: one command line for all.
    #[command(flatten)]
    pub(crate) place: Place,
    /// How many of each operation
    #[arg(long, default_value_t = 2000, value_parser = at_least_one())]
    pub(crate) n: u64,
    /// The data of a node, in bytes
    #[arg(long, default_value_t = 100)]
    pub(crate) size: usize,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct JobOptions {
    #[command(flatten)]
    pub(crate) place: Place,
    /// How many jobs
    #[arg(long, default_value_t = 1000, value_parser = at_least_one())]
    pub(crate) n: u64,
    /// Checkpoints of each job
    #[arg(long, default_value_t = 3, value_parser = at_least_one())]
    pub(crate) checkpoints: u64,
    /// A job graph, and the metadata of a checkpoint, in bytes
    #[arg(long, default_value_t = 1024)]
    pub(crate) size: usize,
}

fn at_least_one() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_takes_server_folder_and_number() {
        for workload in ["w1", "w2", "w3", "w4", "w5", "w7", "recover", "raw"] {
            let line = ["ha-bench", workload, "--zk", "h:1", "--dir", "/d", "--n", "5"];
            let parsed = Arguments::try_parse_from(line).unwrap();
            let n = match parsed.workload {
                Workload::W1(options) => options.n,
                Workload::W2(options) => options.n,
                Workload::W3(options) | Workload::W3Rest(options) => options.n,
                Workload::W4(options) => options.n,
                Workload::W5(options) => options.n,
                Workload::W7(options) => options.n,
                Workload::Raw(options) => options.n,
                Workload::W6(_) => unreachable!("it has no number"),
                Workload::Recover(options) | Workload::RecoverRest(options) => options.n,
            };
            assert_eq!(n, 5);
        }
        for line in [
            &["ha-bench", "w1"][..],
            &["ha-bench", "w8", "--zk", "h:1", "--dir", "/d"],
            &["ha-bench", "w4", "--zk", "h:1", "--dir", "/d", "--mode", "slow"],
            &["ha-bench", "w5", "--zk", "h:1", "--dir", "/d", "--listeners", "0"],
            &[
                "ha-bench",
                "w7",
                "--zk",
                "h:1",
                "--dir",
                "/d",
                "--delete-on-commit",
                "maybe",
            ],
            &["ha-bench", "w1", "--zk", "h:1", "--dir", "/d", "--n", "0"],
        ] {
            assert!(Arguments::try_parse_from(line).is_err(), "{line:?}");
        }
    }
}
