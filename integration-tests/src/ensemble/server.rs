use std::fmt::Debug;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::{AppliedTransaction, ReservedPort, ServerRole, Transaction, applied};
use crate::waiting::eventually;

const START_TIMEOUT: Duration = Duration::from_secs(60);

/// One ZooKeeper server: a process or a container, with data of its own, that serves on 127.0.0.1.
#[derive(Debug)]
pub struct Server {
    port: ReservedPort,
    control: Box<dyn ServerControl>,
}

/// What is done to a server, by means of what it runs as. Ends it when it is dropped.
pub(super) trait ServerControl: Debug + Send + Sync {
    fn pid(&self) -> Option<u32>;
    fn is_alive(&mut self) -> bool;
    fn start(&mut self) -> Result<()>;
    fn kill(&mut self) -> Result<()>;
    fn stop(&self) -> Result<()>;
    fn cont(&self) -> Result<()>;
    /// Is called while it does not run.
    fn lose_data(&mut self) -> Result<()>;
    fn transactions(&self) -> Result<Vec<Transaction>>;
    /// Where its data is, if that is a folder of this machine.
    fn data_folder(&self) -> Result<&Path>;
    /// All that it logged so far.
    fn log(&self) -> String;
}

impl Server {
    pub(super) fn new(port: ReservedPort, control: Box<dyn ServerControl>) -> Self {
        Self { port, control }
    }

    /// Where clients connect.
    pub fn address(&self) -> SocketAddr {
        self.port.address()
    }

    /// The process id while it runs, as the machine of its engine numbers processes.
    pub fn pid(&self) -> Option<u32> {
        self.control.pid()
    }

    /// Whether its process runs.
    pub fn is_alive(&mut self) -> bool {
        self.control.is_alive()
    }

    /// Starts it (again), with the data that it has. Does nothing when it runs. Does not wait until it serves.
    ///
    /// # Errors
    /// The JVM or the container cannot be started.
    pub fn start(&mut self) -> Result<()> {
        self.control.start().with_context(|| self.name())
    }

    /// kill -9. It can be started again.
    ///
    /// # Errors
    /// The signal cannot be sent.
    pub fn kill(&mut self) -> Result<()> {
        self.control.kill().with_context(|| self.name())
    }

    /// SIGSTOP, or a pause of the container: it keeps its connections and answers nothing.
    ///
    /// # Errors
    /// It does not run.
    pub fn stop(&self) -> Result<()> {
        self.control.stop().with_context(|| self.name())
    }

    /// Lets it go on after [`Server::stop`].
    ///
    /// # Errors
    /// It does not run.
    pub fn cont(&self) -> Result<()> {
        self.control.cont().with_context(|| self.name())
    }

    /// kill -9, start, wait until it serves.
    ///
    /// # Errors
    /// It does not come up.
    pub async fn restart(&mut self) -> Result<()> {
        self.kill()?;
        self.start()?;
        self.wait_until_serving().await
    }

    /// Deletes its data, as if it had lost its disk. It must not run.
    ///
    /// # Errors
    /// It runs, or its folder cannot be emptied.
    pub fn lose_data(&mut self) -> Result<()> {
        anyhow::ensure!(self.control.pid().is_none(), "{} runs", self.name());
        self.control.lose_data().with_context(|| self.name())
    }

    /// What it is in the ensemble; an answer means that it serves.
    ///
    /// # Errors
    /// It does not serve.
    pub fn role(&self) -> Result<ServerRole> {
        ServerRole::ask(self.address())
    }

    /// Waits until it serves.
    ///
    /// # Errors
    /// It does not within a minute; the end of its log is in the error.
    pub async fn wait_until_serving(&self) -> Result<()> {
        let what = format!("{} serves", self.name());
        eventually(&what, START_TIMEOUT, async || self.role().map(|_| ()))
            .await
            .with_context(|| format!("the end of its log:\n{}", self.log_end()))
    }

    /// Every transaction in its log so far.
    ///
    /// # Errors
    /// ZooKeeper's tool cannot read the log; or the server is in a container that does not run.
    pub fn transactions(&self) -> Result<Vec<Transaction>> {
        self.control.transactions().with_context(|| self.name())
    }

    /// Everything that it applied so far, in order.
    ///
    /// # Errors
    /// Its log cannot be read; or the server is in a container.
    pub fn applied(&self) -> Result<Vec<AppliedTransaction>> {
        applied::read(self.control.data_folder()?)
    }

    fn name(&self) -> String {
        format!("ZooKeeper at {}", self.address())
    }

    fn log_end(&self) -> String {
        let log = self.control.log();
        let lines: Vec<_> = log.lines().collect();
        lines
            .get(lines.len().saturating_sub(20)..)
            .unwrap_or_default()
            .join("\n")
    }
}
