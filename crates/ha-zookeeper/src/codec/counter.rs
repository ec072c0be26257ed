use bytes::Bytes;
use ha_core::Result;
use ha_core::ids::CheckpointId;

use super::json;

/// The data of a checkpoint id counter: the id to be given next, in decimal.
pub fn encode_counter(next: CheckpointId) -> Bytes {
    Bytes::from(next.to_string())
}

/// Reads the data of the counter `path`.
///
/// # Errors
/// `Corrupt` when it is no id; it is never taken for 1.
pub fn decode_counter(path: &str, data: &[u8]) -> Result<CheckpointId> {
    let text = json::text(path, data)?;
    let digits = !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
    digits
        .then(|| text.parse().ok())
        .flatten()
        .and_then(|number| CheckpointId::new(number).ok())
        .ok_or_else(|| json::corrupt(path, "a checkpoint id in decimal is expected"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden() {
        let id = CheckpointId::new(1234).unwrap();
        assert_eq!(encode_counter(id), "1234");
        assert_eq!(decode_counter("/c", b"1234").unwrap(), id);
        assert_eq!(
            decode_counter("/c", b"9223372036854775807").unwrap(),
            CheckpointId::MAX
        );
    }

    #[test]
    fn garbage_is_never_taken_for_a_number() {
        for bad in [
            &b""[..],
            b"0",
            b"-1",
            b"+1",
            b"01",
            b"1 ",
            b"abc",
            b"\x00\x00\x01",
            b"9223372036854775808",
        ] {
            assert!(decode_counter("/c", bad).is_err(), "{bad:?}");
        }
    }
}
