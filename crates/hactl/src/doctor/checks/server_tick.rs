use std::time::Duration;

use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "server-tick";

/// A server whose tick is not the one that leases are computed with.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

/// What is assumed at most where the option is not set.
const DEFAULT: Duration = Duration::from_secs(2);

fn run(snapshot: &Snapshot) -> Outcome {
    let tree = snapshot.tree()?;
    let told = tree
        .servers
        .iter()
        .filter_map(|(server, settings)| Some((server, settings.as_ref().ok()?)));
    let told: Vec<_> = told.collect();
    if told.is_empty() {
        let reasons = tree
            .servers
            .iter()
            .filter_map(|(server, settings)| Some(format!("{server}: {}", settings.as_ref().err()?)));
        return Err(format!(
            "no server told its tick: {}",
            reasons.collect::<Vec<_>>().join("; ")
        ));
    }
    let granted = tree.session.clone()?.granted;
    let assumed = tree.configured_tick.unwrap_or_else(|| DEFAULT.min(granted / 2));
    Ok(told
        .into_iter()
        .filter(|(_, settings)| {
            settings.tick > assumed || (tree.configured_tick.is_some() && settings.tick != assumed)
        })
        .map(|(server, settings)| {
            let severity = if settings.tick > assumed { Severity::Error } else { Severity::Warning };
            let found = format!("the tick of {server} is {:?}, leases are computed with {assumed:?}", settings.tick);
            Finding::new(ID, severity, found)
                .because("with too short a tick a leader may believe in its lease after another one leads; too long a one shortens the lease")
                .advise("set high-availability.zookeeper.server-tick-time to the tickTime of the servers, the longest of them")
        })
        .collect())
}
