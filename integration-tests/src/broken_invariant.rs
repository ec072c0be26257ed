use std::io::Write as _;

/// Fails the test because the product broke an invariant: two leaders, or a deposed leader's write. Appends it to the
/// file HA_TEST_BROKEN_INVARIANTS, where it stands even if the test is repeated and passes.
///
/// # Panics
/// Always.
#[expect(clippy::panic, reason = "fails the test")]
pub fn broken_invariant(what: &str) -> ! {
    if let Some(path) = std::env::var_os("HA_TEST_BROKEN_INVARIANTS") {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
        if let Err(error) = file.and_then(|mut file| writeln!(file, "{what}")) {
            panic!("{what} (and {} cannot be written: {error})", path.display());
        }
    }
    panic!("{what}");
}
