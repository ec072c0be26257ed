use std::io::{self, BufWriter, ErrorKind, Write as _};

use ha_core::{Effect, Error, ErrorKind as Kind};
use serde::Serialize;

/// Writes data to stdout. A reader that closed the pipe has seen what it wanted: that is no error.
///
/// # Errors
/// Stdout cannot be written for another reason, for instance a full disk.
pub fn write_stdout(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    unless_closed(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
}

/// Writes one JSON document, indented, with a newline at its end, as it is made: it may be long.
///
/// # Errors
/// As [`write_stdout`]; the value cannot be written as JSON, of which a part is written then.
pub fn write_json<T: Serialize>(value: &T) -> io::Result<()> {
    let mut stdout = BufWriter::new(io::stdout().lock());
    unless_closed(
        serde_json::to_writer_pretty(&mut stdout, value)
            .map_err(io::Error::from)
            .and_then(|()| stdout.write_all(b"\n"))
            .and_then(|()| stdout.flush()),
    )
}

/// A reader that closed the pipe is no error.
fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Writes a sentence beside the data to stderr. Nothing can be done when stderr is closed.
pub fn write_note(sentence: &str) {
    let _ = io::stderr().write_all(format!("{sentence}\n").as_bytes());
}

/// Writes an error to stderr, with its causes. Nothing can be done when stderr is closed.
pub fn report_error(error: &Error) {
    let _ = io::stderr().write_all(text_of(error).as_bytes());
}

fn text_of(error: &Error) -> String {
    // For wrong input, and what is not there, kind and effect say nothing that the message does not.
    let is_plain =
        matches!(error.kind(), Kind::Invalid | Kind::NotFound) && error.effect() == Effect::NotApplied;
    let mut text = match (is_plain, error.subject()) {
        (true, Some(subject)) => format!("error: {subject}: {}; {}\n", error.message(), error.advice()),
        (true, None) => format!("error: {}; {}\n", error.message(), error.advice()),
        (false, _) => format!("error: {error}\n"),
    };
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        let line = next.to_string();
        // Some messages hold their cause already.
        if !text.contains(&line) {
            text.push_str(&format!("  caused by: {line}\n"));
        }
        cause = next.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_and_effect_are_told_where_they_matter_and_a_cause_once() {
        let wrong = Error::invalid("it is no address")
            .at("--rest")
            .advise("write HOST:PORT");
        assert_eq!(
            text_of(&wrong),
            "error: --rest: it is no address; write HOST:PORT\n"
        );
        let gone = Error::new(Kind::Unavailable, "cannot be read: broken pipe")
            .caused_by(io::Error::other("broken pipe"));
        let text = text_of(&gone);
        assert!(text.contains("(unavailable, effect unknown)"), "{text}");
        assert!(!text.contains("caused by"), "{text}");
        let other = Error::new(Kind::Unavailable, "cannot be read").caused_by(io::Error::other("disk full"));
        assert!(text_of(&other).ends_with("  caused by: disk full\n"));
    }
}
