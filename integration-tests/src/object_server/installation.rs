use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::process::binaries;

const REQUIREMENTS: &str = include_str!("requirements.txt");

/// The Python packages of the server, in a folder of their own below cargo's target folder.
#[derive(Debug)]
pub struct Installation {
    folder: PathBuf,
}

impl Installation {
    /// Finds them, or installs them with pip, once.
    ///
    /// # Errors
    /// There is no Python with pip, or pip fails: the error says so. No test is left out.
    pub fn find_or_install() -> Result<Self> {
        let folder = binaries::target_folder()?.join("s3-server");
        std::fs::create_dir_all(&folder)?;
        let lock = File::create(folder.join("install.lock"))?;
        lock.lock()?;
        let installed = folder.join("installed.txt");
        if !std::fs::read_to_string(&installed).is_ok_and(|text| text == REQUIREMENTS) {
            install(&folder)?;
            std::fs::write(&installed, REQUIREMENTS)?;
        }
        Ok(Self { folder })
    }

    /// What is installed, for people.
    pub fn origin(&self) -> String {
        let moto = REQUIREMENTS.lines().find(|line| line.starts_with("moto="));
        format!("{} in {}", moto.unwrap_or("moto"), self.packages().display())
    }

    /// The folder of the packages.
    pub(super) fn packages(&self) -> PathBuf {
        self.folder.join("packages")
    }
}

fn install(folder: &Path) -> Result<()> {
    let packages = folder.join("packages");
    if packages.exists() {
        std::fs::remove_dir_all(&packages)?;
    }
    let requirements = folder.join("requirements.txt");
    std::fs::write(&requirements, REQUIREMENTS)?;
    let output = Command::new("python3")
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--root-user-action=ignore",
            "--target",
        ])
        .arg(&packages)
        .arg("--requirement")
        .arg(&requirements)
        .stdin(Stdio::null())
        .output()
        .context("python3 cannot be run; install Python 3.10 or newer with pip")?;
    if !output.status.success() {
        bail!(
            "pip install of the S3 server ended with {}; install Python 3.10 or newer with pip: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(())
}
