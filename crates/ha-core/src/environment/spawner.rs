use std::future::Future;
use std::pin::Pin;

/// A boxed future without borrows.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send + 'static>>;

/// Starts tasks. Injected, so that tests decide where and when they run.
pub trait Spawner: Send + Sync + 'static {
    /// Starts `task` under a name that logs and panics are reported with.
    fn spawn(&self, name: &'static str, task: BoxFuture<()>) -> TaskHandle;
}

/// A started task. Dropping the handle lets the task go on.
pub struct TaskHandle {
    abort: Box<dyn Fn() + Send + Sync>,
}

impl TaskHandle {
    /// A handle that ends its task by `abort`.
    pub fn new(abort: impl Fn() + Send + Sync + 'static) -> Self {
        Self {
            abort: Box::new(abort),
        }
    }

    /// Ends the task at its next await point.
    pub fn abort(&self) {
        (self.abort)();
    }
}

/// Starts tasks on the tokio runtime that calls it.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioSpawner;

impl Spawner for TokioSpawner {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that spawns")]
    fn spawn(&self, name: &'static str, task: BoxFuture<()>) -> TaskHandle {
        use tracing::Instrument as _;
        let handle = tokio::spawn(task.instrument(tracing::debug_span!("ha.task", name))).abort_handle();
        TaskHandle::new(move || handle.abort())
    }
}
