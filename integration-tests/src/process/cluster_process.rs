use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result};
use tempfile::TempDir;

use super::{CapturedOutput, ManagedProcess, binaries};

/// The time that a short command may take.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);

/// A running program of this workspace: by default `ha-cluster`, with its output captured.
///
/// It is killed when it is dropped.
#[derive(Debug)]
pub struct ClusterProcess {
    // Dropped first: the process ends before its folder goes.
    process: ManagedProcess,
    output: CapturedOutput,
    name: String,
    _folder: TempDir,
}

impl ClusterProcess {
    /// Starts the program `binary` (of the package of the same name); `adapt` changes the command before.
    ///
    /// # Errors
    /// It cannot be built or started.
    pub fn spawn_binary(
        binary: &str,
        name: &str,
        arguments: &[&str],
        adapt: impl FnOnce(&mut Command),
    ) -> Result<Self> {
        Self::spawn_program(binary, binary, name, arguments, adapt)
    }

    /// Starts the program `binary` of the package `package`; `adapt` changes the command before.
    ///
    /// # Errors
    /// It cannot be built or started.
    pub fn spawn_program(
        package: &str,
        binary: &str,
        name: &str,
        arguments: &[&str],
        adapt: impl FnOnce(&mut Command),
    ) -> Result<Self> {
        let program = binaries::find_or_build(package, binary)?;
        let folder = tempfile::Builder::new().prefix("ha-test-process-").tempdir()?;
        let output = CapturedOutput::new(folder.path().to_owned());
        let (stdout, stderr) = output.files()?;
        let mut command = clean_command(&program);
        command.args(arguments).stdout(stdout).stderr(stderr);
        adapt(&mut command);
        Ok(Self {
            process: ManagedProcess::spawn(name, &mut command)?,
            output,
            name: name.to_owned(),
            _folder: folder,
        })
    }

    /// The name that the test gave it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it writes.
    pub fn output(&self) -> &CapturedOutput {
        &self.output
    }

    /// The process: signals, id, whether it lives.
    pub fn process(&mut self) -> &mut ManagedProcess {
        &mut self.process
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Waits until it ends.
    ///
    /// # Errors
    /// It does not within `timeout` times the time factor; the end of its output is in the error.
    pub async fn wait(&mut self, timeout: Duration) -> Result<ExitStatus> {
        self.process
            .wait(timeout)
            .await
            .with_context(|| format!("the end of its output:\n{}", self.output.end()))
    }
}

/// Runs a program of this workspace to its end and returns its output.
///
/// # Errors
/// It cannot be built or started, or does not end within a minute times the time factor.
pub async fn run_binary(binary: &str, arguments: &[&str]) -> Result<Output> {
    run_adapted_binary(binary, arguments, |_| {}).await
}

/// The same; `adapt` changes the command before.
///
/// # Errors
/// As [`run_binary`].
pub async fn run_adapted_binary(
    binary: &str,
    arguments: &[&str],
    adapt: impl FnOnce(&mut Command),
) -> Result<Output> {
    let mut process = ClusterProcess::spawn_binary(binary, binary, arguments, adapt)?;
    let status = process.wait(COMMAND_TIMEOUT).await?;
    Ok(Output {
        status,
        stdout: process.output.stdout().into_bytes(),
        stderr: process.output.stderr().into_bytes(),
    })
}

/// A command without the settings of the machine that would change what the program does.
fn clean_command(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (key, _) in std::env::vars_os() {
        let name = key.to_string_lossy();
        if name.starts_with("HA_") || name == "RUST_LOG" {
            command.env_remove(&key);
        }
    }
    command.env("NO_COLOR", "1").stdin(Stdio::null());
    command
}
