use std::io::{self, ErrorKind, Write as _};

use ha_core::Error;
use serde::Serialize;

/// Writes data to stdout. A reader that closed the pipe has seen what it wanted: that is no error.
///
/// # Errors
/// Stdout cannot be written for another reason, for instance a full disk.
pub fn write_stdout(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Writes one JSON document, indented, with a newline at its end.
///
/// # Errors
/// As [`write_stdout`]; the value cannot be written as JSON.
pub fn write_json<T: Serialize>(value: &T) -> io::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    write_stdout(&text)
}

/// Writes an error to stderr, with its causes. Nothing can be done when stderr is closed.
pub fn report_error(error: &Error) {
    let mut text = format!("error: {error}\n");
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        text.push_str(&format!("  caused by: {next}\n"));
        cause = next.source();
    }
    let _ = io::stderr().write_all(text.as_bytes());
}
