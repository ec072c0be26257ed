//! The checks over the whole configuration, made before anything is contacted or written.

use std::time::Duration;

use super::nearest_key::nearest_key;
use super::{
    Configuration, HighAvailabilityMode, HighAvailabilityOptions, OptionSupport, StorageUri, all_options,
    options,
};
use crate::error::{Error, Result};

/// Keys that begin so are all known, so that a mistake in one is found.
const OWN_PREFIX: &str = "high-availability.";
/// The factory that ships: embedded election and file-backed stores in one process.
const FILESYSTEM: &str = "filesystem";
/// The shortest orphan age, and how many session timeouts it must be (design §8).
const ORPHAN_AGE: (Duration, u32) = (Duration::from_secs(600), 10);

impl HighAvailabilityOptions {
    /// Checks the configuration in every respect that needs neither ZooKeeper nor the storage, whatever the
    /// mode, and gives the warnings, each a sentence to be logged once.
    ///
    /// # Errors
    /// `Invalid`, naming the key: an unknown key under `high-availability.` (with the nearest known one), a
    /// value that cannot be read, two keys of one option with different values, an option that is recognised
    /// but not built, or what the mode requires and does not find.
    pub fn validate(configuration: &Configuration) -> Result<Vec<String>> {
        refuse_unknown_keys(configuration)?;
        for option in all_options() {
            if option.support() == OptionSupport::WithoutMeaning {
                continue;
            }
            let changed = option.is_changed_in(configuration)?;
            if changed && option.support() == OptionSupport::NotBuilt {
                return Err(Error::invalid(format!("not built: {}", option.description()))
                    .at(option.key())
                    .advise("take the key out; nothing is protected by it in this version"));
            }
        }
        Self::orphan_age(configuration)?;
        let mut warnings = check_mode(configuration)?;
        warnings.extend(default_cluster_id(configuration)?);
        warnings.extend(deprecated_keys(configuration));
        warnings.extend(keys_without_meaning(configuration));
        Ok(warnings)
    }

    /// The age from which a state file that no pointer names is an orphan: at least 10 minutes and 10 session
    /// timeouts, which is also the default.
    ///
    /// # Errors
    /// `Invalid` when less is configured.
    pub fn orphan_age(configuration: &Configuration) -> Result<Duration> {
        let session_timeout = configuration.get(&Self::HA_ZOOKEEPER_SESSION_TIMEOUT)?;
        let least = ORPHAN_AGE.0.max(session_timeout.saturating_mul(ORPHAN_AGE.1));
        match configuration.get_optional(&Self::HA_ORPHAN_AGE)? {
            Some(age) if age < least => Err(Error::invalid(format!(
                "{} s is less than {} s, the greater of 10 min and 10 session timeouts",
                age.as_secs_f64(),
                least.as_secs_f64()
            ))
            .at(Self::HA_ORPHAN_AGE.key())
            .advise("raise it, or lower the session timeout")),
            Some(age) => Ok(age),
            None => Ok(least),
        }
    }
}

fn refuse_unknown_keys(configuration: &Configuration) -> Result<()> {
    for key in configuration.keys() {
        if key.starts_with(OWN_PREFIX) && options::find(key).is_none() {
            let error = Error::invalid("unknown option").at(key);
            return Err(match nearest_key(key, HighAvailabilityOptions::HA_MODE.key()) {
                Some(nearest) => error.advise(format!("did you mean {nearest}?")),
                None => error.advise("take the key out; the documentation lists all options"),
            });
        }
    }
    Ok(())
}

/// What the mode requires, and the warnings about it.
fn check_mode(configuration: &Configuration) -> Result<Vec<String>> {
    let storage = configuration.get_optional(&HighAvailabilityOptions::HA_STORAGE_PATH)?;
    let storage_key = HighAvailabilityOptions::HA_STORAGE_PATH.key();
    match HighAvailabilityOptions::mode(configuration)? {
        HighAvailabilityMode::None => Ok(Vec::new()),
        HighAvailabilityMode::ZooKeeper => {
            configuration.get(&HighAvailabilityOptions::HA_ZOOKEEPER_QUORUM)?;
            let storage = storage.map_or_else(
                || configuration.get(&HighAvailabilityOptions::HA_STORAGE_PATH),
                Ok,
            )?;
            if StorageUri::parse(&storage)? == StorageUri::Memory {
                return Ok(vec![format!(
                    "{storage_key} is memory: the state ends with this process, while the znodes that point to it stay"
                )]);
            }
            Ok(Vec::new())
        }
        HighAvailabilityMode::Kubernetes => Err(Error::invalid("the mode KUBERNETES is not built")
            .at(HighAvailabilityOptions::HA_MODE.key())
            .advise("use zookeeper or filesystem")),
        HighAvailabilityMode::Factory(name) if name.eq_ignore_ascii_case(FILESYSTEM) => {
            let storage = storage.map_or_else(
                || configuration.get(&HighAvailabilityOptions::HA_STORAGE_PATH),
                Ok,
            )?;
            if !StorageUri::parse(&storage)?.is_local() {
                return Err(Error::invalid(format!(
                    "the mode {FILESYSTEM} needs a local directory, since its lock is the operating system's; this is {storage:?}"
                ))
                .at(storage_key)
                .advise("give a path or a file URI, or use the mode zookeeper"));
            }
            Ok(Vec::new())
        }
        // What a registered factory requires, it checks itself.
        HighAvailabilityMode::Factory(_) => Ok(Vec::new()),
    }
}

/// Two clusters that both leave it out would be one.
fn default_cluster_id(configuration: &Configuration) -> Result<Option<String>> {
    let option = HighAvailabilityOptions::HA_CLUSTER_ID;
    let is_set = configuration.get_optional(&option)?.is_some();
    let default = configuration.get(&option)?;
    let is_one_process = HighAvailabilityOptions::mode(configuration)? == HighAvailabilityMode::None;
    Ok((!is_set && !is_one_process).then(|| {
        format!(
            "{} is not set: every cluster of this root and storage directory that leaves it out is the cluster `{}`",
            option.key(),
            default
        )
    }))
}

fn deprecated_keys(configuration: &Configuration) -> Vec<String> {
    all_options()
        .filter(|option| option.support() == OptionSupport::Built)
        .flat_map(|option| {
            option
                .deprecated_keys()
                .iter()
                .map(move |key| (*key, option.key()))
        })
        .filter(|(deprecated, _)| configuration.contains(deprecated))
        .map(|(deprecated, key)| format!("{deprecated} is deprecated; use {key}"))
        .collect()
}

/// One warning for all of them.
fn keys_without_meaning(configuration: &Configuration) -> Option<String> {
    let keys: Vec<_> = all_options()
        .filter(|option| option.support() == OptionSupport::WithoutMeaning)
        .flat_map(|option| {
            option
                .names()
                .into_iter()
                .map(move |name| (name, option.description()))
        })
        .filter(|(name, _)| configuration.contains(name))
        .map(|(name, reason)| format!("{name} ({reason})"))
        .collect();
    (!keys.is_empty()).then(|| format!("without a meaning here, and ignored: {}", keys.join(", ")))
}

#[cfg(test)]
mod tests;
