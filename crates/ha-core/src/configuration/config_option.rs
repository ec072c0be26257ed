use super::{ConfigValue, OptionSupport};

/// A condition on a value; its error is the rest of a sentence that begins with the value.
pub(super) type Check<T> = fn(&T) -> Result<(), String>;

/// A typed option: its key, the other keys that mean the same, its default and what it is for.
///
/// Options are constants, and all of them stand in one table ([`super::all_options`]), from which the
/// documentation is made.
pub struct ConfigOption<T: 'static> {
    pub(super) key: &'static str,
    pub(super) aliases: &'static [&'static str],
    pub(super) deprecated_keys: &'static [&'static str],
    pub(super) default: Option<&'static str>,
    pub(super) default_note: Option<&'static str>,
    pub(super) cluster_default: Option<&'static str>,
    pub(super) description: &'static str,
    pub(super) secret: bool,
    pub(super) support: OptionSupport,
    pub(super) check: Option<Check<T>>,
}

impl<T: ConfigValue> ConfigOption<T> {
    /// An option without a default.
    pub const fn new(key: &'static str, description: &'static str) -> Self {
        Self {
            key,
            aliases: &[],
            deprecated_keys: &[],
            default: None,
            default_note: None,
            cluster_default: None,
            description,
            secret: false,
            support: OptionSupport::Built,
            check: None,
        }
    }

    /// Sets the default, as it would be written.
    #[must_use]
    pub const fn default_text(mut self, text: &'static str) -> Self {
        self.default = Some(text);
        self
    }

    /// Says in words what holds where the option is not set and no fixed text can say it.
    #[must_use]
    pub const fn derived_default(mut self, note: &'static str) -> Self {
        self.default_note = Some(note);
        self
    }

    /// Sets the default of the `ha-cluster` program, where it differs from the library's.
    #[must_use]
    pub const fn cluster_default(mut self, text: &'static str) -> Self {
        self.cluster_default = Some(text);
        self
    }

    /// Other keys that mean the same.
    #[must_use]
    pub const fn aliases(mut self, keys: &'static [&'static str]) -> Self {
        self.aliases = keys;
        self
    }

    /// Older keys that mean the same.
    #[must_use]
    pub const fn deprecated(mut self, keys: &'static [&'static str]) -> Self {
        self.deprecated_keys = keys;
        self
    }

    /// Marks the value as one that is never shown and that may come from the environment.
    #[must_use]
    pub const fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    /// How far the option is built.
    #[must_use]
    pub const fn support(mut self, support: OptionSupport) -> Self {
        self.support = support;
        self
    }

    /// A further condition on the value.
    #[must_use]
    pub const fn checked_by(mut self, check: Check<T>) -> Self {
        self.check = Some(check);
        self
    }

    /// The key under which it is documented.
    pub const fn key(&self) -> &'static str {
        self.key
    }

    /// Older keys that mean the same.
    pub const fn deprecated_keys(&self) -> &'static [&'static str] {
        self.deprecated_keys
    }

    /// What it is for.
    pub const fn description(&self) -> &'static str {
        self.description
    }

    /// The value where none is set; `None` when it has no default or one that depends on other options.
    pub fn default_value(&self) -> Option<T> {
        // A test over the table of options holds that every default can be read.
        self.default.and_then(|text| self.parse(text).ok())
    }

    /// Reads a value of this option.
    ///
    /// # Errors
    /// What is wrong with the text, as the rest of a sentence that begins with the value.
    pub fn parse(&self, text: &str) -> Result<T, String> {
        let value = T::parse(text)?;
        if let Some(check) = self.check {
            check(&value)?;
        }
        Ok(value)
    }

    /// All keys that mean this option, the documented one first.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<T> {
        std::iter::once(self.key)
            .chain(self.aliases.iter().copied())
            .chain(self.deprecated_keys.iter().copied())
    }
}
