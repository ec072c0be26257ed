use std::fmt::Display;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use ha_core::environment::{Environment, StepObserver};
use rustix::process::{Signal, getpid, kill_process};

use crate::waiting::block_thread;

/// What a process does to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// kill -9.
    Kill,
    /// SIGSTOP: it stands still until somebody continues it.
    Stop,
    /// The task that reaches the step panics.
    Panic,
}

/// What happens to a process of the tests at the moments around its writes and deletions
/// ([`ha_core::environment::steps`]). It is told to the process by its environment.
#[derive(Clone, Debug, Default)]
pub struct StepFault {
    fault: Option<(Fault, String, usize)>,
    record: Option<PathBuf>,
}

/// Longer than it takes until a stopped process stands still, on a busy machine too.
const STOP_TAKES: Duration = Duration::from_secs(5);

const FAULT: &str = "TEST_FAULT";
const MOMENT: &str = "TEST_MOMENT";
const COUNT: &str = "TEST_MOMENT_COUNT";
const RECORD: &str = "TEST_RECORD";

impl StepFault {
    /// `fault` when `moment` is reached the `count`-th time, from 1.
    pub fn new(fault: Fault, moment: &str, count: usize) -> Self {
        Self {
            fault: Some((fault, moment.to_owned(), count)),
            record: None,
        }
    }

    /// Nothing happens; the moments that are reached are written to this file, a line each.
    pub fn record(file: PathBuf) -> Self {
        Self {
            fault: None,
            record: Some(file),
        }
    }

    /// Makes the process that `command` starts meet this.
    pub fn apply_to(&self, command: &mut Command) {
        if let Some((fault, moment, count)) = &self.fault {
            command.env(FAULT, fault.name());
            command.env(MOMENT, moment);
            command.env(COUNT, count.to_string());
        }
        if let Some(record) = &self.record {
            command.env(RECORD, record);
        }
    }

    /// In that process: the system's environment, in which this happens.
    ///
    /// # Errors
    /// What it was told is not complete, or the record cannot be written.
    pub fn environment() -> Result<Environment> {
        let fault = match std::env::var(FAULT) {
            Err(_) => None,
            Ok(fault) => {
                let count = std::env::var(COUNT)?;
                let count = count.parse().with_context(|| format!("{COUNT}={count}"))?;
                Some((fault.parse()?, std::env::var(MOMENT)?, count))
            }
        };
        let record = match std::env::var_os(RECORD) {
            None => None,
            Some(path) => Some(File::options().create(true).append(true).open(path)?),
        };
        Ok(Environment::system().with_step_observer(Arc::new(Observer {
            fault,
            record,
            reached: AtomicUsize::new(0),
        })))
    }
}

struct Observer {
    fault: Option<(Fault, String, usize)>,
    record: Option<File>,
    reached: AtomicUsize,
}

impl StepObserver for Observer {
    fn reached(&self, step: &'static str) {
        if let Some(mut record) = self.record.as_ref() {
            // In one write; a record that is short fails the test that reads it.
            let _ = record.write_all(format!("{step}\n").as_bytes());
        }
        if let Some((fault, moment, count)) = &self.fault
            && moment == step
            && self.reached.fetch_add(1, Ordering::SeqCst) + 1 == *count
        {
            fault.happen(step);
        }
    }
}

impl Fault {
    fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Stop => "stop",
            Self::Panic => "panic",
        }
    }

    #[expect(clippy::panic, reason = "it is asked for")]
    fn happen(self, step: &str) {
        let signal = |signal| {
            let sent = kill_process(getpid(), signal);
            assert!(sent.is_ok(), "the signal cannot be sent: {sent:?}");
        };
        match self {
            Self::Kill => {
                signal(Signal::KILL);
                // The signal may take this thread a moment later than it was sent.
                loop {
                    std::thread::park();
                }
            }
            Self::Stop => {
                signal(Signal::STOP);
                // The signal may be another thread's, and this one runs on for a moment.
                block_thread(STOP_TAKES);
            }
            Self::Panic => panic!("the test's panic at {step}"),
        }
    }
}

impl FromStr for Fault {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> Result<Self> {
        match [Self::Kill, Self::Stop, Self::Panic]
            .into_iter()
            .find(|fault| fault.name() == name)
        {
            Some(fault) => Ok(fault),
            None => bail!("{FAULT}={name}: no such fault"),
        }
    }
}

impl Display for StepFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.fault {
            Some((fault, moment, count)) => write!(f, "{} at {moment:?} number {count}", fault.name()),
            None => f.write_str("no fault"),
        }
    }
}
