//! One server for all test processes.
//!
//! Test processes hold `users.lock` shared as long as they live. The first one starts a supervisor under
//! `start.lock`: this package's `test-ensemble supervise`, detached from its session and its output. The supervisor
//! owns the server. When it can take both locks exclusively nobody uses the server: after some seconds without a
//! user it ends the server and itself. The locks are the kernel's, so none stays behind when a process is killed.

use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::{Choice, EnsembleOptions, OwnEnsemble, ServerRole};
use crate::process::binaries;
use crate::waiting::{eventually, now, pause};

const START_TIMEOUT: Duration = Duration::from_secs(90);
/// How long the server stays without a user: the tests of one run follow each other.
const IDLE_TIME: Duration = Duration::from_secs(8);
const IDLE_POLL: Duration = Duration::from_millis(500);

/// A share in the server of all test processes. The server lives at least as long as this value.
#[derive(Debug)]
pub struct SharedServer {
    address: String,
    kind: &'static str,
    _share: File,
}

impl SharedServer {
    /// Finds the server, or starts it. Blocks the thread for as long as another process starts it.
    ///
    /// # Errors
    /// It does not come up; the error holds the supervisor's log.
    pub async fn acquire(choice: &Choice) -> Result<Self> {
        let files = Files::open(choice)?;
        let share = files.lock_file("users.lock")?;
        share.lock_shared()?;
        let start = files.lock_file("start.lock")?;
        start.lock()?;
        let address = match files.live_server() {
            Ok(address) => address,
            Err(_) => {
                files.start_supervisor()?;
                eventually("the shared ZooKeeper serves", START_TIMEOUT, async || {
                    files.live_server()
                })
                .await
                .with_context(|| format!("the supervisor's log:\n{}", files.log()))?
            }
        };
        Ok(Self {
            address,
            kind: match choice {
                Choice::Container(_) => "container",
                Choice::Process | Choice::Given(_) => "process",
            },
            _share: share,
        })
    }

    /// `host:port` where clients connect.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// What it runs as, for people.
    pub fn kind(&self) -> &'static str {
        self.kind
    }
}

/// The supervisor: starts the server, publishes its address in `folder`, and ends both when nobody uses it.
///
/// # Errors
/// The server does not come up, or the folder cannot be written.
pub async fn supervise(folder: PathBuf) -> Result<()> {
    // Out of the process group and session of the test run, which may be signalled as a whole.
    rustix::process::setsid().context("the supervisor must not lead a process group")?;
    let files = Files { folder };
    // Held as long as this process lives, for those who wait for its end.
    let life = files.lock_file("supervisor.lock")?;
    life.lock()?;
    // The choice of the test process that started this one.
    let choice = Choice::from_environment()?;
    let mut ensemble = OwnEnsemble::start(&choice, &EnsembleOptions::standalone()).await?;
    files.publish(&ensemble.connect_string())?;
    let mut last_use = now();
    loop {
        pause(IDLE_POLL).await;
        let server_runs = ensemble.servers_mut().iter_mut().all(super::Server::is_alive);
        // In this order a user never waits for both: it takes its share before it asks for the start.
        let start = files.lock_file("start.lock")?;
        let users = files.lock_file("users.lock")?;
        if server_runs && (start.try_lock().is_err() || users.try_lock().is_err()) {
            last_use = now();
            continue;
        }
        if !server_runs || now().saturating_since(last_use) >= IDLE_TIME {
            files.withdraw(&ensemble.connect_string());
            return Ok(());
        }
    }
}

/// The folder that the processes meet in, below cargo's target folder.
struct Files {
    folder: PathBuf,
}

impl Files {
    /// A folder for each choice: a server of another image is another one.
    fn open(choice: &Choice) -> Result<Self> {
        let name = match choice {
            Choice::Container(image) => {
                let image = image.to_string();
                format!(
                    "shared-zookeeper-{}",
                    image.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
                )
            }
            Choice::Process | Choice::Given(_) => "shared-zookeeper".to_owned(),
        };
        let folder = binaries::target_folder()?.join(name);
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

    /// The published address, if the server there answers.
    fn live_server(&self) -> Result<String> {
        let address = std::fs::read_to_string(self.folder.join("address")).context("no address published")?;
        ServerRole::ask(address.parse::<SocketAddr>()?)?;
        Ok(address)
    }

    fn publish(&self, address: &str) -> Result<()> {
        let temporary = self.folder.join("address.new");
        std::fs::write(&temporary, address)?;
        std::fs::rename(&temporary, self.folder.join("address"))?;
        Ok(())
    }

    /// Takes the address back, unless it is another supervisor's by now.
    fn withdraw(&self, address: &str) {
        let path = self.folder.join("address");
        if std::fs::read_to_string(&path).is_ok_and(|published| published == address) {
            // The file only speeds things up: a stale address does not answer.
            let _ = std::fs::remove_file(&path);
        }
    }

    fn start_supervisor(&self) -> Result<()> {
        let log = File::create(self.folder.join("supervisor.log"))?;
        let program = binaries::find_or_build("integration-tests", "test-ensemble")?;
        Command::new(&program)
            .arg("supervise")
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
