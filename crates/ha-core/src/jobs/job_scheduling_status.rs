use std::fmt;

/// What the registry says of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum JobSchedulingStatus {
    /// Not started, or unknown.
    #[default]
    Pending,
    /// Started.
    Running,
    /// Ended; final until the job is cleared.
    Done,
}

impl JobSchedulingStatus {
    /// The name as it stands in the registry.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Running => "RUNNING",
            Self::Done => "DONE",
        }
    }

    /// Reads the name. `None` for any other text.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Pending, Self::Running, Self::Done]
            .into_iter()
            .find(|status| status.name() == name)
    }
}

impl fmt::Display for JobSchedulingStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
