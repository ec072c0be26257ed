use std::sync::Arc;

use ha_core::environment::{Environment, NoStepObserver, SystemClock, TokioSpawner};

use super::{ManualClock, RecordingFatalErrorHandler, SeededIdSource};

/// An environment with the handles by which a test steers and observes it.
#[derive(Clone)]
pub struct TestEnvironment {
    /// What is injected.
    pub environment: Environment,
    /// The time; it is the injected one only in [`TestEnvironment::manual`].
    pub clock: ManualClock,
    /// Fatal errors.
    pub fatal: RecordingFatalErrorHandler,
}

impl TestEnvironment {
    /// Time moves by hand, ids follow the seed, fatal errors are recorded.
    pub fn manual(seed: u64) -> Self {
        let mut test = Self::real_time(seed);
        test.environment.clock = Arc::new(test.clock.clone());
        test
    }

    /// Time is the system's, ids follow the seed, fatal errors are recorded.
    pub fn real_time(seed: u64) -> Self {
        let fatal = RecordingFatalErrorHandler::new();
        Self {
            environment: Environment {
                clock: Arc::new(SystemClock),
                ids: Arc::new(SeededIdSource::new(seed)),
                spawner: Arc::new(TokioSpawner),
                fatal_error_handler: Arc::new(fatal.clone()),
                step_observer: Arc::new(NoStepObserver),
            },
            clock: ManualClock::new(),
            fatal,
        }
    }
}
