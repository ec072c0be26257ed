//! Running the program, and texts to count.
#![allow(dead_code, reason = "not every test file uses all of it")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use serde_json::Value;

/// The longest that a test waits for a line of the log.
const PATIENCE: Duration = Duration::from_secs(30);

/// A folder of its own for one test, with a text and a job to count it.
pub(crate) struct Workplace {
    folder: tempfile::TempDir,
}

impl Workplace {
    pub(crate) fn new() -> Self {
        let workplace = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::write(
            workplace.path("text.txt"),
            b"one two two\tthree\nthree three\x0b\xff\n",
        )
        .unwrap();
        workplace
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes `job.json` with these fields over the usual ones; `null` takes a field out.
    pub(crate) fn job(&self, fields: &serde_json::Value) -> PathBuf {
        let mut job = serde_json::json!({
            "name": "wordcount",
            "source": self.path("text.txt"),
            "sink": self.path("counts.txt"),
            "checkpoint_interval": "50 ms",
        });
        for (name, value) in fields.as_object().unwrap() {
            if value.is_null() {
                job.as_object_mut().unwrap().remove(name);
            } else {
                job[name] = value.clone();
            }
        }
        let path = self.path("job.json");
        fs::write(&path, job.to_string()).unwrap();
        path
    }

    /// The names in the folder.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// The program, without the settings of the machine.
pub(crate) fn ha_cluster() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ha-cluster"));
    command
        .env_remove("RUST_LOG")
        .env("NO_COLOR", "1")
        .stdin(Stdio::null());
    command
}

/// Runs the program to its end.
pub(crate) fn run(arguments: &[&str]) -> Output {
    ha_cluster().args(arguments).output().unwrap()
}

/// The program while it runs. It is killed when it is dropped.
pub(crate) struct Running {
    child: Child,
    events: Receiver<Value>,
}

impl Running {
    /// Starts `run` with these arguments and a log of JSON lines.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut child = ha_cluster()
            .args(["--log-format", "json", "run"])
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        let (sender, events) = mpsc::channel();
        std::thread::spawn(move || {
            for line in log.lines().map_while(Result::ok) {
                let fields = serde_json::from_str::<Value>(&line).map(|line| line["fields"].clone());
                if sender.send(fields.unwrap_or(Value::String(line))).is_err() {
                    // The test has seen enough; go on reading, so that the program can go on writing.
                }
            }
        });
        Self { child, events }
    }

    /// Waits for the next event of this name.
    pub(crate) fn event(&self, name: &str) -> Value {
        loop {
            let fields = self
                .events
                .recv_timeout(PATIENCE)
                .map_err(|_| format!("no event {name}"))
                .unwrap();
            if fields["event"] == name {
                return fields;
            }
        }
    }

    /// Waits for the next event of this name, and counts the lines before it that hold a text.
    pub(crate) fn lines_before(&self, name: &str, held: &str) -> usize {
        let mut count = 0;
        loop {
            let fields = self.events.recv_timeout(PATIENCE).unwrap();
            if fields["event"] == name {
                return count;
            }
            count += usize::from(fields.to_string().contains(held));
        }
    }

    pub(crate) fn signal(&self, signal: &str) {
        let status = Command::new("kill")
            .args([format!("-{signal}"), self.child.id().to_string()])
            .status()
            .unwrap();
        assert!(status.success());
    }

    pub(crate) fn wait(mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// What the shell counts, in the way the documentation says.
pub(crate) fn counted_by_the_shell(source: &Path) -> Vec<u8> {
    let script = "tr -s ' \\t\\n\\v\\f\\r' '\\n' < \"$0\" | LC_ALL=C grep -av '^$' | LC_ALL=C sort | LC_ALL=C uniq -c \
                  | LC_ALL=C sed -E 's/^ *([0-9]+) (.*)$/\\2\\t\\1/'";
    let output = Command::new("sh")
        .arg("-c")
        .arg(script)
        .arg(source)
        .output()
        .unwrap();
    assert!(output.status.success());
    output.stdout
}
