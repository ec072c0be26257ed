use bytes::Bytes;
use ha_services::{Error, ErrorKind, Result};

use super::WordCount;

/// What a snapshot begins with: name and format.
const MAGIC: &[u8; 8] = b"wcount\x00\x01";

/// What a checkpoint of the job holds.
///
/// Layout, numbers little-endian: magic, milliseconds run so far (u64), offset (u64), the partial word, the
/// number of words (u64), then each word and its count (u64), in the order of the words' bytes; a word is its
/// length (u64) and its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// How long the job has run, over all attempts up to this snapshot, in milliseconds.
    pub run_millis: u64,
    /// What was counted.
    pub word_count: WordCount,
}

impl Snapshot {
    /// The bytes of the checkpoint.
    pub fn encode(&self) -> Bytes {
        let words = self.word_count.sorted();
        let mut out = Vec::with_capacity(64 + words.len() * 32);
        out.extend_from_slice(MAGIC);
        put_number(&mut out, self.run_millis);
        put_number(&mut out, self.word_count.offset);
        put_bytes(&mut out, &self.word_count.partial);
        put_number(&mut out, words.len() as u64);
        for (word, count) in words {
            put_bytes(&mut out, word);
            put_number(&mut out, count);
        }
        Bytes::from(out)
    }

    /// Reads the bytes of a checkpoint.
    ///
    /// # Errors
    /// `Corrupt` when they are no snapshot, or one of a newer format. No length in them is trusted.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        read(bytes).ok_or_else(|| {
            Error::new(
                ErrorKind::Corrupt,
                "the checkpoint is no snapshot of a word count of this format",
            )
            .not_applied()
        })
    }
}

fn put_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn read(bytes: &[u8]) -> Option<Snapshot> {
    let mut rest = bytes.strip_prefix(MAGIC)?;
    let run_millis = take_number(&mut rest)?;
    let mut word_count = WordCount {
        offset: take_number(&mut rest)?,
        partial: take_bytes(&mut rest)?.to_vec(),
        ..WordCount::default()
    };
    for _ in 0..take_number(&mut rest)? {
        let word = take_bytes(&mut rest)?.to_vec();
        let count = take_number(&mut rest)?;
        word_count.counts.insert(word, count);
    }
    rest.is_empty().then_some(Snapshot {
        run_millis,
        word_count,
    })
}

fn take_number(rest: &mut &[u8]) -> Option<u64> {
    let (number, tail) = rest.split_first_chunk::<8>()?;
    *rest = tail;
    Some(u64::from_le_bytes(*number))
}

fn take_bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take_number(rest)?).ok()?;
    let (bytes, tail) = rest.split_at_checked(length)?;
    *rest = tail;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn going_on_from_a_snapshot_counts_as_if_never_stopped(
            text in proptest::collection::vec(prop_oneof![Just(b' '), b'a'..b'c', any::<u8>()], 0..200),
            cut in 0usize..200,
        ) {
            let (before, after) = text.split_at(cut.min(text.len()));
            let mut whole = WordCount::new();
            whole.feed(before);
            let snapshot = Snapshot { run_millis: 5, word_count: whole.clone() };
            let mut restored = Snapshot::decode(&snapshot.encode()).unwrap().word_count;
            for count in [&mut whole, &mut restored] {
                count.feed(after);
                count.finish();
            }
            prop_assert_eq!(whole, restored);
        }

        #[test]
        fn garbage_is_refused_and_never_panics(mut garbage in proptest::collection::vec(any::<u8>(), 0..80)) {
            prop_assert!(Snapshot::decode(&garbage).is_err());
            garbage.splice(0..0, *MAGIC);
            let _ = Snapshot::decode(&garbage);
        }
    }

    #[test]
    fn a_cut_or_longer_snapshot_is_refused() {
        let mut word_count = WordCount::new();
        word_count.feed(b"one two two thr");
        let bytes = Snapshot {
            run_millis: 1,
            word_count,
        }
        .encode();
        for length in 0..bytes.len() {
            assert!(Snapshot::decode(&bytes[..length]).is_err(), "{length}");
        }
        assert!(Snapshot::decode(&[&bytes[..], b"x"].concat()).is_err());
    }
}
