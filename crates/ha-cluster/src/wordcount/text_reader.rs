use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use super::WordCount;

/// How much is read at a time.
const CHUNK: usize = 256 * 1024;

/// What one step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It read on; so many lines ended in it.
    Read {
        /// The number of line ends.
        lines: u64,
    },
    /// The text has ended.
    End,
}

/// Reads a text by bounded pieces. Every method blocks.
#[derive(Debug)]
pub struct TextReader {
    file: File,
    buffer: Vec<u8>,
    /// What of `buffer` is not counted yet.
    rest: std::ops::Range<usize>,
}

impl TextReader {
    /// Opens a text at an offset.
    ///
    /// # Errors
    /// Those of the file; `UnexpectedEof` when it is shorter than the offset: it was changed.
    pub fn open(path: &Path, offset: u64) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        if length < offset {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("it has {length} bytes, and {offset} were counted already: it was changed"),
            ));
        }
        file.seek(SeekFrom::Start(offset))?;
        Ok(Self {
            file,
            buffer: vec![0; CHUNK],
            rest: 0..0,
        })
    }

    /// Counts on, at most one piece and at most `max_lines` lines.
    ///
    /// # Errors
    /// Those of the file; the count is as before then.
    pub fn step(&mut self, count: &mut WordCount, max_lines: Option<u64>) -> io::Result<Step> {
        if self.rest.is_empty() {
            let length = self.read_chunk()?;
            if length == 0 {
                return Ok(Step::End);
            }
            self.rest = 0..length;
        }
        let piece = self.buffer.get(self.rest.clone()).unwrap_or_default();
        let (length, lines) = within_lines(piece, max_lines);
        count.feed(piece.get(..length).unwrap_or_default());
        self.rest.start += length;
        Ok(Step::Read { lines })
    }

    fn read_chunk(&mut self) -> io::Result<usize> {
        loop {
            match self.file.read(&mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }
}

/// The longest prefix with at most `max_lines` line ends, and how many it has.
fn within_lines(piece: &[u8], max_lines: Option<u64>) -> (usize, u64) {
    let max_lines = max_lines.unwrap_or(u64::MAX);
    let mut lines = 0;
    for (index, &byte) in piece.iter().enumerate() {
        if byte == b'\n' {
            lines += 1;
            if lines >= max_lines {
                return (index + 1, lines);
            }
        }
    }
    (piece.len(), lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_keep_to_lines_and_go_on_where_a_checkpoint_stood() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, "one\ntwo three\nfour").unwrap();
        let mut count = WordCount::new();
        let mut reader = TextReader::open(&path, 0).unwrap();
        assert_eq!(reader.step(&mut count, Some(1)).unwrap(), Step::Read { lines: 1 });
        assert_eq!(count.offset(), 4);

        let mut reader = TextReader::open(&path, count.offset()).unwrap();
        assert_eq!(reader.step(&mut count, None).unwrap(), Step::Read { lines: 1 });
        assert_eq!(reader.step(&mut count, None).unwrap(), Step::End);
        assert_eq!(count.offset(), 18);
        assert_eq!(
            TextReader::open(&path, 19).unwrap_err().kind(),
            io::ErrorKind::UnexpectedEof
        );
    }
}
