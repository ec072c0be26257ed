use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use anyhow::{Context as _, Result};
use ha_core::environment::{IdSource as _, RandomIdSource};

/// Below the range from which systems take the ports of outgoing connections, so that a server that was killed
/// gets its port again.
const RANGE: std::ops::Range<u16> = 12_000..31_000;

/// A free TCP port of 127.0.0.1 that no other test process is given while this value lives.
#[derive(Debug)]
pub struct ReservedPort {
    port: u16,
    _lock: File,
}

impl ReservedPort {
    /// Reserves a free port.
    ///
    /// # Errors
    /// None is free, or the temporary folder cannot be written.
    pub fn reserve() -> Result<Self> {
        let folder = std::env::temp_dir().join("ha-services-test-ports");
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let width = u64::from(RANGE.end - RANGE.start);
        let start = RandomIdSource.uuid().as_u64_pair().0;
        for offset in 0..width {
            let Ok(port) = u16::try_from(u64::from(RANGE.start) + start.wrapping_add(offset) % width) else {
                continue;
            };
            let lock = File::create(folder.join(port.to_string()))?;
            if lock.try_lock().is_ok() && TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
                return Ok(Self { port, _lock: lock });
            }
        }
        anyhow::bail!("no free port from {} to {}", RANGE.start, RANGE.end)
    }

    /// Its number.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address on 127.0.0.1.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }
}
