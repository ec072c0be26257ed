use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::watch;

use super::{BrokenEntry, ConnectionState};
use crate::Follower;

/// A snapshot of the health of the HA services of this process.
#[derive(Clone, Debug, Default)]
pub struct Health {
    /// The state of the connection.
    pub connection: ConnectionState,
    /// Entries that could not be served, by path.
    pub broken: BTreeMap<String, BrokenEntry>,
    /// Other reasons to be degraded (for instance a cluster tree that was lost), by subject.
    pub conditions: BTreeMap<String, String>,
}

impl Health {
    /// Whether something needs a person's eye although the services go on.
    pub fn is_degraded(&self) -> bool {
        !self.broken.is_empty() || !self.conditions.is_empty()
    }
}

/// Collects the health of the HA services. Clones share one state.
#[derive(Clone, Debug)]
pub struct HealthMonitor {
    health: Arc<watch::Sender<Health>>,
}

impl Default for HealthMonitor {
    fn default() -> Self {
        Self {
            health: Arc::new(watch::Sender::new(Health::default())),
        }
    }
}

impl HealthMonitor {
    /// The present state.
    pub fn snapshot(&self) -> Health {
        self.health.borrow().clone()
    }

    /// Follows the state: always the latest, intermediate ones maybe.
    pub fn subscribe(&self) -> Follower<Health> {
        Follower::new(self.health.subscribe())
    }

    /// Sets the state of the connection.
    pub fn set_connection(&self, state: ConnectionState) {
        self.health
            .send_if_modified(|health| std::mem::replace(&mut health.connection, state) != state);
    }

    /// Records a broken entry, and logs it when it was not known.
    pub fn report_broken(&self, entry: BrokenEntry) {
        self.health.send_if_modified(|health| {
            if health
                .broken
                .get(&entry.path)
                .is_some_and(|known| known.reason == entry.reason)
            {
                return false;
            }
            tracing::error!(
                path = entry.path,
                reason = entry.reason,
                "broken entry, left as it is"
            );
            health.broken.insert(entry.path.clone(), entry);
            true
        });
    }

    /// Takes a broken entry back: it was read well, or is gone.
    pub fn clear_broken(&self, path: &str) {
        self.health
            .send_if_modified(|health| health.broken.remove(path).is_some());
    }

    /// Sets (`Some`) or clears (`None`) another reason to be degraded.
    pub fn set_condition(&self, subject: &str, reason: Option<String>) {
        self.health.send_if_modified(|health| match reason {
            Some(reason) if health.conditions.get(subject) == Some(&reason) => false,
            Some(reason) => {
                tracing::warn!(subject, reason, "degraded");
                health.conditions.insert(subject.to_owned(), reason);
                true
            }
            None => health.conditions.remove(subject).is_some(),
        });
    }
}
