use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::{Information, Snapshot};

const ID: &str = "component-without-leader";

/// A component has no leader, although a process leads.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let tree = snapshot.tree()?;
    let unled = tree
        .leaders
        .iter()
        .filter(|led| matches!(led.information, Information::None));
    Ok(unled
        .filter(|led| {
            let election = tree.election_of(&led.component);
            election.is_some_and(|election| {
                let leads_all = election.component.is_none() || election.is_flinks;
                leads_all && election.is_led()
            })
        })
        .map(|led| {
            Finding::new(
                ID,
                Severity::Info,
                format!("nobody is published as the leader of {}", led.component),
            )
            .at_znode(&led.path)
            .because(
                "clients of this component find nobody; that is so while it starts, and after it was stopped",
            )
            .advise("look again; where it stays so and the component should run, its process's log says why")
        })
        .collect())
}
