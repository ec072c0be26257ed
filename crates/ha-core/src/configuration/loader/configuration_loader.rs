use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::{environment_variables, yaml};
use crate::configuration::{Configuration, Origin};
use crate::error::{Error, Result};

/// The largest configuration file that is read, in bytes.
const MAX_FILE_SIZE: u64 = 1024 * 1024;

/// Makes a configuration from a YAML file, over it `-D key=value`, and over that the environment for secret
/// keys.
///
/// An option that is set in an upper layer replaces what is set for it in a lower one, under whichever of its
/// keys.
///
/// ```
/// use ha_core::configuration::{ConfigurationLoader, HighAvailabilityOptions};
///
/// let configuration = ConfigurationLoader::new()
///     .define("high-availability.cluster-id=orders")?
///     .load()?;
/// assert_eq!(HighAvailabilityOptions::cluster_id(&configuration)?.as_str(), "orders");
/// # Ok::<(), ha_core::Error>(())
/// ```
#[derive(Default)]
pub struct ConfigurationLoader {
    file: Option<PathBuf>,
    definitions: Configuration,
    environment: Vec<(OsString, OsString)>,
}

impl ConfigurationLoader {
    /// A loader of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The file to read.
    #[must_use]
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.file = Some(path.into());
        self
    }

    /// Adds one `key=value` of the command line; of two for the same key the last one counts.
    ///
    /// # Errors
    /// `Invalid` when there is no `=` or no key before it.
    pub fn define(mut self, definition: &str) -> Result<Self> {
        let key = definition.split_once('=').map(|(key, value)| (key.trim(), value));
        match key {
            Some((key, value)) if !key.is_empty() => {
                self.definitions
                    .set(key.to_owned(), value.to_owned(), Origin::CommandLine);
                Ok(self)
            }
            // The text is not repeated: it may be the value of a secret.
            _ => Err(Error::invalid("it is not of the form key=value")
                .at("-D")
                .advise("write -D key=value")),
        }
    }

    /// The variables of the environment, usually [`std::env::vars_os`]. Only those of secret keys are taken:
    /// `HA_` and the key in capitals, every other character as `_`.
    #[must_use]
    pub fn environment(mut self, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        self.environment.extend(variables);
        self
    }

    /// Reads the layers; the file is read on the calling thread. Values are not judged; see
    /// [`Configuration::get`] and
    /// [`HighAvailabilityOptions::validate`](crate::configuration::HighAvailabilityOptions::validate).
    ///
    /// # Errors
    /// `Invalid`, naming the file: it cannot be read, is not a regular file, has more than 1 MiB, is not UTF-8
    /// or not YAML, has a key twice (with both lines), or has an anchor, alias or tag. `Invalid`, naming the
    /// variable, when the variable of a secret key is not UTF-8.
    pub fn load(self) -> Result<Configuration> {
        let from_file = match &self.file {
            Some(path) => yaml::parse(&read(path)?, path)?,
            None => Configuration::new(),
        };
        let from_environment = environment_variables::secrets(&self.environment)?;
        Ok(from_file
            .overlaid_with(self.definitions)
            .overlaid_with(from_environment))
    }
}

/// Reads a file that must be a regular one (or a link to one), so that a pipe or a device cannot hold us up.
fn read(path: &Path) -> Result<String> {
    let name = path.display().to_string();
    let failed = |error: std::io::Error| {
        let message = format!("the configuration file cannot be read ({})", error.kind());
        Error::invalid(message).at(&name).caused_by(error)
    };
    let refused = |reason: &str| Error::invalid(format!("the configuration file {reason}")).at(&name);
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(refused("is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE_SIZE + 1).read_to_end(&mut bytes))
        .map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE_SIZE {
        return Err(refused("has more than 1 MiB"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let position = error.utf8_error().valid_up_to();
        refused(&format!("is not UTF-8 at byte {}", position + 1))
    })
}

#[cfg(test)]
mod tests;
