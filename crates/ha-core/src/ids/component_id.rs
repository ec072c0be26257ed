use std::fmt;

use super::{JobId, name_grammar};
use crate::error::{Error, Result};

/// The name of a component that contends for leadership: `dispatcher`, `resource_manager`, `rest_server`,
/// `job-<job-id>`, or a user's own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ComponentId(String);

impl ComponentId {
    /// The dispatcher.
    pub fn dispatcher() -> Self {
        Self("dispatcher".to_owned())
    }

    /// The resource manager.
    pub fn resource_manager() -> Self {
        Self("resource_manager".to_owned())
    }

    /// The cluster's REST endpoint, also called web monitor.
    pub fn rest_server() -> Self {
        Self("rest_server".to_owned())
    }

    /// The job manager of one job.
    pub fn job_manager(job_id: JobId) -> Self {
        Self(format!("job-{job_id}"))
    }

    /// A user's own component.
    ///
    /// # Errors
    /// `Invalid` when the name is outside the cluster id's grammar, or is `latch`, `latch-…` or `job-…`.
    pub fn custom(name: &str) -> Result<Self> {
        name_grammar::check("the component name", name)?;
        if name == "latch" || name.starts_with("latch-") || name.starts_with("job-") {
            return Err(Error::invalid(format!(
                "the component name {name:?} is reserved: not latch, latch-… or job-…"
            )));
        }
        Ok(Self(name.to_owned()))
    }

    /// Reads the name of any component, as it stands in a path.
    ///
    /// # Errors
    /// `Invalid` when it is neither `job-<job-id>` nor a name that [`ComponentId::custom`] accepts.
    pub fn parse(name: &str) -> Result<Self> {
        match name.strip_prefix("job-") {
            Some(job_id) => Ok(Self::job_manager(job_id.parse()?)),
            None => Self::custom(name),
        }
    }

    /// The name as one path segment.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The job, where it is a job manager's component.
    pub fn job_id(&self) -> Option<JobId> {
        self.0.strip_prefix("job-")?.parse().ok()
    }
}

impl fmt::Display for ComponentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn custom_names_keep_clear_of_the_layout() {
        for bad in ["latch", "latch-x", "job-x", "a/b", "..", ""] {
            assert!(ComponentId::custom(bad).is_err(), "{bad:?}");
        }
        assert_eq!(ComponentId::custom("scheduler").unwrap().as_str(), "scheduler");
    }

    #[test]
    fn job_components_round_trip() {
        let job = JobId::from_bytes([7; 16]);
        let component = ComponentId::job_manager(job);
        assert_eq!(component.job_id(), Some(job));
        assert_eq!(ComponentId::parse(component.as_str()).unwrap(), component);
        assert!(ComponentId::parse("job-xyz").is_err());
    }
}
