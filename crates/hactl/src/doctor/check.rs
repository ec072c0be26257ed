use super::checks;
use super::finding::{Finding, Skipped};
use super::snapshot::Snapshot;

/// What a check says: its findings, or why it could not be made.
pub(super) type Outcome = Result<Vec<Finding>, String>;

/// A check: a function of what was read.
pub(super) struct Check {
    pub(super) id: &'static str,
    pub(super) run: fn(&Snapshot) -> Outcome,
}

/// What all checks say: findings with the worst first, the checks that ran, the others.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    pub(super) findings: Vec<Finding>,
    pub(super) checks: Vec<&'static str>,
    pub(super) skipped: Vec<Skipped>,
}

/// Runs all checks of the layout.
pub(super) fn judge(snapshot: &Snapshot) -> Verdict {
    let mut verdict = Verdict::default();
    for Check { id, run } in checks::of(snapshot.layout) {
        match run(snapshot) {
            Ok(findings) => {
                verdict.checks.push(id);
                verdict.findings.extend(findings);
            }
            Err(reason) => verdict.skipped.push(Skipped { id, reason }),
        }
    }
    // Stable: within a severity in the order of the checks.
    verdict.findings.sort_by_key(|finding| finding.severity);
    verdict
}
