use std::fmt;

use serde::{Deserialize, Serialize};

/// The status of a job, with Flink's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum JobStatus {
    /// Accepted, not running yet.
    Created,
    /// Running.
    Running,
    /// Being cancelled.
    Cancelling,
    /// Ended well.
    Finished,
    /// Ended by a failure, for good.
    Failed,
    /// Ended by a user.
    Canceled,
    /// Stopped here, to be taken up elsewhere: leadership was lost or the process stops.
    Suspended,
}

impl JobStatus {
    /// Whether the job has ended for good. Only then may HA data be deleted (I8).
    pub fn is_globally_terminal(self) -> bool {
        matches!(self, Self::Finished | Self::Failed | Self::Canceled)
    }
}

impl fmt::Display for JobStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Created => "CREATED",
            Self::Running => "RUNNING",
            Self::Cancelling => "CANCELLING",
            Self::Finished => "FINISHED",
            Self::Failed => "FAILED",
            Self::Canceled => "CANCELED",
            Self::Suspended => "SUSPENDED",
        })
    }
}
