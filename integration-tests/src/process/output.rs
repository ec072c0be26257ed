use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::waiting::eventually;

/// What a process writes, in files: nobody has to read for the process to go on, and nothing is lost when it is
/// killed.
#[derive(Debug)]
pub struct CapturedOutput {
    folder: PathBuf,
}

impl CapturedOutput {
    /// Files in `folder`, which must be there.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Both files, to be given to a process.
    ///
    /// # Errors
    /// They cannot be created.
    pub fn files(&self) -> Result<(File, File)> {
        let open = |name: &str| {
            let path = self.folder.join(name);
            File::options()
                .create(true)
                .append(true)
                .open(&path)
                .with_context(|| format!("cannot open {}", path.display()))
        };
        Ok((open("stdout")?, open("stderr")?))
    }

    /// All of stdout so far.
    pub fn stdout(&self) -> String {
        self.read("stdout")
    }

    /// All of stderr so far.
    pub fn stderr(&self) -> String {
        self.read("stderr")
    }

    /// Waits for a whole line, of stdout or stderr, that `matches`, and returns it.
    ///
    /// # Errors
    /// There is none within `timeout` times the time factor; the end of the output is in the error.
    pub async fn wait_for_line(
        &self,
        what: &str,
        timeout: Duration,
        matches: impl Fn(&str) -> bool,
    ) -> Result<String> {
        eventually(what, timeout, async || {
            let texts = [self.stdout(), self.stderr()];
            texts
                .iter()
                .flat_map(|text| text.split_inclusive('\n'))
                .filter_map(|line| line.strip_suffix('\n'))
                .find(|line| matches(line))
                .map(str::to_owned)
                .context("no such line")
        })
        .await
        .with_context(|| format!("the end of its output:\n{}", self.end()))
    }

    /// The last lines of both, for error messages.
    pub fn end(&self) -> String {
        let last = |text: &str| {
            let lines: Vec<_> = text.lines().collect();
            lines
                .get(lines.len().saturating_sub(30)..)
                .unwrap_or_default()
                .join("\n")
        };
        format!(
            "-- stdout --\n{}\n-- stderr --\n{}",
            last(&self.stdout()),
            last(&self.stderr())
        )
    }

    fn read(&self, name: &str) -> String {
        std::fs::read(self.folder.join(name))
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }
}
