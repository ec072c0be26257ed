use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ha_core::environment::IdSource;
use ha_core::error::{Error, Result};

use super::registry_state::RegistryState;

/// Who contends, who leads and who follows, for all components of one process.
///
/// Contenders of a component lead in the order in which they came. Nothing outside can change or lose what is
/// published, so no driver needs to be told of it.
pub(crate) struct ElectionRegistry {
    ids: Arc<dyn IdSource>,
    state: Mutex<RegistryState>,
}

impl ElectionRegistry {
    /// Nobody contends.
    pub(crate) fn new(ids: Arc<dyn IdSource>) -> Arc<Self> {
        Arc::new(Self {
            ids,
            state: Mutex::new(RegistryState::default()),
        })
    }

    /// Nobody leads from here on, and followers are told that nobody does. Idempotent.
    pub(crate) fn close(&self) {
        self.lock().close();
    }

    /// Changes the state; ids for new terms come with it.
    pub(crate) fn with<T>(&self, change: impl FnOnce(&mut RegistryState, &dyn IdSource) -> T) -> T {
        change(&mut self.lock(), &*self.ids)
    }

    /// The same, unless it is closed.
    pub(super) fn with_open<T>(
        &self,
        change: impl FnOnce(&mut RegistryState, &dyn IdSource) -> T,
    ) -> Result<T> {
        let mut state = self.lock();
        if state.closed {
            return Err(Error::closed("the HA services"));
        }
        Ok(change(&mut state, &*self.ids))
    }

    fn lock(&self) -> MutexGuard<'_, RegistryState> {
        // Every change under the lock is complete, whatever panics.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
