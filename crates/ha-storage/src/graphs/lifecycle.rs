use std::sync::Mutex;

use ha_core::error::{Error, Result};

use crate::shared::lock;

/// What a store may do now: nothing before `start`, nothing after `stop`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    Started,
    Stopped,
}

pub(super) struct Lifecycle(Mutex<Stage>);

impl Lifecycle {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Stage::New))
    }

    /// Begins; only once. A start that failed or was dropped before [`Starting::done`] may be repeated.
    pub(super) fn start(&self) -> Result<Starting<'_>> {
        let mut stage = lock(&self.0);
        match *stage {
            Stage::New => {
                *stage = Stage::Started;
                Ok(Starting(Some(self)))
            }
            Stage::Started => Err(Error::invalid("the job graph store was started already")),
            Stage::Stopped => Err(Error::closed("the job graph store")),
        }
    }

    fn start_failed(&self) {
        let mut stage = lock(&self.0);
        if *stage == Stage::Started {
            *stage = Stage::New;
        }
    }

    pub(super) fn stop(&self) {
        *lock(&self.0) = Stage::Stopped;
    }

    pub(super) fn check(&self) -> Result<()> {
        match *lock(&self.0) {
            Stage::New => Err(Error::invalid("the job graph store was not started")),
            Stage::Started => Ok(()),
            Stage::Stopped => Err(Error::closed("the job graph store")),
        }
    }
}

/// A start under way.
pub(super) struct Starting<'a>(Option<&'a Lifecycle>);

impl Starting<'_> {
    /// It has succeeded.
    pub(super) fn done(mut self) {
        self.0 = None;
    }
}

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        if let Some(lifecycle) = self.0 {
            lifecycle.start_failed();
        }
    }
}
