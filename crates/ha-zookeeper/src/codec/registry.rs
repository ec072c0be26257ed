use bytes::Bytes;
use ha_core::Result;
use ha_core::jobs::JobSchedulingStatus;

use super::json;

/// The data of a job in the running jobs registry: `PENDING`, `RUNNING` or `DONE`.
pub fn encode_status(status: JobSchedulingStatus) -> Bytes {
    Bytes::from_static(status.name().as_bytes())
}

/// Reads the data of the registry entry `path`.
///
/// # Errors
/// `Corrupt` when it is no status.
pub fn decode_status(path: &str, data: &[u8]) -> Result<JobSchedulingStatus> {
    JobSchedulingStatus::from_name(json::text(path, data)?)
        .ok_or_else(|| json::corrupt(path, "PENDING, RUNNING or DONE is expected"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden() {
        for (status, text) in [
            (JobSchedulingStatus::Pending, "PENDING"),
            (JobSchedulingStatus::Running, "RUNNING"),
            (JobSchedulingStatus::Done, "DONE"),
        ] {
            assert_eq!(encode_status(status), text);
            assert_eq!(decode_status("/r", text.as_bytes()).unwrap(), status);
        }
        for bad in [&b""[..], b"running", b"DONE\n"] {
            assert!(decode_status("/r", bad).is_err());
        }
    }
}
