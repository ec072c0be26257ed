//! Finds the workspace's own programs as cargo built them, and builds them when they are missing or old.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use anyhow::{Context as _, Result, bail};

/// The programs that this process has found fresh, or built.
static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Cargo's target folder with the profile, for instance `target/debug`: where this program runs from.
///
/// # Errors
/// This program does not run from a target folder.
pub fn profile_folder() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let mut folder = program.parent().context("no folder")?;
    if folder.ends_with("deps") || folder.ends_with("examples") {
        folder = folder.parent().context("no folder")?;
    }
    Ok(folder.to_owned())
}

/// Cargo's target folder.
///
/// # Errors
/// This program does not run from a target folder.
pub fn target_folder() -> Result<PathBuf> {
    Ok(profile_folder()?.parent().context("no target folder")?.to_owned())
}

/// Builds the programs of a cluster that are missing or old, so that no build holds up a test that has begun.
///
/// # Errors
/// As [`find_or_build`].
pub fn prepare() -> Result<()> {
    for program in ["ha-cluster", "hactl"] {
        find_or_build(program, program)?;
    }
    Ok(())
}

/// The program `name` of the package `package`, built now when it is missing or older than its sources; with the
/// stores that this crate is built with, where the program can have them.
///
/// Cargo builds the programs of other packages only when it is asked to, and a test of one package does not ask.
/// What a test process has looked at once it does not look at again: its programs do not change under it.
/// With `HA_TEST_PROGRAMS` set to a folder the programs there are taken as they are, and nothing is built.
///
/// # Errors
/// It cannot be built; cargo's output is in the error.
pub fn find_or_build(package: &str, name: &str) -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os("HA_TEST_PROGRAMS") {
        let program = Path::new(&folder).join(name);
        if !program.is_file() {
            bail!("HA_TEST_PROGRAMS: there is no {}", program.display());
        }
        return Ok(program);
    }
    let folder = profile_folder()?;
    let program = folder.join(name);
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    if seen.contains(name) || is_fresh(&program) {
        seen.insert(name.to_owned());
        return Ok(program);
    }
    let profile = folder
        .file_name()
        .context("no profile")?
        .to_string_lossy()
        .into_owned();
    let profile = if profile == "debug" {
        "dev"
    } else {
        profile.as_str()
    };
    let features: &[&str] = match cfg!(feature = "s3") && package != "ha-bench" {
        true => &["--features", "s3"],
        false => &[],
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--package", package, "--bin", name, "--profile", profile])
        .args(features)
        .arg("--target-dir")
        .arg(target_folder()?)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .output()
        .context("cargo cannot be run")?;
    if !output.status.success() {
        bail!(
            "cargo build of {name} ended with {}:\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    }
    seen.insert(name.to_owned());
    Ok(program)
}

/// Whether the program is there and newer than every source that cargo's dep-info file names.
fn is_fresh(program: &Path) -> bool {
    let Some(built) = modified(program) else {
        return false;
    };
    let Ok(dep_info) = std::fs::read_to_string(program.with_extension("d")) else {
        return false;
    };
    let Some((_, sources)) = dep_info.lines().next().and_then(|line| line.split_once(": ")) else {
        return false;
    };
    // Spaces in paths are written as `\ `.
    sources
        .replace("\\ ", "\0")
        .split_whitespace()
        .map(|source| source.replace('\0', " "))
        .all(|source| modified(Path::new(&source)).is_some_and(|changed| changed <= built))
}

fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok()?.modified().ok()
}
