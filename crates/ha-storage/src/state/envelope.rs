//! The bytes of a state file: a header, one line of JSON, and the payload.

use std::collections::BTreeMap;

use bytes::Bytes;
use ha_core::error::{Error, Result};
use ha_core::ids::JobId;
use serde::{Deserialize, Serialize};

use super::{State, StateKind};

const FORMAT: u32 = 1;
/// Longest header, in bytes.
const MAX_HEADER: usize = 64 * 1024;
/// Longest file that is read or written, in bytes: state files are read whole.
pub(crate) const MAX_FILE: u64 = 1 << 30;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Header {
    format: u32,
    kind: StateKind,
    owner: JobId,
    #[serde(default)]
    attributes: BTreeMap<String, String>,
    /// Of the payload, as is the checksum.
    size: u64,
    crc32c: u32,
}

/// The field that is read before all others: a newer format may have changed them.
#[derive(Deserialize)]
struct Versioned {
    format: u32,
}

/// The whole file.
///
/// # Errors
/// `Invalid` when header or payload are too long.
pub(crate) fn encode(
    kind: StateKind,
    owner: JobId,
    attributes: BTreeMap<String, String>,
    payload: &[u8],
) -> Result<Bytes> {
    let header = Header {
        format: FORMAT,
        kind,
        owner,
        attributes,
        size: payload.len() as u64,
        crc32c: crc32c::crc32c(payload),
    };
    let mut file = serde_json::to_vec(&header)
        .map_err(|error| Error::invalid("the header cannot be written as JSON").caused_by(error))?;
    if file.len() > MAX_HEADER || payload.len() as u64 > MAX_FILE - MAX_HEADER as u64 - 1 {
        return Err(Error::invalid(format!(
            "a {kind} of the job {owner} is too long: {} bytes of attributes and {} of payload, at most {MAX_HEADER} \
             and {MAX_FILE} are allowed",
            file.len(),
            payload.len()
        )));
    }
    file.reserve(payload.len() + 1);
    file.push(b'\n');
    file.extend_from_slice(payload);
    Ok(file.into())
}

/// Reads a file, and verifies all that the header says. The error is the reason, for people.
pub(crate) fn decode(file: &Bytes, kind: StateKind, owner: JobId) -> Result<State, String> {
    let end = file.iter().take(MAX_HEADER + 1).position(|&byte| byte == b'\n');
    let header = match end {
        Some(end) => Header::read(&file.slice(..end), kind, owner)?,
        None => return Err(without_header(file.is_empty())),
    };
    let payload = file.slice(end.unwrap_or_default() + 1..);
    header.check(payload.len() as u64, crc32c::crc32c(&payload))?;
    Ok(State {
        owner,
        attributes: header.attributes,
        payload,
    })
}

/// Verifies what [`decode`] does of a file that passes by in pieces, and keeps its header only.
pub(crate) struct PayloadCheck {
    kind: StateKind,
    owner: JobId,
    /// What came of the header, as long as its end did not.
    line: Vec<u8>,
    header: Option<Result<Header, String>>,
    size: u64,
    crc32c: u32,
}

impl PayloadCheck {
    pub(crate) fn new(kind: StateKind, owner: JobId) -> Self {
        Self {
            kind,
            owner,
            line: Vec::new(),
            header: None,
            size: 0,
            crc32c: 0,
        }
    }

    pub(crate) fn update(&mut self, mut piece: &[u8]) {
        if self.header.is_none() {
            let end = piece.iter().position(|&byte| byte == b'\n');
            let (line, rest) = piece.split_at(end.unwrap_or(piece.len()));
            self.line
                .extend(line.iter().take(MAX_HEADER + 1 - self.line.len()));
            if self.line.len() > MAX_HEADER {
                self.header = Some(Err(without_header(false)));
            } else if end.is_some() {
                self.header = Some(Header::read(&self.line, self.kind, self.owner));
            }
            piece = rest.get(1..).unwrap_or_default();
        }
        self.size += piece.len() as u64;
        self.crc32c = crc32c::crc32c_append(self.crc32c, piece);
    }

    /// The error is the reason, for people.
    pub(crate) fn finish(self) -> Result<(), String> {
        match self.header {
            Some(header) => header?.check(self.size, self.crc32c),
            None => Err(without_header(self.line.is_empty())),
        }
    }
}

