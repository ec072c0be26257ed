use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use ha_core::configuration::{HighAvailabilityMode, HighAvailabilityOptions};
use ha_core::error::{Error, ErrorKind, Result};
use ha_core::services::HighAvailabilityServicesFactory;

use super::embedded::{FILESYSTEM, FilesystemFactory};

/// The factories that the option `high-availability` may name, by name; case does not matter.
///
/// [`FactoryRegistry::global`] is the one that the functions of this crate ask. `filesystem` is registered in it
/// from the start.
#[derive(Default)]
pub struct FactoryRegistry {
    factories: RwLock<BTreeMap<String, Arc<dyn HighAvailabilityServicesFactory>>>,
}

impl FactoryRegistry {
    /// The registry of the process.
    pub fn global() -> &'static Self {
        static GLOBAL: LazyLock<FactoryRegistry> = LazyLock::new(FactoryRegistry::with_shipped);
        &GLOBAL
    }

    /// Registers a factory.
    ///
    /// # Errors
    /// `AlreadyExists` when the name is taken, `Invalid` when it is that of a mode.
    pub fn register(&self, name: &str, factory: Arc<dyn HighAvailabilityServicesFactory>) -> Result<()> {
        if !matches!(
            HighAvailabilityMode::from_value(name),
            HighAvailabilityMode::Factory(_)
        ) || name.trim().is_empty()
        {
            return Err(Error::invalid(format!(
                "{name:?} cannot be the name of a factory"
            )));
        }
        let mut factories = self.factories.write().unwrap_or_else(PoisonError::into_inner);
        let key = name.trim().to_ascii_lowercase();
        if factories.contains_key(&key) {
            return Err(Error::new(
                ErrorKind::AlreadyExists,
                format!("a factory {name:?} is registered already"),
            )
            .not_applied());
        }
        factories.insert(key, factory);
        Ok(())
    }

    /// The factory of a name.
    ///
    /// # Errors
    /// `Invalid` when there is none; the error lists those that are.
    pub fn find(&self, name: &str) -> Result<Arc<dyn HighAvailabilityServicesFactory>> {
        let factories = self.factories.read().unwrap_or_else(PoisonError::into_inner);
        factories
            .get(&name.trim().to_ascii_lowercase())
            .cloned()
            .ok_or_else(|| {
                let known: Vec<_> = factories.keys().map(String::as_str).collect();
                Error::invalid(format!(
                    "{name:?} is neither a mode (NONE, zookeeper) nor a registered factory ({})",
                    known.join(", ")
                ))
                .at(HighAvailabilityOptions::HA_MODE.key())
                .advise("correct the mode, or register the factory before the services are made")
            })
    }

    fn with_shipped() -> Self {
        let shipped: Arc<dyn HighAvailabilityServicesFactory> = Arc::new(FilesystemFactory);
        Self {
            factories: RwLock::new(BTreeMap::from([(FILESYSTEM.to_owned(), shipped)])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_once_and_modes_are_none() {
        let registry = FactoryRegistry::with_shipped();
        assert!(registry.find("FileSystem").is_ok());
        registry.register("mine", Arc::new(FilesystemFactory)).unwrap();
        let again = registry
            .register("Mine", Arc::new(FilesystemFactory))
            .unwrap_err();
        assert_eq!(again.kind(), ErrorKind::AlreadyExists);
        for mode in ["NONE", "zookeeper", "kubernetes", " "] {
            assert!(
                registry.register(mode, Arc::new(FilesystemFactory)).is_err(),
                "{mode:?}"
            );
        }
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = FactoryRegistry::with_shipped()
            .find("etcd")
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains("etcd") && error.contains("filesystem"), "{error}");
    }
}
