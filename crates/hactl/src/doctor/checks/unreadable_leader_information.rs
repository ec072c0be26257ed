use crate::doctor::check::{Check, Outcome};
use crate::doctor::finding::{Finding, Severity};
use crate::doctor::snapshot::{Information, Snapshot};

const ID: &str = "unreadable-leader-information";

/// Leader information that cannot be read.
pub(in crate::doctor) const CHECK: Check = Check { id: ID, run };

fn run(snapshot: &Snapshot) -> Outcome {
    let leaders = snapshot.tree()?.leaders.iter();
    Ok(leaders
        .filter_map(|led| {
            let Information::Unreadable(reason) = &led.information else {
                return None;
            };
            Some(
                Finding::new(ID, Severity::Error, reason)
                    .at_znode(&led.path)
                    .because(snapshot.own_or_flinks(
                        "whoever looks for this leader is told that there is none",
                        "to whoever looks for this leader it is a fatal error",
                    ))
                    .advise("the leader writes it anew when it is deleted; find out what wrote this"),
            )
        })
        .collect())
}
