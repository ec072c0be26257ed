use ha_core::configuration::{ConfigOption, Configuration};
use ha_core::error::Result;

/// A storage directory as a configuration names it: a path or URI, with the options of the store that it is in.
///
/// `Debug` shows no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageDirectory {
    text: String,
    configuration: Configuration,
}

impl StorageDirectory {
    /// The directory `text`, in the store that the options `s3.*`, `gs.*` and `azure.*` of a configuration
    /// describe.
    pub fn new(text: impl Into<String>, configuration: &Configuration) -> Self {
        Self {
            text: text.into(),
            configuration: configuration.clone(),
        }
    }

    /// The directory that an option names; `None` when it is not set.
    ///
    /// # Errors
    /// `Invalid` when the option cannot be read.
    pub fn configured(configuration: &Configuration, option: &ConfigOption<String>) -> Result<Option<Self>> {
        let text = configuration.get_optional(option)?;
        Ok(text.map(|text| Self::new(text, configuration)))
    }

    /// The path or URI as it was written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Where the options of its store stand.
    pub(crate) fn configuration(&self) -> &Configuration {
        &self.configuration
    }
}

impl From<&str> for StorageDirectory {
    /// A directory that needs no options.
    fn from(text: &str) -> Self {
        Self::new(text, &Configuration::new())
    }
}

impl From<&String> for StorageDirectory {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}
