//! Services that are started once and stopped once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};

/// Where such a service stands; `T` is what exists from its start on.
pub(crate) struct Lifecycle<T> {
    what: &'static str,
    state: Mutex<State<T>>,
}

enum State<T> {
    New,
    Started(Arc<T>),
    /// What a service that had started had.
    Stopped(Option<Arc<T>>),
}

impl<T> Lifecycle<T> {
    /// Not started. `what` is the service in errors.
    pub(crate) fn new(what: &'static str) -> Self {
        Self {
            what,
            state: Mutex::new(State::New),
        }
    }

    /// Begins the one start.
    ///
    /// # Errors
    /// `Invalid` when there was one, also after a stop.
    pub(crate) fn start(&self, started: T) -> Result<Arc<T>> {
        let mut state = self.lock();
        if !matches!(*state, State::New) {
            return Err(Error::invalid(format!("{} was started before", self.what))
                .advise("ask the services for another one"));
        }
        let started = Arc::new(started);
        *state = State::Started(Arc::clone(&started));
        Ok(started)
    }

    /// The start failed: it may be tried again, unless it was stopped meanwhile.
    pub(crate) fn start_failed(&self, started: &Arc<T>) {
        let mut state = self.lock();
        if matches!(&*state, State::Started(current) if Arc::ptr_eq(current, started)) {
            *state = State::New;
        }
    }

    /// Stops; what there is to be stopped, also the second time.
    pub(crate) fn stop(&self) -> Option<Arc<T>> {
        let mut state = self.lock();
        let started = match &*state {
            State::New => None,
            State::Started(started) => Some(Arc::clone(started)),
            State::Stopped(started) => started.clone(),
        };
        *state = State::Stopped(started.clone());
        started
    }

    /// What exists between start and stop; `None` before.
    ///
    /// # Errors
    /// `Closed` after a stop.
    pub(crate) fn running(&self) -> Result<Option<Arc<T>>> {
        match &*self.lock() {
            State::New => Ok(None),
            State::Started(started) => Ok(Some(Arc::clone(started))),
            State::Stopped(_) => Err(Error::closed(self.what)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // The state is replaced whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
