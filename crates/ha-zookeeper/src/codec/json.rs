use bytes::Bytes;
use ha_core::{Error, ErrorKind, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The most that is written to, or read from, one znode, in bytes.
pub const MAX_DATA: usize = 8 * 1024;

/// The format that this version writes, and the newest that it reads.
pub(super) const FORMAT: u32 = 1;

#[derive(Serialize)]
struct Versioned<'a, T> {
    format: u32,
    #[serde(flatten)]
    body: &'a T,
}

#[derive(Deserialize)]
struct Probe {
    format: u32,
}

/// Writes `body` as one line of JSON that begins with the format.
pub(super) fn encode<T: Serialize>(path: &str, body: &T) -> Result<Bytes> {
    let data = serde_json::to_vec(&Versioned { format: FORMAT, body }).map_err(|error| {
        Error::new(ErrorKind::Internal, "the data could not be written as JSON")
            .at(path)
            .not_applied()
            .caused_by(error)
    })?;
    check_length(path, data.len())?;
    Ok(Bytes::from(data))
}

/// Reads what [`encode`] of this or an older version wrote.
pub(super) fn decode<T: DeserializeOwned>(path: &str, data: &[u8]) -> Result<T> {
    let text = text(path, data)?;
    let probe: Probe = serde_json::from_str(text).map_err(|error| corrupt(path, &error.to_string()))?;
    if probe.format > FORMAT {
        return Err(corrupt(
            path,
            &format!(
                "it has format {}, this version reads up to {FORMAT}",
                probe.format
            ),
        )
        .advise("use a newer version of this program; it was left untouched"));
    }
    if probe.format == 0 {
        return Err(corrupt(path, "it has format 0, which never was"));
    }
    serde_json::from_str(text).map_err(|error| corrupt(path, &error.to_string()))
}

/// The data as text, no longer than is allowed.
pub(super) fn text<'a>(path: &str, data: &'a [u8]) -> Result<&'a str> {
    if data.is_empty() {
        return Err(corrupt(path, "it is empty"));
    }
    if data.len() > MAX_DATA {
        return Err(corrupt(
            path,
            &format!("it has {} bytes, at most {MAX_DATA} are read", data.len()),
        ));
    }
    std::str::from_utf8(data).map_err(|_| corrupt(path, "it is not UTF-8"))
}

/// Refuses data that is too long for a znode, before anything is sent.
pub(crate) fn check_length(path: &str, length: usize) -> Result<()> {
    if length > MAX_DATA {
        return Err(Error::invalid(format!(
            "the data for this znode has {length} bytes, at most {MAX_DATA} are allowed"
        ))
        .at(path)
        .advise("use a shorter name or address"));
    }
    Ok(())
}

/// Data that cannot be used. Reading wrote nothing.
pub(super) fn corrupt(path: &str, reason: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("the data cannot be used: {reason}"))
        .at(path)
        .not_applied()
}
