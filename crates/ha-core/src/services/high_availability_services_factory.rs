use std::sync::Arc;

use async_trait::async_trait;

use super::HighAvailabilityServices;
use crate::configuration::Configuration;
use crate::environment::Environment;
use crate::error::Result;

/// Makes the services of a mode that is registered by name.
#[async_trait]
pub trait HighAvailabilityServicesFactory: Send + Sync + 'static {
    /// Makes the services.
    ///
    /// # Errors
    /// `Invalid` for the configuration, before anything is touched; `Denied`, `Unavailable` when what it needs
    /// cannot be reached.
    ///
    /// # Cancellation
    /// A dropped call must leave no data.
    async fn create_ha_services(
        &self,
        configuration: &Configuration,
        environment: Environment,
    ) -> Result<Arc<dyn HighAvailabilityServices>>;
}
