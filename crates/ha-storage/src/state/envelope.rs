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
    if file.is_empty() {
        return Err("the file is empty".to_owned());
    }
    let end = file
        .iter()
        .take(MAX_HEADER + 1)
        .position(|&byte| byte == b'\n')
        .ok_or("the header is cut off, or the file is foreign")?;
    let line = file.slice(..end);
    let versioned: Versioned = serde_json::from_slice(&line)
        .map_err(|error| format!("the header is unreadable, or the file is foreign: {error}"))?;
    if versioned.format > FORMAT {
        return Err(format!(
            "it has the newer format {}, this program reads up to {FORMAT}",
            versioned.format
        ));
    }
    let header: Header =
        serde_json::from_slice(&line).map_err(|error| format!("the header is unreadable: {error}"))?;
    if header.kind != kind {
        return Err(format!("it holds a {}, not a {kind}", header.kind));
    }
    if header.owner != owner {
        return Err(format!("it belongs to the job {}, not to {owner}", header.owner));
    }
    let payload = file.slice(end + 1..);
    let length = payload.len() as u64;
    if length != header.size {
        let what = if length < header.size {
            "is cut off"
        } else {
            "has bytes appended"
        };
        return Err(format!(
            "the payload {what}: {length} bytes, the header says {}",
            header.size
        ));
    }
    let checksum = crc32c::crc32c(&payload);
    if checksum != header.crc32c {
        return Err(format!(
            "the payload was altered: its checksum is {checksum:08x}, the header says {:08x}",
            header.crc32c
        ));
    }
    Ok(State {
        owner,
        attributes: header.attributes,
        payload,
    })
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
