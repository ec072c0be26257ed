use std::sync::Arc;

use bytes::Bytes;
use ha_services::environment::Clock;
use ha_services::{Environment, Result};
use ha_zookeeper::client::{CreateMode, ZooKeeperClient};

use crate::samples::Samples;

/// How many raw sets are made each time.
const SETS: usize = 200;
/// What each writes.
const DATA: [u8; 100] = [b'x'; 100];

/// What a raw set of 100 bytes costs on the same client: with what everything else is compared.
pub(crate) struct Reference {
    client: Arc<dyn ZooKeeperClient>,
    clock: Arc<dyn Clock>,
    path: String,
    samples: Samples,
}

impl Reference {
    /// Makes a node that goes with the session, sets it until the client is warm, and takes the first samples.
    pub(crate) async fn new(client: Arc<dyn ZooKeeperClient>, environment: &Environment) -> Result<Self> {
        let path = format!("/ha-bench-reference-{}", environment.ids.uuid());
        client
            .create(&path, Bytes::from_static(&DATA), CreateMode::Ephemeral)
            .await
            .map_err(|error| error.at(&path))?;
        let mut reference = Self {
            client,
            clock: Arc::clone(&environment.clock),
            path,
            samples: Samples::default(),
        };
        reference.sample().await?;
        reference.samples = Samples::default();
        reference.sample().await?;
        Ok(reference)
    }

    /// Takes further samples.
    pub(crate) async fn sample(&mut self) -> Result<()> {
        for _ in 0..SETS {
            let began = self.clock.now();
            self.client
                .set(&self.path, Bytes::from_static(&DATA), None)
                .await
                .map_err(|error| error.at(&self.path))?;
            self.samples.push(self.clock.now().saturating_since(began));
        }
        Ok(())
    }

    /// The median, in microseconds.
    pub(crate) fn set_us(&self) -> f64 {
        self.samples.median_us()
    }
}
