/// Fails the test because the product broke an invariant: two leaders, or a deposed leader's write.
///
/// # Panics
/// Always.
#[expect(clippy::panic, reason = "fails the test")]
pub fn broken_invariant(what: &str) -> ! {
    panic!("broken invariant: {what}");
}
