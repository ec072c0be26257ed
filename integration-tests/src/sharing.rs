//! One server for all test processes.
//!
//! Test processes hold `users.lock` shared as long as they live. The first one starts a supervisor under
//! `start.lock`: this package's `test-ensemble`, detached from its session and its output. The supervisor owns the
//! server. When it can take both locks exclusively nobody uses the server: after some seconds without a user it ends
//! the server and itself. The locks are the kernel's, so none stays behind when a process is killed.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::process::binaries;
use crate::waiting::{eventually, now, pause};

const START_TIMEOUT: Duration = Duration::from_secs(90);
/// How long the server stays without a user: the tests of one run follow each other.
const IDLE_TIME: Duration = Duration::from_secs(8);
const IDLE_POLL: Duration = Duration::from_millis(500);

/// A share in a server of all test processes. The server lives at least as long as this value.
#[derive(Debug)]
pub(crate) struct Share {
    address: String,
    _lock: File,
}

impl Share {
    /// Finds the server of `folder` (below cargo's target folder), or starts `test-ensemble COMMAND FOLDER`. Blocks
    /// the thread for as long as another process starts it. `is_live` asks an address whether it serves.
    ///
    /// # Errors
    /// It does not come up; the error holds the supervisor's log.
    pub(crate) async fn acquire(
        folder: &str,
        command: &str,
        is_live: impl Fn(&str) -> Result<()>,
    ) -> Result<Self> {
        let files = Files::create(binaries::target_folder()?.join(folder))?;
        let live = || -> Result<String> {
            let address = files.published()?;
            is_live(&address)?;
            Ok(address)
        };
        let share = files.lock_file("users.lock")?;
        share.lock_shared()?;
        let start = files.lock_file("start.lock")?;
        start.lock()?;
        let address = match live() {
            Ok(address) => address,
            Err(_) => {
                files.start_supervisor(command)?;
                eventually("the shared server serves", START_TIMEOUT, async || live())
                    .await
                    .with_context(|| format!("the supervisor's log:\n{}", files.log()))?
            }
        };
        Ok(Self {
            address,
            _lock: share,
        })
    }

    /// Where the server is.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }
}

/// What the supervisor of a folder holds while it starts its server.
pub(crate) struct Supervision {
    files: Files,
    /// Held as long as this process lives, for those who wait for its end.
    _life: File,
}

impl Supervision {
    /// Begins in `folder`, out of the process group and session of the test run, which may be signalled as a whole.
    ///
    /// # Errors
    /// The folder cannot be used.
    pub(crate) fn begin(folder: &Path) -> Result<Self> {
        rustix::process::setsid().context("the supervisor must not lead a process group")?;
        let files = Files {
            folder: folder.to_owned(),
        };
        let life = files.lock_file("supervisor.lock")?;
        life.lock()?;
        Ok(Self { files, _life: life })
    }

    /// Publishes the server's address, and returns when nobody uses it any more or it does not run.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub(crate) async fn watch(self, address: &str, mut runs: impl FnMut() -> bool) -> Result<()> {
        self.files.publish(address)?;
        let mut last_use = now();
        loop {
            pause(IDLE_POLL).await;
            let server_runs = runs();
            // In this order a user never waits for both: it takes its share before it asks for the start.
            let start = self.files.lock_file("start.lock")?;
            let users = self.files.lock_file("users.lock")?;
            if server_runs && (start.try_lock().is_err() || users.try_lock().is_err()) {
                last_use = now();
                continue;
            }
            if !server_runs || now().saturating_since(last_use) >= IDLE_TIME {
                self.files.withdraw(address);
                return Ok(());
            }
        }
    }
}

/// The folder that the processes meet in.
struct Files {
    folder: PathBuf,
}

impl Files {
    fn create(folder: PathBuf) -> Result<Self> {
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(Self { folder })
    }

    fn lock_file(&self, name: &str) -> Result<File> {
        let path = self.folder.join(name);
        File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .with_context(|| format!("cannot open {}", path.display()))
    }

    fn published(&self) -> Result<String> {
        std::fs::read_to_string(self.folder.join("address")).context("no address published")
    }

    fn publish(&self, address: &str) -> Result<()> {
        let temporary = self.folder.join("address.new");
        std::fs::write(&temporary, address)?;
        std::fs::rename(&temporary, self.folder.join("address"))?;
        Ok(())
    }

    /// Takes the address back, unless it is another supervisor's by now.
    fn withdraw(&self, address: &str) {
        if self.published().is_ok_and(|published| published == address) {
            // The file only speeds things up: a stale address does not answer.
            let _ = std::fs::remove_file(self.folder.join("address"));
        }
    }

    fn start_supervisor(&self, command: &str) -> Result<()> {
        let log = File::create(self.folder.join("supervisor.log"))?;
        let program = binaries::find_or_build("integration-tests", "test-ensemble")?;
        Command::new(&program)
            .arg(command)
            .arg(&self.folder)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        Ok(())
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("supervisor.log")).unwrap_or_default()
    }
}
