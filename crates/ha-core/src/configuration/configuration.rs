use std::collections::BTreeMap;
use std::fmt;

use super::{ConfigOption, ConfigValue, Origin, options, secrets};
use crate::error::{Error, Result};

/// Keys and values as they were written, with where each comes from.
///
/// Values are read by typed options ([`Configuration::get`]). `Debug` and `Display` do not show the values of
/// secret keys. Two configurations are equal when their keys and values are, wherever they come from.
#[derive(Clone, Default)]
pub struct Configuration {
    values: BTreeMap<String, Entry>,
}

#[derive(Clone)]
struct Entry {
    text: String,
    origin: Origin,
}

impl Configuration {
    /// An empty configuration: every option has its default.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a key, as by `-D key=value`.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.set(key.into(), value.into(), Origin::Code);
        self
    }

    pub(super) fn set(&mut self, key: String, text: String, origin: Origin) {
        self.values.insert(key, Entry { text, origin });
    }

    /// Takes `upper` over this: an option that is set there under any of its keys is set here under no other.
    #[must_use]
    pub(super) fn overlaid_with(mut self, upper: Self) -> Self {
        for key in upper.keys() {
            if let Some(option) = options::find(key) {
                for name in option.names() {
                    self.values.remove(name);
                }
            }
        }
        self.values.extend(upper.values);
        self
    }

    /// Sets the defaults of the `ha-cluster` program for the options that have one and are not set.
    #[must_use]
    pub fn with_cluster_defaults(mut self) -> Self {
        for option in options::all_options() {
            if let Some(text) = option.cluster_default_text()
                && !option.names().iter().any(|name| self.contains(name))
            {
                self.set(option.key().to_owned(), text.to_owned(), Origin::ClusterDefault);
            }
        }
        self
    }

    /// The value of an option, or its default.
    ///
    /// # Errors
    /// `Invalid`, naming key and text, when the value cannot be read; when two keys of the option have
    /// different values; when it is not set and has no default.
    pub fn get<T: ConfigValue>(&self, option: &ConfigOption<T>) -> Result<T> {
        match self.get_optional(option)? {
            Some(value) => Ok(value),
            None => option.default_value().ok_or_else(|| {
                Error::invalid("the option is not set, and it has no default")
                    .at(option.key())
                    .advise(format!("set {}: {}", option.key(), option.description()))
            }),
        }
    }

    /// The value of an option where it is set, under any of its keys.
    ///
    /// # Errors
    /// As [`Configuration::get`], without the last one.
    pub fn get_optional<T: ConfigValue>(&self, option: &ConfigOption<T>) -> Result<Option<T>> {
        let mut found: Option<(&str, T)> = None;
        for name in option.names() {
            let Some(entry) = self.values.get(name) else {
                continue;
            };
            let value = option.parse(&entry.text).map_err(|reason| {
                // The reason may repeat a part of the text.
                let (shown, reason) = if option.secret {
                    (secrets::MASK.to_owned(), "cannot be read".to_owned())
                } else {
                    (secrets::shown(name, &entry.text), reason)
                };
                Error::invalid(format!("the value {shown} (from {}) {reason}", entry.origin))
                    .at(name)
                    .advise(format!("correct {name}: {}", option.description()))
            })?;
            match &found {
                Some((first, other)) if *other != value => {
                    return Err(Error::invalid(format!(
                        "{first} and {name} mean the same and have different values"
                    ))
                    .at(option.key())
                    .advise(format!("keep one of them, best {}", option.key())));
                }
                Some(_) => {}
                None => found = Some((name, value)),
            }
        }
        Ok(found.map(|(_, value)| value))
    }

    /// Whether the key itself is set.
    pub fn contains(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// The value of a key as it was written.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(|entry| entry.text.as_str())
    }

    /// Where the value of a key comes from.
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        self.values.get(key).map(|entry| &entry.origin)
    }

    /// The keys that are set, sorted.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// The keys that are set, sorted, each with its value as it may be shown: a secret is masked.
    pub fn shown(&self) -> impl Iterator<Item = (&str, String)> {
        self.values
            .iter()
            .map(|(key, entry)| (key.as_str(), secrets::masked(key, &entry.text)))
    }
}

impl PartialEq for Configuration {
    fn eq(&self, other: &Self) -> bool {
        let texts = |configuration: &Self| -> Vec<(String, String)> {
            let values = configuration.values.iter();
            values
                .map(|(key, entry)| (key.clone(), entry.text.clone()))
                .collect()
        };
        texts(self) == texts(other)
    }
}

impl Eq for Configuration {}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Configuration {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        pairs
            .into_iter()
            .fold(Self::new(), |configuration, (key, value)| {
                configuration.with(key, value)
            })
    }
}

impl fmt::Debug for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.shown()).finish()
    }
}

impl fmt::Display for Configuration {
    /// One `key: value` a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (key, value) in self.shown() {
            writeln!(f, "{key}: {value}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
