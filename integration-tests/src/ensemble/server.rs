use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::{Installation, ReservedPort, ServerRole, Transaction, transactions};
use crate::process::ManagedProcess;
use crate::waiting::eventually;

const MAIN_CLASS: &str = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// One ZooKeeper server: a JVM process with a data folder of its own on 127.0.0.1.
#[derive(Debug)]
pub struct Server {
    pub(super) installation: Installation,
    pub(super) folder: PathBuf,
    pub(super) port: ReservedPort,
    pub(super) force_sync: bool,
    pub(super) process: Option<ManagedProcess>,
}

impl Server {
    /// Where clients connect.
    pub fn address(&self) -> SocketAddr {
        self.port.address()
    }

    /// The process id while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(ManagedProcess::pid)
    }

    /// Whether its process runs.
    pub fn is_alive(&mut self) -> bool {
        self.process.as_mut().is_some_and(ManagedProcess::is_alive)
    }

    /// Starts it (again), with the data that it has. Does nothing when it runs. Does not wait.
    ///
    /// # Errors
    /// The JVM cannot be started.
    pub fn start(&mut self) -> Result<()> {
        if self.process.is_some() {
            return Ok(());
        }
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.folder.join("server.log"))?;
        let force_sync = if self.force_sync { "yes" } else { "no" };
        let mut command = self.installation.command(
            MAIN_CLASS,
            &[
                ("zookeeper.forceSync", force_sync),
                ("zookeeper.admin.enableServer", "false"),
                ("org.slf4j.simpleLogger.showDateTime", "true"),
            ],
        );
        command
            .arg(self.folder.join("zoo.cfg"))
            .stdout(log.try_clone()?)
            .stderr(log);
        self.process = Some(ManagedProcess::spawn("zookeeper", &mut command)?);
        Ok(())
    }

    /// kill -9. It can be started again.
    ///
    /// # Errors
    /// The signal cannot be sent.
    pub fn kill(&mut self) -> Result<()> {
        match self.process.take() {
            Some(mut process) => process.kill(),
            None => Ok(()),
        }
    }

    /// SIGSTOP: it keeps its connections and answers nothing.
    ///
    /// # Errors
    /// It does not run.
    pub fn stop(&self) -> Result<()> {
        self.running()?.stop()
    }

    /// SIGCONT after [`Server::stop`].
    ///
    /// # Errors
    /// It does not run.
    pub fn cont(&self) -> Result<()> {
        self.running()?.cont()
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
    pub fn lose_data(&self) -> Result<()> {
        anyhow::ensure!(self.process.is_none(), "the server at {} runs", self.address());
        for entry in std::fs::read_dir(self.folder.join("data"))? {
            let path = entry?.path();
            if path.is_dir() {
                std::fs::remove_dir_all(&path).with_context(|| path.display().to_string())?;
            }
        }
        Ok(())
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
        let what = format!("ZooKeeper at {} serves", self.address());
        eventually(&what, START_TIMEOUT, async || self.role().map(|_| ()))
            .await
            .with_context(|| format!("the end of its log:\n{}", self.log_end()))
    }

    /// Every transaction in its log so far.
    ///
    /// # Errors
    /// ZooKeeper's tool cannot read the log.
    pub fn transactions(&self) -> Result<Vec<Transaction>> {
        transactions::read(&self.installation, &self.folder.join("data"))
    }

    fn log_end(&self) -> String {
        let log = std::fs::read_to_string(self.folder.join("server.log")).unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        lines
            .get(lines.len().saturating_sub(20)..)
            .unwrap_or_default()
            .join("\n")
    }

    fn running(&self) -> Result<&ManagedProcess> {
        self.process
            .as_ref()
            .with_context(|| format!("the server at {} does not run", self.address()))
    }
}
