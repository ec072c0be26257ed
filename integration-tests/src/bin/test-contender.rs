//! One HA process for tests: it contends through the public library, records its leadership (see
//! `integration_tests::leadership`), and obeys the commands on its stdin (`integration_tests::leadership::Commands`).
//! It leaves in order when its stdin ends.

use std::io::{BufRead as _, Write as _};
use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;
use ha_cli::{LogLevel, SharedOptions, init_logging, load_configuration};
use ha_services::Environment;
use ha_services::ids::ComponentId;
use integration_tests::leadership::{Commands, Contender, ContenderOptions};

/// Two, as on the smallest machine: a test blocks them all.
const WORKER_THREADS: usize = 2;

/// An HA process for tests.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    shared: SharedOptions,
    /// Its name in latch, address and record.
    #[arg(long)]
    name: String,
    /// The folder for its record.
    #[arg(long)]
    records: PathBuf,
    /// A component of the user's own that it contends for, beside the dispatcher.
    #[arg(long = "component")]
    components: Vec<String>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    init_logging(&arguments.shared, LogLevel::Info);
    let mut components = vec![ComponentId::dispatcher()];
    for name in &arguments.components {
        components.push(ComponentId::custom(name)?);
    }
    let options = ContenderOptions {
        name: arguments.name,
        configuration: load_configuration(&arguments.shared)?,
        components,
        records: arguments.records,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .enable_all()
        .build()?;
    let contender = runtime.block_on(Contender::start(options, Environment::system()))?;
    let mut commands = Commands::new(contender);
    let mut answers = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let answer = runtime.block_on(commands.obey(&line?));
        writeln!(answers, "{}", answer.line)?;
        answers.flush()?;
        if answer.was_stop {
            return Ok(());
        }
    }
    runtime.block_on(commands.close())
}
