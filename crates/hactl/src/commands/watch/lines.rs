use std::io;

use ha_cli::OutputFormat;
use ha_core::{Error, ErrorKind, Result};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;

use super::event::WatchLine;

/// Writes each line at once, whole. Ends when no more come, or when the reader closed the pipe: it has seen what it
/// wanted.
///
/// # Errors
/// `Unavailable` when the output cannot be written for another reason, for instance a full disk.
pub(super) async fn write_lines(
    mut lines: mpsc::Receiver<WatchLine>,
    mut output: impl AsyncWrite + Unpin,
    format: OutputFormat,
) -> Result<()> {
    while let Some(line) = lines.recv().await {
        let text = match format {
            OutputFormat::Table => Ok(line.text()),
            OutputFormat::Json => serde_json::to_string(&line).map_err(io::Error::from),
        };
        let written = async {
            let mut text = text?;
            text.push('\n');
            output.write_all(text.as_bytes()).await?;
            output.flush().await
        };
        match written.await {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            Err(error) => {
                return Err(Error::new(ErrorKind::Unavailable, "the events cannot be written")
                    .at("stdout")
                    .caused_by(error));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::event::WatchEvent;
    use super::*;

    fn lines(number: usize) -> mpsc::Receiver<WatchLine> {
        let (sender, receiver) = mpsc::channel(number);
        for _ in 0..number {
            let line = WatchLine {
                time: 1000,
                present: false,
                event: WatchEvent::ConnectionLost,
            };
            sender.try_send(line).unwrap();
        }
        receiver
    }

    #[tokio::test]
    async fn each_event_is_a_line_of_text_or_json() {
        let mut output = Vec::new();
        write_lines(lines(2), &mut output, OutputFormat::Table)
            .await
            .unwrap();
        let line = "1970-01-01T00:00:01Z  connection lost\n";
        assert_eq!(String::from_utf8(output).unwrap(), format!("{line}{line}"));
        let mut output = Vec::new();
        write_lines(lines(1), &mut output, OutputFormat::Json)
            .await
            .unwrap();
        let object = "{\"time\":1000,\"present\":false,\"event\":\"connectionLost\"}\n";
        assert_eq!(String::from_utf8(output).unwrap(), object);
    }

    #[tokio::test]
    async fn a_closed_pipe_is_the_end_and_a_full_disk_an_error() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let writer = tokio::fs::File::from_std(std::fs::File::from(std::os::fd::OwnedFd::from(writer)));
        write_lines(lines(2), writer, OutputFormat::Json).await.unwrap();
        let full = tokio::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .await
            .unwrap();
        let error = write_lines(lines(1), full, OutputFormat::Json).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
    }
}
