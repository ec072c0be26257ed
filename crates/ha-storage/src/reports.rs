use std::collections::BTreeSet;

use ha_core::error::Error;
use ha_core::health::{BrokenEntry, HealthMonitor};

/// Reports the broken entries of one folder, and takes reports back when the entry is well again or gone.
#[derive(Clone)]
pub(crate) struct Reports {
    health: HealthMonitor,
}

impl Reports {
    pub(crate) fn new(health: HealthMonitor) -> Self {
        Self { health }
    }

    pub(crate) fn health(&self) -> &HealthMonitor {
        &self.health
    }

    /// Reports that the entry cannot be served.
    pub(crate) fn broken(&self, name: impl Into<String>, path: &str, error: &Error) -> BrokenEntry {
        self.broken_with_candidates(name, path, error, Vec::new())
    }

    /// The same, with what could be used instead.
    pub(crate) fn broken_with_candidates(
        &self,
        name: impl Into<String>,
        path: &str,
        error: &Error,
        candidates: Vec<String>,
    ) -> BrokenEntry {
        let reason = match error.subject() {
            // The path is said already.
            Some(subject) if subject != path => format!("{subject}: {}", error.message()),
            _ => error.message().to_owned(),
        };
        let entry = BrokenEntry {
            name: name.into(),
            path: path.to_owned(),
            reason,
            candidates,
        };
        self.health.report_broken(entry.clone());
        entry
    }

    /// The entry was read well, or is gone.
    pub(crate) fn well(&self, path: &str) {
        self.health.clear_broken(path);
    }

    /// Takes back the reports of entries of `folder` that are not `present` any more.
    pub(crate) fn keep_present(&self, folder: &str, present: &BTreeSet<String>) {
        let known = self.health.snapshot().broken;
        let gone = known.into_keys().filter(|path| {
            path.rsplit_once('/').is_some_and(|(parent, _)| parent == folder) && !present.contains(path)
        });
        for path in gone {
            self.health.clear_broken(&path);
        }
    }
}
