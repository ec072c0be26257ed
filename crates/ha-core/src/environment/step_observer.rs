/// Told of the steps of what the stores write and remove, before and after each; see [`steps`](super::steps).
///
/// For tests, which end a process or look at its data there. The default does nothing.
pub trait StepObserver: Send + Sync + 'static {
    /// The step `step` is reached. Must not block.
    fn reached(&self, step: &'static str);
}

/// Observes nothing; the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoStepObserver;

impl StepObserver for NoStepObserver {
    fn reached(&self, _step: &'static str) {}
}
