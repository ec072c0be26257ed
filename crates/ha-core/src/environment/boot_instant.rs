use std::ops::Add;
use std::time::Duration;

/// A point in time since the machine started, which goes on while the machine is suspended.
///
/// Instants of two machines cannot be compared, and none survives a reboot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BootInstant(Duration);

impl BootInstant {
    /// The instant this long after the start of the machine.
    pub const fn from_boot(elapsed: Duration) -> Self {
        Self(elapsed)
    }

    /// How long after the start of the machine it is.
    pub const fn since_boot(self) -> Duration {
        self.0
    }

    /// How long after `earlier` it is; zero when it is before.
    pub fn saturating_since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// The instant this much before; the start of the machine at the earliest.
    #[must_use]
    pub fn saturating_sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(duration))
    }
}

impl Add<Duration> for BootInstant {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration))
    }
}
