use std::sync::Arc;

use super::steps::Step;
use super::{
    Clock, FatalErrorHandler, IdSource, LoggingFatalErrorHandler, NoStepObserver, RandomIdSource, Spawner,
    StepObserver, SystemClock, TaskScope, TokioSpawner,
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
    /// Told of the steps of what stores write and remove.
    pub step_observer: Arc<dyn StepObserver>,
}

impl Environment {
    /// The system's clock, random ids, the current tokio runtime, fatal errors logged, steps not observed.
    pub fn system() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIdSource),
            spawner: Arc::new(TokioSpawner),
            fatal_error_handler: Arc::new(LoggingFatalErrorHandler),
            step_observer: Arc::new(NoStepObserver),
        }
    }

    /// The same with another handler of fatal errors.
    #[must_use]
    pub fn with_fatal_error_handler(mut self, handler: Arc<dyn FatalErrorHandler>) -> Self {
        self.fatal_error_handler = handler;
        self
    }

    /// The same with another observer of steps.
    #[must_use]
    pub fn with_step_observer(mut self, observer: Arc<dyn StepObserver>) -> Self {
        self.step_observer = observer;
        self
    }

    /// Does `work`, which is `step`, and tells the observer before and after it. A dropped call does not reach the
    /// moment after it.
    pub async fn step<T>(&self, step: Step, work: impl Future<Output = T>) -> T {
        self.step_observer.reached(step.before);
        let done = work.await;
        self.step_observer.reached(step.after);
        done
    }

    /// A new, empty scope of tasks.
    pub fn task_scope(&self) -> TaskScope {
        TaskScope::new(Arc::clone(&self.spawner), Arc::clone(&self.fatal_error_handler))
    }
}
