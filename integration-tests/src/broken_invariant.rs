use std::any::Any;

/// How every such failure begins.
const PREFIX: &str = "broken invariant: ";

/// Fails the test because the product broke an invariant: two leaders, a deposed leader's write, or lost data. Neither
/// [`unstalled`](crate::unstalled) nor a second attempt (`.ci/second-attempts`) excuses it.
///
/// # Panics
/// Always.
#[expect(clippy::panic, reason = "fails the test")]
pub fn broken_invariant(what: &str) -> ! {
    panic!("{PREFIX}{what}");
}

/// Whether this is what [`broken_invariant`] panicked with.
pub(crate) fn is_broken_invariant(panic: &(dyn Any + Send)) -> bool {
    panic
        .downcast_ref::<String>()
        .is_some_and(|text| text.starts_with(PREFIX))
}
