use std::process::{Child, ChildStdin, Command, ExitStatus};
use std::time::Duration;

use anyhow::{Context as _, Result};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::waiting::eventually;

/// A child process that is killed and reaped when it is dropped.
///
/// It stays in the process group of the test, so that a test runner that ends the group ends it too.
#[derive(Debug)]
pub struct ManagedProcess {
    name: String,
    child: Child,
}

impl ManagedProcess {
    /// Starts it.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn spawn(name: &str, command: &mut Command) -> Result<Self> {
        let child = command
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        Ok(Self {
            name: name.to_owned(),
            child,
        })
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The way to its stdin, once, when it was started with a pipe there.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Whether it runs (or is stopped).
    pub fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// How it ended; `None` while it runs.
    ///
    /// # Errors
    /// The system cannot tell.
    pub fn exit_status(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }

    /// Waits until it ends.
    ///
    /// # Errors
    /// It does not within `timeout`, times the time factor.
    pub async fn wait(&mut self, timeout: Duration) -> Result<ExitStatus> {
        let what = format!("{} (pid {}) ends", self.name, self.pid());
        let child = &mut self.child;
        eventually(&what, timeout, async || {
            child.try_wait()?.context("it still runs")
        })
        .await
    }

    /// kill -9, and reaps it.
    ///
    /// # Errors
    /// The system refuses.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// SIGTERM.
    ///
    /// # Errors
    /// It has ended.
    pub fn terminate(&self) -> Result<()> {
        self.signal(Signal::TERM)
    }

    /// SIGINT.
    ///
    /// # Errors
    /// It has ended.
    pub fn interrupt(&self) -> Result<()> {
        self.signal(Signal::INT)
    }

    /// SIGSTOP; returns when every thread of it has stopped. The signal alone only asks for that: on a busy machine a
    /// thread may still answer a request afterwards.
    ///
    /// # Errors
    /// It has ended.
    pub fn stop(&self) -> Result<()> {
        self.signal(Signal::STOP)?;
        let pid = self.raw_pid()?;
        // The state stays to be waited for: a second stop finds it again, and the end of the process is still reaped.
        let until = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let status = loop {
            match waitid(WaitId::Pid(pid), until) {
                Err(rustix::io::Errno::INTR) => {}
                other => break other.with_context(|| format!("{} (pid {})", self.name, self.pid()))?,
            }
        };
        anyhow::ensure!(
            status.is_some_and(|status| status.stopped()),
            "{} (pid {}) has ended instead of stopping",
            self.name,
            self.pid()
        );
        Ok(())
    }

    /// SIGCONT.
    ///
    /// # Errors
    /// It has ended.
    pub fn cont(&self) -> Result<()> {
        self.signal(Signal::CONT)
    }

    fn raw_pid(&self) -> Result<Pid> {
        i32::try_from(self.pid())
            .ok()
            .and_then(Pid::from_raw)
            .context("no process id")
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        kill_process(self.raw_pid()?, signal)
            .with_context(|| format!("cannot send {signal:?} to {} (pid {})", self.name, self.pid()))
    }
}

impl Drop for ManagedProcess {
    fn drop(&mut self) {
        // It may have ended already, which is as good.
        let _ = self.kill();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeper() -> ManagedProcess {
        ManagedProcess::spawn("sleep", Command::new("sleep").arg("600")).unwrap()
    }

    fn exists(pid: u32) -> bool {
        std::path::Path::new(&format!("/proc/{pid}")).exists()
    }

    #[test]
    fn it_ends_when_its_test_panics() {
        let process = sleeper();
        let pid = process.pid();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _process = process;
            panic!("a failed assertion");
        }));
        assert!(outcome.is_err());
        assert!(!exists(pid));
    }

    #[test]
    fn every_thread_has_stopped_when_stop_returns() {
        let process = sleeper();
        for _ in 0..2 {
            process.stop().unwrap();
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.pid())).unwrap();
            let state = stat.rsplit(") ").next().unwrap().chars().next();
            assert_eq!(state, Some('T'), "{stat}");
        }
        process.cont().unwrap();
    }

    #[test]
    fn stopping_a_process_that_has_ended_is_an_error() {
        let mut process = sleeper();
        process.child.kill().unwrap();
        assert!(process.stop().is_err());
        process.child.wait().unwrap();
    }

    #[test]
    fn a_stopped_process_is_killed_too() {
        let process = sleeper();
        process.stop().unwrap();
        let pid = process.pid();
        drop(process);
        assert!(!exists(pid));
    }

    #[tokio::test]
    async fn termination_is_seen() {
        let mut process = sleeper();
        assert!(process.is_alive());
        process.terminate().unwrap();
        let status = process.wait(Duration::from_secs(10)).await.unwrap();
        assert!(!status.success());
        assert!(process.terminate().is_err() || !process.is_alive());
    }
}
