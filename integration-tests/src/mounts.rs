//! Small and read-only file systems, for faults of the storage. They need root.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

/// A mounted file system, unmounted when it is dropped.
#[derive(Debug)]
pub struct TemporaryMount {
    // Only its path is used; it goes after the mount.
    folder: TempDir,
}

impl TemporaryMount {
    /// An empty tmpfs of this size.
    ///
    /// # Errors
    /// This is not root, or mounting fails.
    pub fn tmpfs(bytes: u64) -> Result<Self> {
        let folder = mount_point()?;
        run(
            "mount",
            &["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"],
            folder.path(),
        )?;
        Ok(Self { folder })
    }

    /// `source` seen under a second path, writable until [`TemporaryMount::make_read_only`].
    ///
    /// # Errors
    /// This is not root, or mounting fails.
    pub fn bind(source: &Path) -> Result<Self> {
        let folder = mount_point()?;
        run("mount", &["--bind", &source.to_string_lossy()], folder.path())?;
        Ok(Self { folder })
    }

    /// From now on every write below it fails.
    ///
    /// # Errors
    /// Mounting fails, for instance because a file is open for writing.
    pub fn make_read_only(&self) -> Result<()> {
        run("mount", &["-o", "remount,ro,bind"], self.folder.path())
    }

    /// Writes work again.
    ///
    /// # Errors
    /// Mounting fails.
    pub fn make_writable(&self) -> Result<()> {
        run("mount", &["-o", "remount,rw,bind"], self.folder.path())
    }

    /// Another size for a tmpfs.
    ///
    /// # Errors
    /// Mounting fails.
    pub fn resize(&self, bytes: u64) -> Result<()> {
        run(
            "mount",
            &["-o", &format!("remount,size={bytes}")],
            self.folder.path(),
        )
    }

    /// Where it is mounted.
    pub fn path(&self) -> PathBuf {
        self.folder.path().to_owned()
    }
}

impl Drop for TemporaryMount {
    fn drop(&mut self) {
        // Lazily: a process that is being killed may still hold a file. Nothing can be reported from here.
        let _ = run("umount", &["--lazy"], self.folder.path());
    }
}

fn mount_point() -> Result<TempDir> {
    if !rustix::process::geteuid().is_root() {
        bail!("this test mounts file systems: run it as root");
    }
    Ok(tempfile::Builder::new().prefix("ha-test-mount-").tempdir()?)
}

fn run(program: &str, arguments: &[&str], folder: &Path) -> Result<()> {
    let output = Command::new(program)
        .args(arguments)
        .arg(folder)
        .output()
        .with_context(|| format!("cannot run {program}"))?;
    if !output.status.success() {
        bail!(
            "{program} {} {}: {}",
            arguments.join(" "),
            folder.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_and_a_read_only_folder() -> Result<()> {
        if !rustix::process::geteuid().is_root() {
            assert!(TemporaryMount::tmpfs(65_536).is_err());
            return Ok(());
        }
        let small = TemporaryMount::tmpfs(65_536)?;
        assert!(std::fs::write(small.path().join("large"), vec![0_u8; 200_000]).is_err());
        let source = tempfile::tempdir()?;
        let bound = TemporaryMount::bind(source.path())?;
        std::fs::write(bound.path().join("a"), "a")?;
        bound.make_read_only()?;
        assert!(std::fs::write(bound.path().join("b"), "b").is_err());
        bound.make_writable()?;
        std::fs::write(bound.path().join("b"), "b")?;
        Ok(())
    }
}
