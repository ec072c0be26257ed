use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::Installation;
use crate::ensemble::server::ServerControl;
use crate::ensemble::{EnsembleOptions, Transaction, transactions};
use crate::process::ManagedProcess;

const MAIN_CLASS: &str = "org.apache.zookeeper.server.quorum.QuorumPeerMain";

/// The data, in the folder that the server is configured in.
pub(super) const DATA: &str = "data";

/// A server as a JVM process with a data folder of its own on 127.0.0.1.
#[derive(Debug)]
pub(super) struct ProcessServer {
    installation: Installation,
    folder: PathBuf,
    data: PathBuf,
    force_sync: bool,
    heap_flag: String,
    process: Option<ManagedProcess>,
}

impl ProcessServer {
    /// A server that is configured in `folder` and does not run yet.
    pub(super) fn new(installation: Installation, folder: PathBuf, options: &EnsembleOptions) -> Self {
        Self {
            installation,
            data: folder.join(DATA),
            folder,
            force_sync: options.force_sync,
            heap_flag: options.heap_flag(),
            process: None,
        }
    }

    fn running(&self) -> Result<&ManagedProcess> {
        self.process.as_ref().context("the server does not run")
    }
}

impl ServerControl for ProcessServer {
    fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(ManagedProcess::pid)
    }

    fn is_alive(&mut self) -> bool {
        self.process.as_mut().is_some_and(ManagedProcess::is_alive)
    }

    fn start(&mut self) -> Result<()> {
        if self.process.is_some() {
            return Ok(());
        }
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.folder.join("server.log"))?;
        let force_sync = if self.force_sync { "yes" } else { "no" };
        let mut command = self.installation.command_with(
            &self.heap_flag,
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

    fn kill(&mut self) -> Result<()> {
        match self.process.take() {
            Some(mut process) => process.kill(),
            None => Ok(()),
        }
    }

    fn stop(&self) -> Result<()> {
        self.running()?.stop()
    }

    fn cont(&self) -> Result<()> {
        self.running()?.cont()
    }

    fn lose_data(&mut self) -> Result<()> {
        for entry in std::fs::read_dir(&self.data)? {
            let path = entry?.path();
            if path.is_dir() {
                std::fs::remove_dir_all(&path).with_context(|| path.display().to_string())?;
            }
        }
        Ok(())
    }

    fn transactions(&self) -> Result<Vec<Transaction>> {
        transactions::read(&self.installation, &self.data)
    }

    fn data_folder(&self) -> Result<&Path> {
        Ok(&self.data)
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("server.log")).unwrap_or_default()
    }
}
