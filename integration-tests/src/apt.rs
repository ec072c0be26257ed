//! Debian's packages that tests need.

use std::fs::File;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// Installs packages, one caller at a time, unless `is_there` says that another one did it meanwhile. Takes root.
///
/// # Errors
/// apt-get is not there or fails, with what it says.
pub(crate) fn install(packages: &[&str], is_there: impl Fn() -> bool) -> Result<()> {
    let lock = File::create(std::env::temp_dir().join("ha-services-test-install.lock"))?;
    lock.lock()?;
    if is_there() {
        return Ok(());
    }
    report(packages);
    let install = || apt_get(&["install", "-y", "--no-install-recommends"], packages);
    if install().is_ok() {
        return Ok(());
    }
    // The lists of a fresh machine are empty or out of date.
    apt_get(&["update"], &[])?;
    install()
}

#[expect(clippy::print_stderr, reason = "it takes a minute, and a test run says why")]
fn report(packages: &[&str]) {
    eprintln!("installing {} with apt-get", packages.join(", "));
}

fn apt_get(arguments: &[&str], packages: &[&str]) -> Result<()> {
    let output = Command::new("apt-get")
        .args(arguments)
        .args(packages)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .output()
        .context("apt-get cannot be run")?;
    if !output.status.success() {
        bail!(
            "apt-get {} ended with {}: {}",
            arguments.join(" "),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(())
}
