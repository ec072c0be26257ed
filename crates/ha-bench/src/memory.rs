//! How much memory this process took at most.

use ha_services::{Error, ErrorKind, Result};

/// The peak of the resident memory, in MiB.
///
/// # Errors
/// `Internal` where the system does not tell.
pub(crate) fn peak_rss_mb() -> Result<f64> {
    let unknown = || {
        Error::new(
            ErrorKind::Internal,
            "the system does not tell the peak of the memory",
        )
    };
    let status = std::fs::read_to_string("/proc/self/status").map_err(|error| unknown().caused_by(error))?;
    peak_of(&status).ok_or_else(unknown)
}

fn peak_of(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read() {
        assert_eq!(peak_of("VmPeak:\t 9 kB\nVmHWM:\t    2048 kB\n"), Some(2.0));
        assert_eq!(peak_of("VmHWM: much\n"), None);
        assert!(peak_rss_mb().unwrap() > 1.0);
    }
}
