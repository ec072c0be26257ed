use std::collections::BTreeMap;

/// Keys and values as they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    values: BTreeMap<String, String>,
}

impl Configuration {
    /// An empty configuration: every option has its default.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a key, as by `-D key=value`.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.values.insert(key.into(), value.into());
        self
    }
}
