//! What is injected: time, ids, tasks, the handler of fatal errors, and the observer of steps. Nothing else in the
//! project asks the system for them, so that tests are deterministic.

mod boot_instant;
mod clock;
mod environment;
mod fatal_error_handler;
mod id_source;
mod spawner;
mod step_observer;
pub mod steps;
mod task_scope;

pub use boot_instant::BootInstant;
pub use clock::{Clock, SystemClock};
pub use environment::Environment;
pub use fatal_error_handler::{FatalErrorHandler, LoggingFatalErrorHandler};
pub use id_source::{IdSource, RandomIdSource};
pub use spawner::{BoxFuture, Spawner, TaskHandle, TokioSpawner};
pub use step_observer::{NoStepObserver, StepObserver};
pub use task_scope::TaskScope;
