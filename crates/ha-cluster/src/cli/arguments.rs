use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use ha_cli::{CompletionsArguments, ManArguments, SharedOptions};
use ha_services::configuration::ConfigValue as _;

const EXIT_CODES: &str = "\
Exit codes: 0 success; 1 a failed or cancelled job, or a conflict; 2 wrong usage, configuration or job file;
3 ZooKeeper or the leader could not be reached in time; 130 ended by a second signal.";

/// What `--help` says after the options: what stands in a job file, and how the process is talked to.
const RUN_HELP: &str = "\
Job file: {\"name\": \"wordcount\", \"source\": \"text.txt\", \"sink\": \"counts.txt\",
           \"checkpoint_interval\": \"200 ms\"}
  It counts the words of the source and writes the counts to the sink, which it replaces. Relative paths
  are below the directory in which the command is called. \"lines_per_second\" (optional) slows it down;
  \"job_id\" (optional, 32 hexadecimal digits) names the job.
Job id: the file's job_id; else made from the cluster id and the file's content, so that the same file is
  the same job. A job that has a result is not run again: give another job_id to run it once more.
REST: GET /v1/overview, /healthz, /v1/jobs, /v1/jobs/ID; POST /v1/jobs; DELETE /v1/jobs/ID cancels.

Exit codes: 0 success; 1 a failed or cancelled job, or a conflict; 2 wrong usage, configuration or job file;
3 ZooKeeper or the leader could not be reached in time; 130 ended by a second signal.";

const SUBMIT_HELP: &str = "\
Job file: see `ha-cluster run --help`.
Job id: the file's job_id; else a random one, so that submitting a file twice runs it twice.

Exit codes: 0 success; 1 a failed or cancelled job, or a conflict; 2 wrong usage, configuration or job file;
3 ZooKeeper or the leader could not be reached in time; 130 ended by a second signal.";

/// A cluster process of ha-services: it contends for leadership, and while it leads it runs checkpointed jobs.
#[derive(Debug, Parser)]
#[command(
    name = "ha-cluster",
    version,
    after_help = EXIT_CODES
)]
pub(super) struct Arguments {
    #[command(flatten)]
    pub(super) shared: SharedOptions,
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run a cluster process, until it is told to stop
    Run(RunArguments),
    /// Submit a job to the leader of a running cluster
    Submit(SubmitArguments),
    /// Write the completions for a shell to stdout
    Completions(CompletionsArguments),
    /// Write the manual pages to a directory
    Man(ManArguments),
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES, after_long_help = RUN_HELP)]
pub(super) struct RunArguments {
    /// The name of the process, for people [default: host name and process id]
    #[arg(long, value_name = "NAME", value_parser = process_name)]
    pub(super) name: Option<String>,

    /// Submit this job to the leader of the cluster, which this process may become; may be repeated
    #[arg(long = "job", value_name = "JOB.json")]
    pub(super) jobs: Vec<PathBuf>,

    /// End when the jobs given by --job have ended, whichever process ran them
    #[arg(long, requires = "jobs")]
    pub(super) exit_when_idle: bool,

    /// Where the REST endpoint listens [default: rest.bind-address and rest.port]
    #[arg(long, value_name = "HOST:PORT")]
    pub(super) rest: Option<String>,

    /// Where others reach the REST endpoint [default: rest.address, or where it listens]
    #[arg(long, value_name = "HOST:PORT")]
    pub(super) rest_advertise: Option<String>,

    /// Try to reach ZooKeeper for ever instead of giving up after the configured attempts
    #[arg(long)]
    pub(super) wait_for_zookeeper: bool,

    #[command(flatten)]
    pub(super) shared: SharedOptions,
}

#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES, after_long_help = SUBMIT_HELP)]
pub(super) struct SubmitArguments {
    /// The job
    #[arg(value_name = "JOB.json")]
    pub(super) job: PathBuf,

    /// Wait until the job has ended
    #[arg(long)]
    pub(super) wait: bool,

    /// How long to look for a leader that takes the job; a number without a unit is milliseconds
    #[arg(long, value_name = "DURATION", default_value = "30 s", value_parser = duration)]
    pub(super) timeout: Duration,

    #[command(flatten)]
    pub(super) shared: SharedOptions,
}

fn duration(text: &str) -> Result<Duration, String> {
    Duration::parse(text).map_err(|reason| format!("it {reason}"))
}

/// A name is shown in logs and znodes.
fn process_name(text: &str) -> Result<String, String> {
    if text.trim().is_empty() || text.len() > 200 || text.chars().any(char::is_control) {
        return Err("1 to 200 characters without control characters are expected".to_owned());
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_options_stand_before_and_after_the_command_word() {
        let arguments = Arguments::try_parse_from([
            "ha-cluster",
            "-D",
            "a=1",
            "--log",
            "warn",
            "run",
            "-D",
            "b=2",
            "--name",
            "x",
            "--exit-when-idle",
            "--job",
            "a.json",
        ])
        .unwrap();
        let Command::Run(run) = arguments.command else {
            panic!("not run");
        };
        assert_eq!(
            arguments.shared.merged_with(run.shared.clone()).definitions.len(),
            2
        );
        assert_eq!((run.name.as_deref(), run.exit_when_idle), (Some("x"), true));
    }

    #[test]
    fn the_long_help_tells_of_job_files_rest_and_exit_codes() {
        for (word, parts) in [
            (
                "run",
                ["checkpoint_interval", "DELETE /v1/jobs/ID", "Exit codes: 0"],
            ),
            ("submit", ["run --help", "random", "Exit codes: 0"]),
        ] {
            let error = Arguments::try_parse_from(["ha-cluster", word, "--help"]).unwrap_err();
            let help = error.to_string();
            assert!(parts.iter().all(|part| help.contains(part)), "{help}");
        }
    }

    #[test]
    fn wrong_values_are_refused() {
        for arguments in [
            &["submit"][..],
            &["submit", "a.json", "--timeout", "soon"],
            &["run", "--name", ""],
            &["run", "--unknown"],
            &["run", "--exit-when-idle"],
            &[],
        ] {
            let all = std::iter::once(&"ha-cluster").chain(arguments);
            assert!(Arguments::try_parse_from(all).is_err(), "{arguments:?}");
        }
    }
}
