use std::time::Duration;

use ha_services::Result;
use ha_services::configuration::{ClusterOptions, Configuration};

/// What a process is told.
#[derive(Clone, Debug)]
pub struct ProcessOptions {
    /// Its name, for people.
    pub name: String,
    /// The address under which others reach its REST endpoint, `http://HOST:PORT`.
    pub address: String,
    /// How many jobs run at once.
    pub job_slots: usize,
    /// How many completed checkpoints of a job are kept.
    pub retained_checkpoints: usize,
    /// How long running jobs may take to stop.
    pub shutdown_checkpoint_timeout: Duration,
}

impl ProcessOptions {
    /// The options of a configuration.
    ///
    /// # Errors
    /// `Invalid` when a value is not of its type.
    pub fn from_configuration(configuration: &Configuration, name: String, address: String) -> Result<Self> {
        Ok(Self {
            name,
            address,
            job_slots: configuration.get(&ClusterOptions::JOB_SLOTS)?,
            retained_checkpoints: configuration.get(&ClusterOptions::MAX_RETAINED_CHECKPOINTS)?,
            shutdown_checkpoint_timeout: configuration.get(&ClusterOptions::SHUTDOWN_CHECKPOINT_TIMEOUT)?,
        })
    }
}
