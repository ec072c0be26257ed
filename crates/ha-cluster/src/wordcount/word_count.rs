use std::collections::HashMap;
use std::io::{self, Write};

/// Whether a byte separates words.
pub(super) fn is_separator(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

/// The counts of a text that was read up to an offset.
///
/// Invariant: `counts` holds every word that ended before `offset`; `partial` is the run of word bytes that
/// reaches up to `offset` and may go on. So the state after the same prefix is the same, however it was cut
/// into pieces, and a job that recovers from it counts as if it had never stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordCount {
    pub(super) offset: u64,
    pub(super) partial: Vec<u8>,
    pub(super) counts: HashMap<Vec<u8>, u64>,
}

impl WordCount {
    /// Nothing read yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many bytes were read.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads on.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut pieces = bytes.split(|&byte| is_separator(byte)).peekable();
        while let Some(piece) = pieces.next() {
            let word_ends = pieces.peek().is_some();
            if !word_ends || !self.partial.is_empty() {
                self.partial.extend_from_slice(piece);
                if word_ends {
                    self.end_partial();
                }
            } else {
                self.count(piece);
            }
        }
        self.offset = self.offset.saturating_add(bytes.len() as u64);
    }

    /// The text ends here, and with it its last word.
    pub fn finish(&mut self) {
        self.end_partial();
    }

    fn end_partial(&mut self) {
        let word = std::mem::take(&mut self.partial);
        self.count(&word);
    }

    fn count(&mut self, word: &[u8]) {
        if word.is_empty() {
            return;
        }
        match self.counts.get_mut(word) {
            // A count may come from a file, so it is not trusted to have room.
            Some(count) => *count = count.saturating_add(1),
            None => {
                self.counts.insert(word.to_vec(), 1);
            }
        }
    }

    /// The words and their counts, in the order of the words' bytes.
    pub fn sorted(&self) -> Vec<(&[u8], u64)> {
        let mut words: Vec<_> = self
            .counts
            .iter()
            .map(|(word, count)| (word.as_slice(), *count))
            .collect();
        words.sort_unstable();
        words
    }

    /// Writes `word<TAB>count` lines, sorted by the words' bytes.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_to(&self, writer: &mut impl Write) -> io::Result<()> {
        for (word, count) in self.sorted() {
            writer.write_all(word)?;
            writeln!(writer, "\t{count}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// The definition, by byte: what the fast way must agree with.
    fn reference(text: &[u8]) -> Vec<u8> {
        let mut counts = BTreeMap::<Vec<u8>, u64>::new();
        let mut word = Vec::new();
        for &byte in text.iter().chain(b"\n") {
            if b" \t\n\x0b\x0c\r".contains(&byte) {
                if !word.is_empty() {
                    *counts.entry(std::mem::take(&mut word)).or_default() += 1;
                }
            } else {
                word.push(byte);
            }
        }
        let mut out = Vec::new();
        for (word, count) in counts {
            out.extend_from_slice(&word);
            out.extend_from_slice(format!("\t{count}\n").as_bytes());
        }
        out
    }

    fn counted(pieces: &[&[u8]]) -> Vec<u8> {
        let mut count = WordCount::new();
        for piece in pieces {
            count.feed(piece);
        }
        count.finish();
        let mut out = Vec::new();
        count.write_to(&mut out).unwrap();
        out
    }

    #[test]
    fn words_are_bytes_and_separators_are_six() {
        let text = b"b a\tb\x00c\x0bb\x0c\xff\xfe\r\n a\x85";
        assert_eq!(
            counted(&[text]),
            b"a\t1\na\x85\t1\nb\t2\nb\x00c\t1\n\xff\xfe\t1\n"
        );
        assert_eq!(counted(&[b""]), b"");
        assert_eq!(counted(&[b" \n\t"]), b"");
    }

    #[test]
    fn a_count_without_room_stays() {
        let mut count = WordCount::new();
        count.counts.insert(b"a".to_vec(), u64::MAX);
        count.feed(b"a ");
        assert_eq!(count.sorted(), [(&b"a"[..], u64::MAX)]);
    }

    proptest! {
        #[test]
        fn any_text_in_any_pieces_counts_like_the_reference(
            text in proptest::collection::vec(
                prop_oneof![3 => proptest::sample::select(b" \t\n\x0b\x0c\r".to_vec()), 3 => b'a'..b'd', 1 => any::<u8>()],
                0..400,
            ),
            cuts in proptest::collection::vec(0usize..400, 0..8),
        ) {
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
            prop_assert_eq!(counted(&pieces), reference(&text));
        }
    }
}
