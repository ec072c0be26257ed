use std::sync::Arc;

use ha_core::ids::ComponentId;

use crate::registry::ElectionRegistry;

/// Takes leadership away and grants it, for tests of components that must bear it (Flink's
/// `HaLeadershipControl`).
#[derive(Clone)]
pub struct LeadershipControl {
    registry: Arc<ElectionRegistry>,
}

impl LeadershipControl {
    pub(crate) fn new(registry: Arc<ElectionRegistry>) -> Self {
        Self { registry }
    }

    /// Revokes the leader of a component, if there is one; nobody leads it until
    /// [`LeadershipControl::grant_leadership`]. Does not wait for the revocation.
    pub fn revoke_leadership(&self, component: &ComponentId) {
        self.registry.with(|state, _| state.pause(component));
    }

    /// Lets a contender of the component lead again, in a new term; the one that was revoked comes last.
    pub fn grant_leadership(&self, component: &ComponentId) {
        self.registry.with(|state, ids| state.resume(component, ids));
    }
}
