use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use ha_core::environment::Environment;
use ha_core::{Error, ErrorKind, Result};
use serde::Serialize;

use super::Change;

/// Who changes something.
#[derive(Clone, Debug, Serialize)]
struct Who {
    /// The user's name, as the environment says it.
    user: Option<String>,
    uid: u32,
    host: String,
    pid: u32,
}

/// One line.
#[derive(Serialize)]
struct Line<'a> {
    /// Milliseconds since 1970, by the clock of this host.
    time: u64,
    who: &'a Who,
    command: &'a str,
    /// What was opened.
    cluster: &'a str,
    change: &'a Change,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// Where each change is written down: one JSON line, durable before the next change is made.
pub(crate) struct Audit {
    file: Option<(File, String)>,
    who: Who,
    command: &'static str,
    cluster: String,
    environment: Environment,
}

impl Audit {
    /// Opens the file for appending, before anything is changed; stderr where there is none.
    ///
    /// # Errors
    /// `Denied`, `Unavailable`: it cannot be opened.
    pub(crate) fn open(
        path: Option<&Path>,
        command: &'static str,
        cluster: String,
        environment: &Environment,
    ) -> Result<Self> {
        let file = path.map(open).transpose()?;
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Ok(Self {
            file,
            who: Who {
                user: std::env::var("USER").ok(),
                uid: rustix::process::getuid().as_raw(),
                host,
                pid: std::process::id(),
            },
            command,
            cluster,
            environment: environment.clone(),
        })
    }

    /// Writes down what became of a change.
    ///
    /// # Errors
    /// `Unavailable`: the file cannot be written. Nobody more is to be changed then.
    pub(crate) fn record(&mut self, change: &Change, error: Option<&str>) -> Result<()> {
        let line = Line {
            time: self.environment.clock.wall_time_millis(),
            who: &self.who,
            command: self.command,
            cluster: &self.cluster,
            change,
            error,
        };
        let mut text = serde_json::to_vec(&line).map_err(|error| {
            Error::new(ErrorKind::Internal, "the change cannot be written down").caused_by(error)
        })?;
        text.push(b'\n');
        match &mut self.file {
            Some((file, path)) => file
                .write_all(&text)
                .and_then(|()| file.sync_data())
                .map_err(|error| unwritten(error, path)),
            // Nobody may be reading.
            None => {
                let _ = io::stderr().write_all(&text);
                Ok(())
            }
        }
    }
}

fn open(path: &Path) -> Result<(File, String)> {
    let name = path.display().to_string();
    let file = OpenOptions::new().create(true).append(true).open(path);
    let file = file.map_err(|error| failed(error, &name, "cannot be opened"))?;
    // The name of a file that was made just now has to last too.
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| failed(error, &name, "cannot be made durable"))?;
    Ok((file, name))
}

/// Before anything was changed.
fn failed(error: io::Error, path: &str, what: &str) -> Error {
    Error::new(kind_of(&error), format!("the audit file {what}: {error}"))
        .at(path.to_owned())
        .not_applied()
        .advise("name another file with --audit; nothing was changed")
}

/// After a change, which is what its outcome says.
fn unwritten(error: io::Error, path: &str) -> Error {
    Error::new(
        kind_of(&error),
        format!("the audit file cannot be written: {error}"),
    )
    .at(path.to_owned())
    .advise("the outcomes on stdout say what was changed, and no further change was made; name another file with --audit and repeat the command")
}

fn kind_of(error: &io::Error) -> ErrorKind {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => ErrorKind::Denied,
        _ => ErrorKind::Unavailable,
    }
}
