use ha_core::{Error, ErrorKind, Result};

use crate::commands::{Contender, Process};

/// Whose latches are touched, in their order; the leader's is the last.
#[derive(Debug)]
pub(super) struct Moves {
    pub(super) led: Process,
    /// The leader's latch.
    pub(super) leader_latch: String,
    /// The standbys that would lead before the wanted one, then the leader. Empty where the wanted one leads.
    pub(super) latches: Vec<String>,
}

/// Who is asked to step down, so that the process `to` leads, or whoever is next.
///
/// `None`: nobody leads now.
///
/// # Errors
/// `Invalid` when `to` names no process, or several; `Conflict` when there is nobody to take over.
pub(super) fn moves(contenders: &[Contender], to: Option<&str>) -> Result<Option<Moves>> {
    let contenders: Vec<_> = contenders
        .iter()
        .filter(|contender| contender.election.is_none() && contender.tool.is_none())
        .collect();
    let name = |contender: &Contender| contender.process.as_ref().map(|process| process.name.clone());
    let wanted = match to {
        None => None,
        Some(to) => {
            let named = contenders.iter().enumerate();
            let named: Vec<_> = named
                .filter(|(_, one)| name(one).as_deref() == Some(to))
                .collect();
            match named.as_slice() {
                [(place, _)] => Some(*place),
                [] => {
                    let there: Vec<_> = contenders.iter().filter_map(|one| name(one)).collect();
                    return Err(
                        Error::invalid(format!("no process {to:?} stands in the election"))
                            .at("--to")
                            .advise(format!("those that do are {}", there.join(", "))),
                    );
                }
                several => {
                    return Err(Error::invalid(format!(
                        "{} processes of the name {to:?} stand in the election",
                        several.len()
                    ))
                    .at("--to")
                    .advise("give each process a name of its own (ha-cluster run --name NAME)"));
                }
            }
        }
    };
    let Some((leader, standbys)) = contenders.split_first() else {
        return Ok(None);
    };
    let Some(led) = leader.process.clone().filter(|_| leader.leading) else {
        return Ok(None);
    };
    let path = leader.path.clone();
    let before = match wanted {
        Some(0) => {
            return Ok(Some(Moves {
                led,
                leader_latch: path,
                latches: Vec::new(),
            }));
        }
        Some(place) => standbys.get(..place - 1).unwrap_or_default(),
        None if standbys.is_empty() => {
            return Err(Error::new(
                ErrorKind::Conflict,
                format!(
                    "no process stands by: leadership would come back to {:?}",
                    led.name
                ),
            )
            .at(path)
            .not_applied()
            .advise("start another process of the cluster first"));
        }
        None => &[],
    };
    let mut latches: Vec<_> = before.iter().map(|standby| standby.path.clone()).collect();
    latches.push(path.clone());
    Ok(Some(Moves {
        led,
        leader_latch: path,
        latches,
    }))
}
