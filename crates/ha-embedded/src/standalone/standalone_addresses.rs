use std::collections::BTreeMap;

use ha_core::ids::ComponentId;

/// The fixed addresses of a standalone cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandaloneAddresses {
    /// Where the resource manager is.
    pub resource_manager: String,
    /// Where the dispatcher is.
    pub dispatcher: String,
    /// Where the REST endpoint is.
    pub rest_server: String,
    /// Where the components of the user's own are. Who follows another one is told that nobody leads.
    pub custom: BTreeMap<ComponentId, String>,
}

/// What Flink answers for a job manager whose address nobody configured.
const UNKNOWN: &str = "UNKNOWN";

impl StandaloneAddresses {
    /// The address of a component; `None` for one of the user's own that has none.
    pub(super) fn of(&self, component: &ComponentId) -> Option<String> {
        if *component == ComponentId::resource_manager() {
            Some(self.resource_manager.clone())
        } else if *component == ComponentId::dispatcher() {
            Some(self.dispatcher.clone())
        } else if *component == ComponentId::rest_server() {
            Some(self.rest_server.clone())
        } else {
            let unknown = || component.job_id().map(|_| UNKNOWN.to_owned());
            self.custom.get(component).cloned().or_else(unknown)
        }
    }
}
