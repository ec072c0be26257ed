use std::fmt;

use super::{Configuration, HighAvailabilityOptions};
use crate::error::Result;

/// The value of the option `high-availability` (or `high-availability.type`). Case does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum HighAvailabilityMode {
    /// Embedded or standalone services, no outside system.
    #[default]
    None,
    /// ZooKeeper.
    ZooKeeper,
    /// Kubernetes: recognised, not built.
    Kubernetes,
    /// A registered factory; `filesystem` is one that ships.
    Factory(String),
}

impl HighAvailabilityMode {
    /// Reads the value of the option. Flink's old `standalone` means `NONE`.
    pub fn from_value(value: &str) -> Self {
        let value = value.trim();
        match value.to_ascii_lowercase().as_str() {
            "none" | "standalone" => Self::None,
            "zookeeper" => Self::ZooKeeper,
            "kubernetes" => Self::Kubernetes,
            _ => Self::Factory(value.to_owned()),
        }
    }

    /// The mode that the configuration names.
    ///
    /// # Errors
    /// As [`Configuration::get`].
    pub fn from_config(configuration: &Configuration) -> Result<Self> {
        configuration.get(&HighAvailabilityOptions::HA_MODE)
    }

    /// The value as it is written.
    pub fn value(&self) -> &str {
        match self {
            Self::None => "NONE",
            Self::ZooKeeper => "zookeeper",
            Self::Kubernetes => "KUBERNETES",
            Self::Factory(name) => name,
        }
    }

    /// Whether data outlives the process: every mode but `NONE`.
    pub fn is_high_availability_activated(&self) -> bool {
        *self != Self::None
    }
}

impl fmt::Display for HighAvailabilityMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_case_insensitive_and_others_are_factories() {
        assert_eq!(
            HighAvailabilityMode::from_value("ZooKeeper"),
            HighAvailabilityMode::ZooKeeper
        );
        assert_eq!(
            HighAvailabilityMode::from_value("standalone"),
            HighAvailabilityMode::None
        );
        assert_eq!(
            HighAvailabilityMode::from_value("kubernetes"),
            HighAvailabilityMode::Kubernetes
        );
        assert_eq!(
            HighAvailabilityMode::from_value("filesystem").value(),
            "filesystem"
        );
        assert!(!HighAvailabilityMode::default().is_high_availability_activated());
    }
}
