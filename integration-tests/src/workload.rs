//! Texts for the word count, and what must come out, counted in another way than the product does.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::Result;

/// A small random generator (SplitMix64): the same seed gives the same text on every machine.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut value = self.state;
        value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        value ^ (value >> 31)
    }

    /// A number below `bound`, which must not be zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next_u64() % bound.max(1)
    }
}

/// Writes a text of at least `bytes` bytes and returns its number of lines. Words come from a vocabulary of
/// `words` words, some of them not UTF-8; separators are all of the word count's.
///
/// # Errors
/// The file cannot be written.
pub fn write_text(path: &Path, seed: u64, bytes: u64, words: usize) -> Result<u64> {
    let mut random = Random::new(seed);
    let vocabulary: Vec<Vec<u8>> = (0..words.max(1)).map(|index| word(&mut random, index)).collect();
    let separators: [&[u8]; 6] = [b" ", b"  ", b"\t", b"\x0b", b"\x0c", b"\r"];
    let mut file = BufWriter::new(File::create(path)?);
    let mut written = 0;
    let mut lines = 0;
    while written < bytes {
        let mut line = Vec::with_capacity(128);
        for _ in 0..4 + random.below(12) {
            // The product of two makes some words frequent and many rare.
            let count = vocabulary.len() as u64;
            let index = random.below(count) * random.below(count) / count;
            if let Some(word) = usize::try_from(index)
                .ok()
                .and_then(|index| vocabulary.get(index))
            {
                line.extend_from_slice(word);
            }
            let separator = if random.below(10) == 0 { random.below(6) } else { 0 };
            if let Some(bytes) = usize::try_from(separator)
                .ok()
                .and_then(|index| separators.get(index))
            {
                line.extend_from_slice(bytes);
            }
        }
        line.push(b'\n');
        file.write_all(&line)?;
        written += line.len() as u64;
        lines += 1;
    }
    file.into_inner()?.sync_all()?;
    Ok(lines)
}

fn word(random: &mut Random, index: usize) -> Vec<u8> {
    let length = 2 + random.below(9);
    let mut word: Vec<u8> = (0..length)
        .map(|_| b'a' + u8::try_from(random.below(26)).unwrap_or(0))
        .collect();
    match index % 16 {
        3 => word.extend_from_slice("äß\u{00a0}".as_bytes()),
        7 => word.extend_from_slice(&[0xff, 0x80]),
        _ => {}
    }
    word
}

/// The output that the word count must give for a text: `word<TAB>count` lines sorted by the word's bytes.
///
/// # Errors
/// The file cannot be read.
pub fn expected_output(text: &Path) -> Result<Vec<u8>> {
    let text = std::fs::read(text)?;
    let mut counts: HashMap<&[u8], u64> = HashMap::new();
    for word in text.split(|byte| b" \t\n\x0b\x0c\r".contains(byte)) {
        if !word.is_empty() {
            *counts.entry(word).or_default() += 1;
        }
    }
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_unstable();
    let mut output = Vec::new();
    for (word, count) in sorted {
        output.extend_from_slice(word);
        output.extend_from_slice(format!("\t{count}\n").as_bytes());
    }
    Ok(output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_same_text() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let [first, second, other] = ["1", "2", "3"].map(|name| folder.path().join(name));
        write_text(&first, 1, 10_000, 100)?;
        write_text(&second, 1, 10_000, 100)?;
        write_text(&other, 2, 10_000, 100)?;
        assert!(std::fs::read(&first)?.len() >= 10_000);
        assert_eq!(std::fs::read(&first)?, std::fs::read(&second)?);
        assert_ne!(std::fs::read(&first)?, std::fs::read(&other)?);
        Ok(())
    }

    #[test]
    fn expected_output_agrees_with_the_shell() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let text = folder.path().join("text");
        write_text(&text, 7, 50_000, 300)?;
        let script = "tr -s ' \\t\\n\\v\\f\\r' '\\n' < \"$0\" | LC_ALL=C grep -av '^$' | LC_ALL=C sort | LC_ALL=C uniq -c \
                      | LC_ALL=C sed -E 's/^ *([0-9]+) (.*)$/\\2\\t\\1/'";
        let output = std::process::Command::new("sh")
            .arg("-c")
            .arg(script)
            .arg(&text)
            .env("LC_ALL", "C")
            .output()?;
        assert!(output.stdout == expected_output(&text)?);
        Ok(())
    }
}
