use ha_core::ids::{BlobKey, JobId};

use super::{CarriedFile, CarriedKind};
use crate::results::{MAX_RESULT_FILE, check_result};
use crate::state::StateKind;
use crate::state::envelope::{MAX_FILE, PayloadCheck};

/// Whether content that passes by in pieces is that of a file: kind and owner in the header of a state file with the
/// size and the checksum of its payload, the key of a blob, the text of a result. Holds no more than a header, or one result.
pub struct ContentCheck {
    what: What,
    size: u64,
    crc32c: u32,
}

enum What {
    State(Box<PayloadCheck>),
    Blob(BlobKey),
    Result(JobId, Vec<u8>),
}

impl ContentCheck {
    /// The check of this file.
    pub fn of(file: &CarriedFile) -> Self {
        let owner = file.owner();
        let what = match file.kind() {
            CarriedKind::State(kind) => What::State(Box::new(PayloadCheck::new(*kind, owner))),
            CarriedKind::Blob(key) => What::Blob(*key),
            CarriedKind::CleanResult | CarriedKind::DirtyResult => What::Result(owner, Vec::new()),
        };
        Self {
            what,
            size: 0,
            crc32c: 0,
        }
    }

    /// The longest content that such a file has.
    pub fn max_size(file: &CarriedFile) -> u64 {
        match file.kind() {
            CarriedKind::State(StateKind::JobGraph | StateKind::Checkpoint) => MAX_FILE,
            // A number, or a word, behind a header.
            CarriedKind::State(StateKind::CheckpointIdCounter | StateKind::RunningJob) => 1 << 20,
            CarriedKind::Blob(_) => u64::MAX,
            CarriedKind::CleanResult | CarriedKind::DirtyResult => MAX_RESULT_FILE,
        }
    }

    /// The next piece. What is too long is told at the end, and not kept.
    pub fn update(&mut self, piece: &[u8]) {
        self.size = self.size.saturating_add(piece.len() as u64);
        self.crc32c = crc32c::crc32c_append(self.crc32c, piece);
        match &mut self.what {
            What::State(check) => check.update(piece),
            What::Blob(_) => {}
            What::Result(_, content) if self.size <= MAX_RESULT_FILE => content.extend_from_slice(piece),
            What::Result(..) => {}
        }
    }

    /// How many bytes there were.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The CRC-32C of all of it, as a pointer says it.
    pub const fn crc32c(&self) -> u32 {
        self.crc32c
    }

    /// That it was all, whose SHA-256 is `sha256`.
    ///
    /// # Errors
    /// The reason, for people, why it is not the content of the file.
    pub fn finish(self, sha256: &[u8; 32]) -> Result<(), String> {
        match self.what {
            What::State(check) => check.finish(),
            What::Blob(key) if key.sha256() == sha256 => Ok(()),
            What::Blob(_) => {
                Err("the blob is cut off or was altered: its content is not that of its key".to_owned())
            }
            What::Result(..) if self.size > MAX_RESULT_FILE => Err(format!(
                "it has {} bytes, at most {MAX_RESULT_FILE} are expected",
                self.size
            )),
            What::Result(owner, content) => check_result(&content, owner),
        }
    }
}
