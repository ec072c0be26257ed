use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::Snapshot;

const ID: &str = "session-timeout-shortened";

/// The server granted a shorter session timeout than was asked for.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let session = snapshot.tree()?.session.clone()?;
    if session.granted >= session.asked {
        return Ok(Vec::new());
    }
    let found = format!(
        "{:?} were granted, {:?} asked for",
        session.granted, session.asked
    );
    Ok(vec![
        Finding::new(ID, Severity::Warning, found)
            .because("leadership is lost after shorter interruptions than high-availability.zookeeper.client.session-timeout says")
            .advise("raise maxSessionTimeout (20 ticks by default) of the servers, or ask for less"),
    ])
}
