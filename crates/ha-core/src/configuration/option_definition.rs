use super::{ConfigOption, ConfigValue, Configuration};
use crate::error::Result;

/// How far an option is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionSupport {
    /// It has its effect.
    Built,
    /// It is recognised, and refused when it is set to anything but its default: acting as if it were not
    /// there would be less safe than what was asked for.
    NotBuilt,
    /// A key of Flink that has no meaning here; setting it gives a warning.
    WithoutMeaning,
}

/// An option without its type, as the table of all options has it.
pub trait OptionDefinition: Sync + 'static {
    /// The key under which it is documented.
    fn key(&self) -> &'static str;
    /// Other keys that mean the same and are not deprecated.
    fn aliases(&self) -> &'static [&'static str];
    /// Older keys that mean the same.
    fn deprecated_keys(&self) -> &'static [&'static str];
    /// The type's name.
    fn type_name(&self) -> &'static str;
    /// The default, as it would be written.
    fn default_text(&self) -> Option<&'static str>;
    /// What holds where the option is not set, in words, when no fixed text can say it.
    fn derived_default(&self) -> Option<&'static str>;
    /// The default of the `ha-cluster` program, where it differs from the library's.
    fn cluster_default_text(&self) -> Option<&'static str>;
    /// What it is for.
    fn description(&self) -> &'static str;
    /// Whether its value is never shown and may come from the environment.
    fn is_secret(&self) -> bool;
    /// How far it is built.
    fn support(&self) -> OptionSupport;
    /// Whether the option is set in the configuration, under any of its keys, to anything but its default.
    ///
    /// # Errors
    /// `Invalid` when a value cannot be read, or when two keys of this option have different values.
    fn is_changed_in(&self, configuration: &Configuration) -> Result<bool>;

    /// All keys that mean this option, the documented one first.
    fn names(&self) -> Vec<&'static str> {
        let mut names = vec![self.key()];
        names.extend(self.aliases());
        names.extend(self.deprecated_keys());
        names
    }
}

impl<T: ConfigValue> OptionDefinition for ConfigOption<T> {
    fn key(&self) -> &'static str {
        self.key
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.aliases
    }

    fn deprecated_keys(&self) -> &'static [&'static str] {
        self.deprecated_keys
    }

    fn type_name(&self) -> &'static str {
        T::TYPE_NAME
    }

    fn default_text(&self) -> Option<&'static str> {
        self.default
    }

    fn derived_default(&self) -> Option<&'static str> {
        self.default_note
    }

    fn cluster_default_text(&self) -> Option<&'static str> {
        self.cluster_default
    }

    fn description(&self) -> &'static str {
        self.description
    }

    fn is_secret(&self) -> bool {
        self.secret
    }

    fn support(&self) -> OptionSupport {
        self.support
    }

    fn is_changed_in(&self, configuration: &Configuration) -> Result<bool> {
        let value = configuration.get_optional(self)?;
        Ok(value.is_some() && value != self.default_value())
    }
}
