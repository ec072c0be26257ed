use std::io::Write as _;
use std::path::Path;
use std::process::{ChildStdin, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::ClusterSettings;
use crate::process::{ClusterProcess, ManagedProcess};
use crate::waiting::eventually;

/// How long the answer to a command may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// The program `test-contender` as a process: a [`super::Contender`] that obeys [`super::Commands`].
#[derive(Debug)]
pub struct ContenderProcess {
    process: ClusterProcess,
    commands: ChildStdin,
    last_id: u64,
}

impl ContenderProcess {
    /// Starts it; it contends for the dispatcher and records in the folder `records`.
    ///
    /// # Errors
    /// It cannot be built or started.
    pub fn spawn(name: &str, settings: &ClusterSettings, records: &Path) -> Result<Self> {
        let records = records.display().to_string();
        let mut arguments = vec!["--name", name, "--records", &records, "--log", "debug"];
        let options = settings.options();
        let definitions: Vec<_> = options
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        for definition in &definitions {
            arguments.extend(["-D", definition]);
        }
        let mut process = ClusterProcess::spawn_program(
            "integration-tests",
            "test-contender",
            name,
            &arguments,
            |command| {
                command.stdin(Stdio::piped());
            },
        )?;
        let commands = process.process().take_stdin().context("no way to its stdin")?;
        Ok(Self {
            process,
            commands,
            last_id: 0,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.process.name()
    }

    /// The process: signals, output.
    pub fn process(&mut self) -> &mut ClusterProcess {
        &mut self.process
    }

    /// Signals and the like.
    pub fn signals(&mut self) -> &mut ManagedProcess {
        self.process.process()
    }

    /// Gives a command and waits for its answer.
    ///
    /// # Errors
    /// It answers an error, or not in time.
    pub async fn ask(&mut self, command: &str) -> Result<Value> {
        let id = self.tell(command)?;
        self.answer(id).await
    }

    /// Gives a command; the number is for [`ContenderProcess::answer`].
    ///
    /// # Errors
    /// It has ended.
    pub fn tell(&mut self, command: &str) -> Result<u64> {
        self.last_id += 1;
        writeln!(self.commands, "{} {command}", self.last_id).with_context(|| {
            format!(
                "{} takes no command: {}",
                self.name(),
                self.process.output().end()
            )
        })?;
        Ok(self.last_id)
    }

    /// The answer to the command of this number.
    ///
    /// # Errors
    /// It answers an error, or not in time.
    pub async fn answer(&self, id: u64) -> Result<Value> {
        let what = format!("{} answers the command {id}", self.name());
        let is_it = |line: &str| {
            serde_json::from_str::<Value>(line).is_ok_and(|answer| answer["id"].as_u64() == Some(id))
        };
        let output = self.process.output();
        let line = output.wait_for_line(&what, ANSWER_TIMEOUT, is_it).await?;
        let answer: Value = serde_json::from_str(&line)?;
        match answer["error"].as_str() {
            Some(error) => bail!("{}: {error}", self.name()),
            None => Ok(answer),
        }
    }

    /// Whether it says that it leads.
    ///
    /// # Errors
    /// It does not answer.
    pub async fn leads(&mut self) -> Result<bool> {
        Ok(self.ask("query").await?["leads"] == true)
    }

    /// Waits until it leads.
    ///
    /// # Errors
    /// It does not in time; the end of its output is in the error.
    pub async fn wait_until_leads(&mut self, within: Duration) -> Result<()> {
        let name = self.name().to_owned();
        let waited = eventually(&format!("{name} leads"), within, async || {
            anyhow::ensure!(self.leads().await?, "it does not");
            Ok(())
        })
        .await;
        waited.with_context(|| format!("the end of its output:\n{}", self.process.output().end()))
    }

    /// Lets it leave in order, and waits for its end.
    ///
    /// # Errors
    /// It cannot give leadership up, or does not end in time.
    pub async fn stop(&mut self) -> Result<()> {
        self.ask("stop").await?;
        let status = self.process.wait(ANSWER_TIMEOUT).await?;
        anyhow::ensure!(status.success(), "{} ended with {status}", self.name());
        Ok(())
    }
}
