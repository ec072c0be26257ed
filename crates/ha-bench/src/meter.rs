use std::sync::Arc;
use std::time::Duration;

use ha_services::environment::{BootInstant, Clock};
use ha_services::{Environment, Result};

use crate::samples::Samples;
use crate::server_counters::{Counted, ServerCounters};

/// Times operations, and has the server count what they cost.
pub(crate) struct Meter {
    servers: String,
    clock: Arc<dyn Clock>,
    before: ServerCounters,
    began: BootInstant,
    samples: Samples,
}

/// What was measured.
pub(crate) struct Measured {
    pub(crate) samples: Samples,
    pub(crate) wall: Duration,
    pub(crate) counted: Counted,
}

impl Meter {
    /// Begins.
    pub(crate) async fn begin(servers: &str, environment: &Environment) -> Result<Self> {
        let before = ServerCounters::ask(servers).await?;
        Ok(Self {
            servers: servers.to_owned(),
            before,
            began: environment.clock.now(),
            clock: Arc::clone(&environment.clock),
            samples: Samples::default(),
        })
    }

    /// One operation.
    pub(crate) async fn time<T>(&mut self, operation: impl Future<Output = Result<T>>) -> Result<T> {
        let began = self.clock.now();
        let done = operation.await?;
        self.samples.push(self.clock.now().saturating_since(began));
        Ok(done)
    }

    /// All of them are done.
    pub(crate) async fn end(self) -> Result<Measured> {
        let wall = self.clock.now().saturating_since(self.began);
        let counted = ServerCounters::ask(&self.servers).await?.since(self.before);
        Ok(Measured {
            samples: self.samples,
            wall,
            counted,
        })
    }

    /// All are done at once: each took its part of the whole.
    pub(crate) async fn end_of_one(self, n: u64) -> Result<Measured> {
        let mut measured = self.end().await?;
        let parts = u32::try_from(n).unwrap_or(u32::MAX).max(1);
        measured.samples = Samples::default();
        measured.samples.push(measured.wall / parts);
        Ok(measured)
    }
}