fn without_header(is_empty: bool) -> String {
    match is_empty {
        true => "the file is empty",
        false => "the header is cut off, or the file is foreign",
    }
    .to_owned()
}

impl Header {
    /// Reads the first line of a file of this kind and job.
    fn read(line: &[u8], kind: StateKind, owner: JobId) -> Result<Self, String> {
        let versioned: Versioned = serde_json::from_slice(line)
            .map_err(|error| format!("the header is unreadable, or the file is foreign: {error}"))?;
        if versioned.format > FORMAT {
            return Err(format!(
                "it has the newer format {}, this program reads up to {FORMAT}",
                versioned.format
            ));
        }
        let header: Self =
            serde_json::from_slice(line).map_err(|error| format!("the header is unreadable: {error}"))?;
        if header.kind != kind {
            return Err(format!("it holds a {}, not a {kind}", header.kind));
        }
        if header.owner != owner {
            return Err(format!("it belongs to the job {}, not to {owner}", header.owner));
        }
        Ok(header)
    }

    /// Whether it describes a payload.
    fn check(&self, length: u64, checksum: u32) -> Result<(), String> {
        if length != self.size {
            let what = if length < self.size {
                "is cut off"
            } else {
                "has bytes appended"
            };
            return Err(format!(
                "the payload {what}: {length} bytes, the header says {}",
                self.size
            ));
        }
        if checksum != self.crc32c {
            return Err(format!(
                "the payload was altered: its checksum is {checksum:08x}, the header says {:08x}",
                self.crc32c
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: JobId = JobId::from_bytes([1; 16]);
    const OTHER: JobId = JobId::from_bytes([2; 16]);

    fn file() -> Bytes {
        let attributes = BTreeMap::from([("name".to_owned(), "a\nb".to_owned())]);
        encode(StateKind::JobGraph, JOB, attributes, b"pay\nload").unwrap()
    }

    fn reason(file: impl Into<Bytes>) -> String {
        decode(&file.into(), StateKind::JobGraph, JOB).unwrap_err()
    }

    #[test]
    fn bytes_are_as_documented() {
        let text = String::from_utf8(file().to_vec()).unwrap();
        assert_eq!(
            text,
            "{\"format\":1,\"kind\":\"jobGraph\",\"owner\":\"01010101010101010101010101010101\",\
             \"attributes\":{\"name\":\"a\\nb\"},\"size\":8,\"crc32c\":4013549081}\npay\nload"
        );
        let state = decode(&file(), StateKind::JobGraph, JOB).unwrap();
        assert_eq!(state.payload, "pay\nload");
        assert_eq!(state.attributes["name"], "a\nb");
    }

    #[test]
    fn every_damage_has_its_reason() {
        assert!(reason(Bytes::new()).contains("empty"));
        assert!(reason(file().slice(..10)).contains("header is cut off"));
        assert!(reason(file().slice(..file().len() - 1)).contains("cut off: 7 bytes"));
        assert!(reason([&file()[..], b"x"].concat()).contains("appended: 9 bytes"));
        assert!(reason(b"hello\n".to_vec()).contains("foreign"));
        assert!(reason(vec![b' '; 2 * MAX_HEADER]).contains("foreign"));
        let newer = String::from_utf8(file().to_vec())
            .unwrap()
            .replace(":1,\"kind\":\"jobGraph\"", ":2,\"shape\":0");
        assert!(reason(newer).contains("newer format 2"));
        assert!(
            decode(&file(), StateKind::Checkpoint, JOB)
                .unwrap_err()
                .contains("holds a jobGraph")
        );
        assert!(
            decode(&file(), StateKind::JobGraph, OTHER)
                .unwrap_err()
                .contains("belongs to")
        );
    }

    #[test]
    fn no_flipped_bit_goes_unnoticed_in_the_payload() {
        let whole = file();
        let start = whole.len() - 8;
        for bit in 0..64 {
            let mut bytes = whole.to_vec();
            bytes[start + bit / 8] ^= 1 << (bit % 8);
            assert!(reason(bytes).contains("altered"), "bit {bit}");
        }
    }
}
