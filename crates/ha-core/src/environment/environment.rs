use std::sync::Arc;

use super::{
    Clock, FatalErrorHandler, IdSource, LoggingFatalErrorHandler, RandomIdSource, Spawner, SystemClock,
    TaskScope, TokioSpawner,
};

/// Everything that is injected, in one value. Cloning is cheap.
#[derive(Clone)]
pub struct Environment {
    /// The source of time.
    pub clock: Arc<dyn Clock>,
    /// The source of ids.
    pub ids: Arc<dyn IdSource>,
    /// Where tasks run.
    pub spawner: Arc<dyn Spawner>,
    /// Told of errors after which the process must not go on.
    pub fatal_error_handler: Arc<dyn FatalErrorHandler>,
}

impl Environment {
    /// The system's clock, random ids, the current tokio runtime, fatal errors logged.
    pub fn system() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIdSource),
            spawner: Arc::new(TokioSpawner),
            fatal_error_handler: Arc::new(LoggingFatalErrorHandler),
        }
    }

    /// The same with another handler of fatal errors.
    #[must_use]
    pub fn with_fatal_error_handler(mut self, handler: Arc<dyn FatalErrorHandler>) -> Self {
        self.fatal_error_handler = handler;
        self
    }

    /// A new, empty scope of tasks.
    pub fn task_scope(&self) -> TaskScope {
        TaskScope::new(Arc::clone(&self.spawner), Arc::clone(&self.fatal_error_handler))
    }
}
