use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::apt;

const PACKAGES: [&str; 2] = ["chromium", "chromium-driver"];

/// The browser of this machine, and the program that drives it.
#[derive(Clone, Debug)]
pub struct BrowserInstallation {
    pub(super) browser: PathBuf,
    pub(super) driver: PathBuf,
}

impl BrowserInstallation {
    /// Finds `chromium` and `chromedriver` in the PATH. When one is missing and this is root on a machine with apt,
    /// installs both, once.
    ///
    /// # Errors
    /// There is none and none could be installed: the error says what to install. No test is left out.
    pub fn find_or_install() -> Result<Self> {
        let missing = match Self::find() {
            Ok(found) => return Ok(found),
            Err(missing) => missing,
        };
        let advice = format!("install Chromium and its driver ({})", PACKAGES.join(", "));
        if !rustix::process::geteuid().is_root() {
            bail!("there is no `{missing}`, and this is not root, so nothing was installed; {advice}");
        }
        apt::install(&PACKAGES, || Self::find().is_ok())
            .with_context(|| format!("there is no `{missing}`, and installing it failed; {advice}"))?;
        Self::find().map_err(|missing| {
            anyhow::anyhow!("there is no `{missing}`, after the installation too; {advice}")
        })
    }

    /// The name of the missing program as the error.
    fn find() -> Result<Self, &'static str> {
        Ok(Self {
            browser: program("chromium").ok_or("chromium")?,
            driver: program("chromedriver").ok_or("chromedriver")?,
        })
    }

    /// The version, for people.
    ///
    /// # Errors
    /// It cannot be run.
    pub fn origin(&self) -> Result<String> {
        let output = Command::new(&self.driver).arg("--version").output()?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }
}

fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder: PathBuf| Path::new(&folder).join(name))
        .find(|program| program.is_file())
}
