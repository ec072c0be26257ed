use uuid::Uuid;

/// The source of unique ids: leader session ids, latch names, write ids, file names.
pub trait IdSource: Send + Sync + 'static {
    /// A UUID that was never given before.
    fn uuid(&self) -> Uuid;
}

/// Random version 4 UUIDs from the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomIdSource;

impl IdSource for RandomIdSource {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that asks the system"
    )]
    fn uuid(&self) -> Uuid {
        Uuid::new_v4()
    }
}
