use crate::undecodable::Undecodable;

/// What the registry of running jobs says of a job, before 1.15.
///
/// Source: `RunningJobsRegistry.JobSchedulingStatus`, written as the name of the constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunningJobStatus {
    /// `PENDING`: it has not begun.
    Pending,
    /// `RUNNING`: it has begun.
    Running,
    /// `DONE`: it has ended, and is not run again.
    Done,
}

impl RunningJobStatus {
    /// Decodes a znode's data.
    ///
    /// # Errors
    /// Says that the data are none of the three names.
    pub fn decode(data: &[u8]) -> Result<Self, Undecodable> {
        match data {
            b"PENDING" => Ok(Self::Pending),
            b"RUNNING" => Ok(Self::Running),
            b"DONE" => Ok(Self::Done),
            _ => Err(Undecodable::new(
                "status of a running job of Flink",
                format!("{} bytes that are not PENDING, RUNNING or DONE", data.len()),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RunningJobStatus;

    #[test]
    fn the_three_names_are_known_and_nothing_else() {
        assert_eq!(
            RunningJobStatus::decode(b"PENDING"),
            Ok(RunningJobStatus::Pending)
        );
        assert_eq!(
            RunningJobStatus::decode(b"RUNNING"),
            Ok(RunningJobStatus::Running)
        );
        assert_eq!(RunningJobStatus::decode(b"DONE"), Ok(RunningJobStatus::Done));
        for data in [&b""[..], b"running", b"RUNNING\n", b"\xff\xfe"] {
            let error = RunningJobStatus::decode(data).unwrap_err().to_string();
            assert!(error.contains(&format!("{} bytes", data.len())), "{error}");
        }
    }
}
