use std::collections::HashSet;
use std::fmt;

use anyhow::{Result, bail};

use crate::ensemble::{AppliedOperation, AppliedTransaction};

/// The writes of one term, as the server applied them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermWrites {
    /// The session, the latch and its version: what the term's writes are fenced by.
    pub term: FencedTerm,
    /// How many there were.
    pub count: usize,
    /// The zxid of the first.
    pub first: i64,
    /// The zxid of the last.
    pub last: i64,
}

/// What tells the writes of a term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FencedTerm {
    /// The ZooKeeper session of the writer.
    pub session: i64,
    /// Its latch.
    pub latch: String,
    /// The version of the grant.
    pub version: i32,
}

impl fmt::Display for FencedTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "version {} of {} (session {:#x})",
            self.version, self.latch, self.session
        )
    }
}

/// The terms in which `cluster` (the path of its node) was written to, in the order in which the server applied the
/// writes.
///
/// # Errors
/// A write of a term was applied after the first write of a later one; a write carries no fence as its first operation;
/// a fence is of a latch that its session never claimed at that version.
pub fn terms_of_writes(transactions: &[AppliedTransaction], cluster: &str) -> Result<Vec<TermWrites>> {
    let names = Names::new(cluster);
    let mut claims = HashSet::new();
    let mut over = HashSet::new();
    let mut terms: Vec<TermWrites> = Vec::new();
    for transaction in transactions {
        for operation in &transaction.operations {
            if let AppliedOperation::SetData { path, version } = operation
                && path.starts_with(&names.latches)
            {
                claims.insert(FencedTerm {
                    session: transaction.session,
                    latch: path.clone(),
                    version: *version,
                });
            }
        }
        if !names.changes_what_is_a_leaders(transaction) {
            continue;
        }
        let Some(term) = fence(transaction, &names, terms.last()) else {
            bail!("a write without a fence was applied: {transaction:?}");
        };
        if !claims.contains(&term) {
            bail!("a write was fenced by {term}, which was never claimed: {transaction:?}");
        }
        match terms.last_mut() {
            Some(last) if last.term == term => {
                last.count += 1;
                last.last = transaction.zxid;
            }
            last => {
                over.extend(last.map(|last| last.term.clone()));
                if over.contains(&term) {
                    bail!(
                        "a write of a term that was over was applied: of {term}, after the first of {}: {transaction:?}",
                        terms.last().map(|last| last.term.to_string()).unwrap_or_default()
                    );
                }
                terms.push(TermWrites {
                    term,
                    count: 1,
                    first: transaction.zxid,
                    last: transaction.zxid,
                });
            }
        }
    }
    Ok(terms)
}

/// The fence that a transaction begins with. A leader that leaves deletes its latch instead of checking it.
fn fence(transaction: &AppliedTransaction, names: &Names, last: Option<&TermWrites>) -> Option<FencedTerm> {
    let session = transaction.session;
    match transaction.operations.first()? {
        AppliedOperation::Check { path, version } if path.starts_with(&names.latches) => Some(FencedTerm {
            session,
            latch: path.clone(),
            version: *version,
        }),
        AppliedOperation::Delete { path } => last
            .map(|last| last.term.clone())
            .filter(|term| term.latch == *path && term.session == session),
        _ => None,
    }
}

/// The paths of a cluster that matter.
struct Names {
    below: String,
    latches: String,
    unfenced: [String; 3],
}

impl Names {
    fn new(cluster: &str) -> Self {
        let leader = format!("{cluster}/leader");
        Self {
            below: format!("{cluster}/"),
            latches: format!("{leader}/latch/"),
            // What anybody makes before there can be a leader (design §4.9).
            unfenced: [format!("{cluster}/identity"), format!("{leader}/latch"), leader],
        }
    }

    /// Whether it changes something that only a leader may change. What is made and deleted in one transaction is no
    /// change: nobody ever sees it.
    fn changes_what_is_a_leaders(&self, transaction: &AppliedTransaction) -> bool {
        let operations = &transaction.operations;
        let made: HashSet<_> = operations.iter().filter_map(created).collect();
        let deleted: HashSet<_> = operations.iter().filter_map(deleted).collect();
        let mut changes = operations.iter().filter_map(changed);
        changes.any(|path| {
            let passes = made.contains(path) && deleted.contains(path);
            let makes_a_parent = made.contains(path) && self.unfenced.iter().any(|parent| parent == path);
            path.starts_with(&self.below) && !path.starts_with(&self.latches) && !makes_a_parent && !passes
        })
    }
}

fn created(operation: &AppliedOperation) -> Option<&str> {
    match operation {
        AppliedOperation::Create { path } => Some(path),
        _ => None,
    }
}

fn deleted(operation: &AppliedOperation) -> Option<&str> {
    match operation {
        AppliedOperation::Delete { path } => Some(path),
        _ => None,
    }
}

fn changed(operation: &AppliedOperation) -> Option<&str> {
    match operation {
        AppliedOperation::SetData { path, .. } => Some(path),
        operation => created(operation).or(deleted(operation)),
    }
}

#[cfg(test)]
mod tests;
